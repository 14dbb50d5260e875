package import Holdfast

/// Where rows of the outbox go: an engine whose journal has its log in the same database.
package protocol OutboxReceiver: Sendable {
    /// Submits rows without waiting. Those that the journal appends, or had before, leave the outbox in the same commit.
    ///
    /// - Parameters:
    ///   - rows: one for each notification.
    ///   - onCommit: gets a receipt for each, in order, unless this throws.
    /// - Throws: ``Refusal`` or ``JournalError`` where nothing can be submitted under the name.
    func submit(
        _ notifications: [PushNotification], as producer: String, taking rows: [QueueRow],
        onCommit: @escaping @Sendable ([Receipt]) -> Void) throws

    /// The earliest time that it may be by this host's clock; that clock's time while it is trusted.
    var earliestTime: WallTime { get }
    /// How long identities are to be remembered for all hosts, and how many.
    var identityBounds: (age: Duration, limit: Int) { get }
}

extension PushEngine: OutboxReceiver {}
