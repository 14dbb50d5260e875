internal import Foundation
internal import Holdfast

/// The file beside a working copy: it names the journal and the database, and the ownerships that have written its commits.
struct CopyNote: Hashable, Sendable {
    /// The ownership under which the copy was opened last.
    var epoch: Int64
    /// The boot of the machine. A copy of an earlier one may have lost pages, since nothing of it is synced.
    var boot: String
    /// Of the schema.
    var fleet: String
    /// Of the journal.
    var name: String
    var lineage: Lineage

    init(epoch: Int64, boot: String, fleet: String, name: String, lineage: Lineage) {
        self.epoch = epoch
        self.boot = boot
        self.fleet = fleet
        self.name = name
        self.lineage = lineage
    }

    /// - Returns: `nil` for a text of another form.
    init?(text: String) {
        var values: [String: String] = [:]
        var ownerships: [Lineage.Ownership] = []
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { return nil }
            let (key, value) = (String(line[..<space]), String(line[line.index(after: space)...]))
            guard key == "wrote" else {
                values[key] = value
                continue
            }
            let words = value.split(separator: " ")
            guard words.count == 2, let first = UInt64(words[0]) else { return nil }
            ownerships.append(.init(first: first, stamp: String(words[1])))
        }
        guard let epoch = values["epoch"].flatMap({ Int64($0) }), let boot = values["boot"],
            let fleet = values["fleet"],
            let name = values["name"]
        else { return nil }
        self.init(epoch: epoch, boot: boot, fleet: fleet, name: name, lineage: Lineage(ownerships))
    }

    /// The same, of a copy that gets what the log of its journal has.
    func following(_ log: Lineage) -> CopyNote {
        var note = self
        note.lineage = log
        return note
    }

    /// Of the ownership under which the copy was opened last.
    var stamp: String { lineage.ownerships.last?.stamp ?? "" }

    var text: String {
        let wrote = lineage.ownerships.map { "wrote \($0.first) \($0.stamp)\n" }
        return "epoch \(epoch)\nboot \(boot)\nfleet \(fleet)\nname \(name)\n" + wrote.joined()
    }
}
