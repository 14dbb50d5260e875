internal import Foundation
package import Holdfast
package import HoldfastPQ

/// The blacklist that hosts share through PostgreSQL, as one of them has it: a copy on its disk, which is all that look-ups read,
/// and a thread that tells the database what is learnt here and brings the copy to what the others have learnt.
///
/// A change holds here at once, and is told as durable when the database has it. While that is away, changes wait, hold here,
/// and are told when it is back; those that wait when the process ends were told to nobody. The copy only ever has what the
/// database has, so that a change of which nobody was told can't stay on one host alone.
///
/// A process has one, which it gives to each journal that it opens.
package final class SharedBlacklist: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        /// How often the feed is read.
        package var interval: Duration
        /// For connecting, and setting the session up.
        package var connecting: Duration
        /// After which a call is made again. Long, as a standby that is away is waited for, too.
        package var answer: Duration
        /// How long a removal by ``BlacklistStorage/remove(_:)-(_)`` waits for the database.
        package var removal: Duration
        /// Rows that are read at a time.
        package var pageRowCount: Int
        /// Changes that are told at a time, about.
        package var batchCount: Int
        /// How long the database remembers what was removed. A copy that is further behind is filled anew.
        package var keeping: Duration
        /// How often what is no longer remembered is deleted.
        package var trimming: Duration

        package init(
            target: PQTarget, schema: SchemaName = .standard, interval: Duration = .seconds(1),
            connecting: Duration = .seconds(5), answer: Duration = .seconds(60), removal: Duration = .seconds(20),
            pageRowCount: Int = 5000, batchCount: Int = 1000, keeping: Duration = .seconds(7 * 86_400),
            trimming: Duration = .seconds(3600)
        ) {
            self.target = target
            self.schema = schema
            self.interval = interval
            self.connecting = connecting
            self.answer = answer
            self.removal = removal
            self.pageRowCount = pageRowCount
            self.batchCount = batchCount
            self.keeping = keeping
            self.trimming = trimming
        }
    }

    package struct Status: Sendable {
        /// How far the copy has come.
        package internal(set) var number: UInt64 = 0
        /// Whether the copy is being filled anew, since the database is not the one that it was made of, or has forgotten what it
        /// removed since.
        package internal(set) var isFilling = false
        /// Calls that wait for the database.
        package internal(set) var untoldCount = 0
        /// Why the last try failed; `nil` after one that did not.
        package internal(set) var trouble: Trouble?
    }

    package struct Trouble: Sendable {
        package let words: String
        /// Whether it is this host's copy that is in the way, and not the database.
        package let isOfCopy: Bool
        package let since: ContinuousClock.Instant
    }

    private let current: CurrentCopy
    private let removal: Duration
    private let board = SharedBlacklistBoard()
    private let interruption: PQInterruption

    /// Begins to share. Until ``caughtUp(within:)``, look-ups find what the copy had before.
    ///
    /// - Parameters:
    ///   - copy: closed by ``close()``.
    ///   - another: makes an empty copy in the place of one that can't be gone on with, for the reason that it is given. Look-ups
    ///     read the one before until the new one is filled. Called on the thread of the blacklist.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(
        _ terms: Terms, copy: any BlacklistCopy,
        another: @escaping @Sendable (_ ending: JournalError) throws(JournalError) -> any BlacklistCopy
    ) throws(PQError) {
        let current = CurrentCopy(copy)
        self.current = current
        removal = terms.removal
        interruption = try PQInterruption()
        let thread = Thread { [board, interruption] in
            var worker = SharedBlacklistWorker(terms, current, another, board, interruption)
            worker.run()
        }
        thread.name = "holdfast-shared"
        thread.start()
    }

    package var status: Status { board.status }

    /// Waits until the copy has all that the database had at the call. Whoever opens a journal, or takes one over, does so before
    /// anything is handed out.
    ///
    /// - Returns: whether that was in time.
    package func caughtUp(within time: Duration) -> Bool { board.catchUp(time) }

    /// Ends the thread, answers what waits with an error, and closes the copy. Journals that use this are closed before.
    package func close() {
        board.stop()
        interruption.interrupt()
        board.waitForEnd()
        current.copy.close()
    }

    static let closed = JournalError(
        .closed, "the blacklist that hosts share is closed; the change may be there, and may be made again")
}

extension SharedBlacklist: BlacklistStorage {
    /// Those of the copy, and those that change here.
    package var count: Int { current.copy.count + board.byRecipient.count }
    package var lastNumber: UInt64 { current.copy.lastNumber }
    package var damageCount: Int { current.copy.damageCount }
    package func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void) {
        current.observeDamage(observer)
    }

    package func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        // Before the copy is read: what leaves the pending ones meanwhile is in the copy.
        let pending = board.byRecipient[recipient] ?? []
        let known = try current.read { (copy) throws(JournalError) in try copy.entries(for: recipient) }
        return Self.apply(pending, to: known)
    }

    package func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup {
        let pending = board.byRecipient
        var found = try current.read { (copy) throws(JournalError) in try copy.lookUp(batch) }
        guard !pending.isEmpty else { return found }
        for index in 0..<batch.count {
            guard let recipient = Self.recipient(of: index, in: batch), let changes = pending[recipient] else {
                continue
            }
            let known = found.entries.filter { $0.index == index }.map(\.entry)
            found.entries.removeAll { $0.index == index }
            found.entries += Self.apply(changes, to: known).map { (index, $0) }
        }
        found.entries.sort { $0.index < $1.index }
        return found
    }

    package func add(
        _ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        if let fault = entries.lazy.compactMap(\.fault).first {
            return completion(.failure(JournalError(.limitReached, fault)))
        }
        tell(entries.map { .add($0) }, completion)
    }

    package func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        do throws(JournalError) {
            var changes: [SharedChange] = []
            for registration in registrations {
                // Which entries a registration covers is known here. What others tell meanwhile comes behind it.
                for entry in try self.entries(for: registration.recipient)
                where entry.scope.covers(topic: registration.topic, endpoint: registration.endpoint)
                    && entry.since < registration.registeredAt
                {
                    changes.append(.lift(entry.key, before: registration.registeredAt))
                }
            }
            tell(changes, completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Removes entries everywhere. The database is waited for.
    package func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int {
        let reply = Monitor<Result<Int, JournalError>?>(nil)
        let id = board.take(keys.map { .remove($0) }) { result in
            reply.withLock { $0 = result }
            reply.broadcast()
        }
        guard let id else { throw Self.closed }
        if let result = reply.wait(atMost: removal, for: { $0 }) { return try result.get() }
        let trouble = board.status.trouble?.words ?? "the database does not answer"
        if board.withdraw(id) {
            throw JournalError(.unreachable, "nothing was removed from the blacklist, as \(trouble): try again")
        }
        if let result = reply.withLock({ $0 }) { return try result.get() }
        throw JournalError(
            .undetermined,
            "the removal was sent and not answered (\(trouble)): it is made when the database answers, if it was not made"
        )
    }

    /// Lists the copy.
    package func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try current.read { (copy) throws(JournalError) in try copy.list(after: after, limit: limit) }
    }

    private func tell(
        _ changes: [SharedChange], _ completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        // The thread answers also where there is nothing to tell: who asks may not be ready for an answer within the call.
        let id = board.take(changes) { completion($0.map { _ in }) }
        if id == nil { completion(.failure(Self.closed)) }
    }

    private static func apply(_ changes: [SharedChange], to known: [BlacklistEntry]) -> [BlacklistEntry] {
        guard !changes.isEmpty else { return known }
        var entries = TokenEntries(known)
        for change in changes { change.apply(to: &entries) }
        return entries.entries
    }

    /// - Returns: nil for a notification that can't be read, and for a broadcast.
    private static func recipient(of index: Int, in batch: EntryBatch) -> Recipient? {
        guard let fields = try? batch.fields(at: index) else { return nil }
        if let token = fields.token { return DeviceToken(bytes: Array(batch.bytes[token])).map { .device($0) } }
        guard let kind = fields.service, !fields.isBroadcast,
            let address = try? ServiceAddress(kind, bytes: Array(batch.bytes[fields.address]))
        else { return nil }
        return .service(address)
    }
}
