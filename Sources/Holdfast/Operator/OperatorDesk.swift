/// What an operator may do to a journal, whether a process uses it or not.
///
/// ``PushEngine/desk`` is that of a living engine, ``JournalDesk`` that of a journal at rest. What only reads the journal
/// is not here: a reader of the journal does that.
///
/// Each call takes at most ``OperatorDesk/greatestBatch`` items, so that large work is done, and seen to be done, in
/// pieces. What a call changes is on disk when it returns.
public protocol OperatorDesk: Sendable {
    /// The lanes, and what the living process knows of its routes.
    func status() async throws -> DeskStatus

    /// What only the living process knows of these entries; none for those of which it knows nothing, and at rest.
    func insights(_ uids: [UID]) async throws -> [EntryInsight]

    /// Has nothing of the lane go out until it is resumed, restarts included. What is in flight gets its answers.
    ///
    /// - Parameter reason: for those who look; may be empty. At most ``LaneState/longestReason`` bytes are kept.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a lane that the journal does not have.
    func pause(_ lane: LaneKey, reason: String) async throws

    /// Lets a paused or stopped lane run again.
    ///
    /// - Throws: as ``pause(_:reason:)``.
    func resume(_ lane: LaneKey) async throws

    /// Has each route's connector read its keys, certificates and trusted certificates again, and take up what is good. Lanes
    /// that were stopped for the old ones run again.
    ///
    /// - Returns: what came of it, by route; nothing at rest.
    func reloadCredentials() async throws -> [CredentialReload]

    /// Takes notifications, as the engine's Producer without a name does: where one is accepted it is on disk when this
    /// returns, and goes out in its turn.
    ///
    /// - Returns: a receipt for each, in order.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` at rest: only an engine has routes, which say what
    ///   is valid and where it goes.
    func submit(_ notifications: [PushNotification]) async throws -> [Receipt]

    /// Takes entries back, so that they are not sent (again). One that was never sent is *withdrawn*; one that may have
    /// been sent is *unknown* from now on.
    func withdraw(_ uids: [UID]) async throws -> Withdrawal

    /// Sends rejections again: each becomes a new entry, linked to the old by its ``PackedNotification/Fields/retryOf``,
    /// in the commit that removes the rejection. An expiration that has passed is set anew, as at acceptance.
    ///
    /// - Returns: what came of each, in order.
    func retry(_ rejections: [UID]) async throws -> [Retry]

    /// Deletes rejections.
    ///
    /// - Returns: how many there were.
    func discard(_ rejections: [UID]) async throws -> Int

    /// Brings quarantined entries back whose records can be read after all: they go out in their turn. (To give one up,
    /// withdraw it.)
    ///
    /// - Returns: the UIDs of those that wait again.
    func retryQuarantined(_ uids: [UID]) async throws -> [UID]

    /// Adds entries to the blacklist. Where a token has one of the same scope already, the later ``BlacklistEntry/since``
    /// stays.
    func blacklist(_ entries: [BlacklistEntry]) async throws

    /// Takes entries off the blacklist.
    ///
    /// - Returns: how many there were.
    func unblacklist(_ keys: [BlacklistKey]) async throws -> Int

    /// Puts entries of another journal into this one, each as it lay there, under a new UID.
    ///
    /// - Parameters:
    ///   - note: becomes durable in the same commit: how far a file was taken, say.
    /// - Returns: the new UIDs, in order.
    /// - Throws: ``JournalError`` when nothing was taken, with ``JournalError/Code/inUse`` where the note is not what it was
    ///   when the caller read it, ``JournalError/Code/undetermined`` when nobody can say.
    func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID]
}

extension OperatorDesk {
    /// The most items of one call.
    public static var greatestBatch: Int { OperatorDeskLimits.batch }
}

/// The named bounds of every ``OperatorDesk``.
package enum OperatorDeskLimits {
    /// The most items of one call.
    package static let batch = 1000
}
