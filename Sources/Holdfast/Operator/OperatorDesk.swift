/// The operations of an operator on a journal, whether a process uses it or not.
///
/// ``PushEngine/desk`` is for a running engine, ``JournalDesk`` for a journal that no engine uses, and `RemoteDesk` (module
/// `HoldfastControl`) for the journal of another process. To only read a journal, use `JournalReader` (module
/// `HoldfastJournal`).
///
/// Each call takes at most ``greatestBatch`` items, so that long work shows progress. Changes are durable on return.
public protocol OperatorDesk: OutcomeDesk {
    /// The journal's lanes, and the routes of the running engine.
    func status() async throws -> DeskStatus

    /// The state of these entries in the running engine. Entries that it does not know are left out.
    func insights(_ uids: [UID]) async throws -> [EntryInsight]

    /// Pauses a lane until it is resumed, also after a restart. Entries in flight get their answers.
    ///
    /// - Parameter reason: for other operators; may be empty. At most ``LaneState/longestReason`` bytes are kept.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a lane that the journal does not have.
    func pause(_ lane: LaneKey, reason: String) async throws

    /// Lets a paused or stopped lane run again.
    ///
    /// - Throws: as ``pause(_:reason:)``.
    func resume(_ lane: LaneKey) async throws

    /// Has a route try at once whatever it waits for: its next connection, the probes of a throttle, of stopped lanes and of
    /// topics that are set aside, and a window of entries that wait for another attempt. Its backoffs begin anew. Returns when
    /// the route has begun, and does not wait for what comes of it.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a route that no engine serves.
    func connect(route: String) async throws

    /// Pauses all notifications with this tag, in all lanes, until the tag is resumed, also after a restart. On return none of
    /// them goes out any more; those in flight get their answers. A tag that is paused already gets the new reason.
    ///
    /// - Parameter reason: for other operators; may be empty. At most ``LaneState/longestReason`` bytes are kept.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/invalidEntry`` for a tag of no or of more than 256 bytes, or if
    ///   64 tags are paused.
    func pause(tag: [UInt8], reason: String) async throws

    /// Lets the notifications with this tag go again, in their order.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a tag that is not paused.
    func resume(tag: [UInt8]) async throws

    /// Lets the notifications of all paused tags go again. At rest this also replaces a record of the paused tags that can't be
    /// read.
    func resumeAllTags() async throws

    /// Makes each route's connector read its keys, certificates and trusted certificates again. Lanes that stopped because of
    /// the old ones run again.
    ///
    /// - Returns: the result for each route; empty if no engine runs.
    func reloadCredentials() async throws -> [CredentialReload]

    /// Submits notifications, like ``PushEngine/producer``. Accepted ones are durable on return.
    ///
    /// - Returns: a receipt for each, in order.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` if no engine runs: only an engine has routes.
    func submit(_ notifications: [PushNotification]) async throws -> [Receipt]

    /// Submits notifications under a Producer's name, with a note of how far the file that they come from was taken. With a
    /// note it does not wait for room in a full journal.
    ///
    /// - Parameters:
    ///   - producer: the Producer's name; `nil` for the standard one.
    ///   - note: becomes durable in the same commit; `nil` for what comes from no file.
    /// - Returns: a receipt for each, in order. Where one says that the journal is full, nothing was taken, and no note.
    /// - Throws: ``JournalError`` if nothing was taken, with code ``JournalError/Code/inUse`` if the note has changed since the
    ///   caller read it, and with ``JournalError/Code/notFound`` if no engine runs.
    func submit(
        _ notifications: [PushNotification], as producer: String?, note: RestoreNote?
    ) async throws -> [Receipt]

    /// Takes entries back, so that they are not sent (again). The outcome is *withdrawn*, or *unknown* for one that may have
    /// been sent.
    func withdraw(_ uids: [UID]) async throws -> Withdrawal

    /// Sends rejections again. Each becomes a new entry, linked to the old UID, in the commit that removes the rejection. An
    /// expiration that has passed is replaced by the default lifetime.
    ///
    /// - Returns: the result of each, in order.
    func retry(_ rejections: [UID]) async throws -> [Retry]

    /// Deletes rejections.
    ///
    /// - Returns: how many there were.
    func discard(_ rejections: [UID]) async throws -> Int

    /// Brings back quarantined entries whose records can be read now. They are sent in their turn. (To give one up, withdraw
    /// it.)
    ///
    /// - Returns: the UIDs of those that wait again.
    func retryQuarantined(_ uids: [UID]) async throws -> [UID]

    /// Adds entries to the blacklist. If a token has one of the same scope already, the later ``BlacklistEntry/since`` stays.
    func blacklist(_ entries: [BlacklistEntry]) async throws

    /// Removes entries from the blacklist.
    ///
    /// - Returns: how many there were.
    func unblacklist(_ keys: [BlacklistKey]) async throws -> Int

    /// Imports entries of another journal, each in its state there, under a new UID.
    ///
    /// - Parameter note: becomes durable in the same commit, such as how far a file was imported.
    /// - Returns: the new UIDs, in order.
    /// - Throws: ``JournalError`` if nothing was imported, with code ``JournalError/Code/inUse`` if the note has changed since
    ///   the caller read it; with ``JournalError/Code/undetermined`` it is unknown whether the entries were imported.
    func restore(_ entries: [RestoredEntry], note: RestoreNote?) async throws -> [UID]
}

extension OperatorDesk {
    /// The most items of one call.
    public static var greatestBatch: Int { OperatorDeskLimits.batch }
}

/// The limits of every ``OperatorDesk``.
package enum OperatorDeskLimits {
    /// The most items of one call.
    package static let batch = 1000
}
