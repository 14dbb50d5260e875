internal import Holdfast

/// Decides which journal a host accepts into. Its journals are named after it: `web-1`, and `web-1#2` where another host still
/// delivers what was left in the first.
package enum OwnJournalChoice: Hashable, Sendable {
    /// - Parameter formerEpoch: whose owner is known to be gone.
    case take(Int32, name: String, formerEpoch: Int64?)
    /// - Parameter beside: the numbers of its journals, each of which has an owner.
    case make(name: String, beside: [Int32])

    /// - Parameters:
    ///   - epoch: under which a process of this machine, which is gone, had the journal of a number.
    ///   - ahead: numbers of journals of which this host has commits that the database lacks. They go before others.
    package static func choose(
        from journals: [ListedJournal], host: String, ahead: Set<Int32> = [], epoch: (Int32) -> Int64?
    ) -> OwnJournalChoice {
        var number = 1
        var found: OwnJournalChoice?
        var owned: [Int32] = []
        while true {
            let name = number == 1 ? host : "\(host)#\(number)"
            guard let journal = journals.first(where: { $0.name == name }) else {
                return found ?? .make(name: name, beside: owned)
            }
            defer { number += 1 }
            owned.append(journal.id)
            let formerEpoch = journal.sighting.isFree ? nil : epoch(journal.id)
            guard journal.sighting.isFree || formerEpoch == journal.sighting.epoch else { continue }
            let choice = take(journal.id, name: name, formerEpoch: formerEpoch)
            if ahead.contains(journal.id) { return choice }
            found = found ?? choice
        }
    }
}
