internal import Holdfast

/// Decides which journal a host accepts into. Its journals are named after it: `web-1`, and `web-1#2` where another host still
/// delivers what was left in the first.
package enum OwnJournalChoice: Hashable, Sendable {
    /// - Parameter formerEpoch: whose owner is known to be gone.
    case take(Int32, name: String, formerEpoch: Int64?)
    case make(name: String)

    /// - Parameters:
    ///   - setAside: names that are passed over.
    ///   - epoch: under which a process of this machine, which is gone, had the journal of a number.
    package static func choose(
        from journals: [ListedJournal], host: String, except setAside: Set<String> = [], epoch: (Int32) -> Int64?
    ) -> OwnJournalChoice {
        var number = 1
        while true {
            let name = number == 1 ? host : "\(host)#\(number)"
            guard let journal = journals.first(where: { $0.name == name }) else { return .make(name: name) }
            defer { number += 1 }
            if setAside.contains(name) { continue }
            if journal.sighting.isFree { return .take(journal.id, name: name, formerEpoch: nil) }
            if let epoch = epoch(journal.id), epoch == journal.sighting.epoch {
                return .take(journal.id, name: name, formerEpoch: epoch)
            }
        }
    }
}
