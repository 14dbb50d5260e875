package import Holdfast

/// Why a host has no journal yet: since when it waits, and for what.
package struct OpeningWait: Hashable, Sendable {
    /// That waits.
    package let process: Int32
    package let since: WallTime
    /// The trouble with the database. `nil` if the host waits for something else.
    package let trouble: DatabaseTrouble.Kind?
    package let words: String
    /// Whether it waits for room on its own disk.
    package let lacksRoom: Bool

    package init(
        process: Int32, since: WallTime, trouble: DatabaseTrouble.Kind?, words: String, lacksRoom: Bool = false
    ) {
        (self.process, self.since, self.trouble, self.words) = (process, since, trouble, words)
        self.lacksRoom = lacksRoom
    }

    /// Why nothing can be kept meanwhile; `nil` where that is not the database's fault.
    package var error: JournalError? { trouble.map { JournalError(.unreachable, words, advice: $0.advice) } }

    /// - Returns: `nil` for a text of another form.
    init?(text: String) {
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { return nil }
            values[line[..<space]] = line[line.index(after: space)...]
        }
        guard let process = values["pid"].flatMap({ Int32($0) }), let since = values["since"].flatMap({ Int64($0) }),
            let words = values["why"]
        else { return nil }
        self.init(
            process: process, since: WallTime(milliseconds: since),
            trouble: values["away"].flatMap { $0 == "no" ? nil : DatabaseTrouble.Kind(rawValue: String($0)) ?? .away },
            words: String(words), lacksRoom: values["room"] == "no")
    }

    var text: String {
        let line = words.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "pid \(process)\nsince \(since.milliseconds)\naway \(trouble?.rawValue ?? "no")\n"
            + "room \(lacksRoom ? "no" : "yes")\nwhy \(line)\n"
    }
}
