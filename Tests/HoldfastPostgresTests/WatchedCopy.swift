import Holdfast

/// A copy of the blacklist that notes its mark after each commit.
final class WatchedCopy: BlacklistCopy {
    private let base: any BlacklistCopy
    private let seen = Monitor<[[UInt8]?]>([])

    init(_ base: any BlacklistCopy) { self.base = base }

    /// The marks, one for each commit.
    var marks: [[UInt8]?] { seen.withLock { $0 } }

    func replace(_ rows: [BlacklistRow], mark: [UInt8]?) throws(JournalError) {
        try base.replace(rows, mark: mark)
        let present = base.mark
        seen.withLock { $0.append(present) }
    }

    var mark: [UInt8]? { base.mark }
    var ending: JournalError? { base.ending }
    func giveUp() { base.giveUp() }
    func close() { base.close() }
    var count: Int { base.count }
    var lastNumber: UInt64 { base.lastNumber }
    var damageCount: Int { base.damageCount }
    func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void) { base.observeDamage(observer) }
    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        try base.entries(for: recipient)
    }
    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup { try base.lookUp(batch) }
    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        base.add(entries, completion: completion)
    }
    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        base.lift(registrations, completion: completion)
    }
    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int { try base.remove(keys) }
    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try base.list(after: after, limit: limit)
    }
}
