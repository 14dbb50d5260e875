/// The durable storage of the token blacklist. ``TokenBlacklist`` applies the rules.
///
/// A recipient has one entry for each ``BlacklistScope``, and at most ``greatestScopeCount`` of them.
package protocol BlacklistStorage: AnyObject, Sendable {
    /// The number of recipients that have entries, from memory: an empty blacklist costs nothing.
    var count: Int { get }

    /// The greatest ``BlacklistEntry/number`` that was ever assigned, removed entries included; 0 if none was. From memory.
    /// Entries added before the call have no greater number, and entries added later do.
    var lastNumber: UInt64 { get }

    /// The number of places where the blacklist was found damaged since it was opened. A look-up may miss tokens there. From
    /// memory; 0 until the blacklist has been scanned.
    var damageCount: Int { get }

    /// Calls `observer` when damage is found, and at once if some was found before. A later observer replaces it.
    ///
    /// - Parameter observer: gets ``damageCount``, on the storage's own thread. Must not block.
    func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void)

    /// The entries of a recipient, expired ones included, ordered by scope.
    ///
    /// Read on this machine, like all that is looked up here: nobody who asks waits for a network. A blacklist that hosts share
    /// is asked in a local copy of it.
    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry]

    /// Looks up the recipients of a batch in one transaction. A damaged record is listed in the result and is no failure.
    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup

    /// Adds entries in one commit and assigns each its ``BlacklistEntry/number``, in their order.
    ///
    /// If the recipient has an entry of the same scope, the one with the later ``BlacklistEntry/since`` stays; of two equal
    /// ones the existing one stays, with its number, unless it expires before the other. At ``greatestScopeCount`` an older
    /// entry is removed: see ``TokenEntries``.
    ///
    /// - Parameter completion: called on the storage's own thread when the commit is durable, or with the error.
    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes, in one commit, the entries that cover a registration and have an earlier ``BlacklistEntry/since``.
    ///
    /// - Parameter completion: called on the storage's own thread when the commit is durable, or with the error.
    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes entries, durably on return.
    ///
    /// - Returns: how many there were.
    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int

    /// Lists entries from the first recipient after `after`.
    ///
    /// Device tokens come first, ordered by bytes and then scope; other services' addresses follow, in an order of the
    /// storage's own. The entries of one recipient are never split, so there may be more than `limit`, by less than
    /// ``greatestScopeCount``. Fewer than `limit` are the last. Unreadable records are left out.
    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry]
}

extension BlacklistStorage {
    /// 0: a storage that cannot tell reports no damage.
    package var damageCount: Int { 0 }
    /// Does nothing by default: a storage that finds no damage has none to report.
    package func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void) {}

    /// The most entries of one recipient.
    package static var greatestScopeCount: Int { TokenEntries.greatestCount }

    /// Removes all entries of recipients, durably on return.
    ///
    /// - Returns: how many there were.
    package func remove(_ recipients: [Recipient]) throws(JournalError) -> Int {
        try remove(recipients.map { BlacklistKey($0) })
    }
}

/// The blacklist's entries for the recipients of a batch.
public struct BlacklistLookup: Sendable {
    /// One element for each entry of an item's recipient, of any scope. Ascending by the item's index.
    package var entries: [(index: Int, entry: BlacklistEntry)]
    /// Items whose recipient has an unreadable record, so that its topics are unknown. Ascending by index.
    package var unreadable: [(index: Int, fault: RecordFault)]

    package init(
        entries: [(index: Int, entry: BlacklistEntry)] = [], unreadable: [(index: Int, fault: RecordFault)] = []
    ) {
        self.entries = entries
        self.unreadable = unreadable
    }
}

/// The registration of a recipient by an app. It lifts older entries of the blacklist.
public struct TokenRegistration: Hashable, Sendable {
    package var recipient: Recipient
    package var topic: String
    package var endpoint: String
    package var registeredAt: WallTime

    package init(recipient: Recipient, topic: String, endpoint: String, registeredAt: WallTime) {
        self.recipient = recipient
        self.topic = topic
        self.endpoint = endpoint
        self.registeredAt = registeredAt
    }
}
