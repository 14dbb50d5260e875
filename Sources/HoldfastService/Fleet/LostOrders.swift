internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres

/// Orders to the whole fleet that a journal has carried out, and that the database had lost.
struct LostOrders: Hashable, Sendable {
    let journal: String
    /// Whether the database has all pauses again.
    let isComplete: Bool
    /// What happened, in whole sentences.
    let words: String

    /// - Parameters:
    ///   - number: the last order that the database knew.
    ///   - back: pauses that it has again.
    ///   - refused: pauses that it could not be given.
    init(_ journal: String, after number: Int64, putBack back: [FleetOrder], refused: [FleetOrder]) {
        func list(_ orders: [FleetOrder]) -> String { orders.map(\.pauseWords).joined(separator: ", ") }
        self.journal = journal
        isComplete = refused.isEmpty
        var words =
            "The database went back to before orders to the fleet that journal \(journal) has carried out: it knew none behind "
            + "order \(number). What was paused there stays paused"
        if !back.isEmpty { words += "; put back for all journals: \(list(back))" }
        if !refused.isEmpty {
            words += "; hosts that come later would send, unless it is ordered again with --fleet: \(list(refused))"
        }
        self.words = words
    }
}

extension FleetOrder {
    /// What a pause is about.
    fileprivate var pauseWords: String {
        switch subject {
        case .lanes(let pattern?): "lanes \(pattern.description.printable(maximumLength: 320))"
        case .lanes(nil): "all lanes"
        case .tags(let tag): "tag \(String(decoding: tag ?? [], as: UTF8.self).printable(maximumLength: 256))"
        }
    }
}
