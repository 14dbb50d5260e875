public import Holdfast

/// A ``Holdfast/Journal`` in memory, for tests: the rules of the real one, without a disk.
///
/// With ``Mode/manual`` nothing is committed before ``commit()`` is called; and in either mode it fails as it is told:
/// see ``failWrites(with:)``, ``breakNextCommit(leaving:)``, ``failReads(with:)`` and ``limitEntries(to:)``. What a new
/// process would find is ``crashed(mode:)``.
public final class InMemoryJournal: Journal, JournalService {
    // Completions and the observer are called on the thread that commits, one after the other and in the order of the calls,
    // never under a lock. As with the real journal they must not call what blocks: openLane, openProducer, setNote, close and
    // commit.

    /// When the journal commits.
    public enum Mode: Sendable {
        /// Each call commits at once, on the caller's thread, or on that of another caller who is committing just then.
        case immediate
        /// Commits wait for ``InMemoryJournal/commit()``; those of the blacklist for
        /// ``InMemoryJournal/commitBlacklist()``. Calls that are durable on return commit all that waits.
        case manual
    }

    let state: Monitor<State>
    /// When this journal commits.
    public let mode: Mode
    /// The journal as an engine uses it.
    public var handle: JournalHandle { JournalHandle(self) }
    package let identityKey: IdentityKey
    /// It shares none.
    package var repeatKey: IdentityKey { identityKey }
    package let wallTimeAtOpen: WallTime?
    package let blacklist: any BlacklistStorage
    let tokens: InMemoryBlacklist

    /// Makes an empty journal.
    ///
    /// - Parameter mode: when it commits. Default: at once.
    public convenience init(mode: Mode = .immediate) { self.init(mode: mode, identityKey: .random()) }

    /// An empty one with this key.
    package convenience init(mode: Mode = .immediate, identityKey: IdentityKey) {
        self.init(disk: InMemoryDisk(identityKey: identityKey), mode: mode)
    }

    init(disk: InMemoryDisk, mode: Mode, store: InMemoryStore = InMemoryStore(), epoch: Int64 = 1) {
        state = Monitor(State(disk: disk, store: store, epoch: epoch))
        self.mode = mode
        identityKey = disk.identityKey
        wallTimeAtOpen = disk.lastWallTime
        tokens = InMemoryBlacklist(state, mode: mode)
        blacklist = tokens
    }

    // MARK: Calls that are durable on return

    package func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening {
        try checkOpen()
        if state.withLock({ $0.disk.laneID(of: key) }) == nil {
            let _: Void = try ask { reply in .openLane(key, reply) }
        }
        return state.withLock { state in
            guard let id = state.disk.laneID(of: key), let lane = state.disk.lane(id) else {
                preconditionFailure("the lane has just been registered")
            }
            return LaneOpening(id: id, markAtOpen: lane.mark, lastUID: lane.lastUID, state: lane.state)
        }
    }

    package func openProducer(_ name: String) throws(JournalError) -> ProducerID {
        try checkOpen()
        guard (1...64).contains(name.utf8.count) else {
            throw JournalError(.invalidEntry, "the name of a Producer has 1 to 64 bytes, not \(name.utf8.count)")
        }
        if let known = state.withLock({ $0.disk.producerID(of: name) }) { return known }
        return try ask { reply in .openProducer(name, reply) }
    }

    package func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor {
        try checkOpen()
        guard (1...64).contains(name.utf8.count) else {
            throw JournalError(.invalidEntry, "the name of a reader has 1 to 64 bytes, not \(name.utf8.count)")
        }
        let known = state.withLock { $0.disk.outcomes.readers.first { $0.name == name } }
        if let known, known.isWaitedFor == isWaitedFor { return known.cursor }
        return try ask { reply in .openReader(name, isWaitedFor: isWaitedFor, reply) }
    }

    package func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) {
        let _: Void = try ask { reply in .setNote(name, value, reply) }
    }

    package func removeRejections(_ uids: [UID]) throws(JournalError) -> Int {
        try ask { reply in .removeRejections(uids, reply) }
    }

    /// Commits all that waits. Every later call fails.
    public func close() {
        commitWaiting()
        tokens.commit()
        // What was left by others in between.
        let (late, lateTokens) = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.blacklistWaiting) = ([], []) }
            return (state.waiting, state.blacklistWaiting)
        }
        for request in late { request.fail(Self.closedError) }
        for request in lateTokens { request.answer(.failure(Self.closedError))() }
    }

    private func ask<Value: Sendable>(
        _ request: (@escaping @Sendable (Result<Value, JournalError>) -> Void) -> Request
    ) throws(JournalError) -> Value {
        refuseOwnCompletions()
        let reply = Monitor<Result<Value, JournalError>?>(nil)
        enqueue(
            request { result in
                reply.withLock { $0 = result }
                reply.broadcast()
            })
        // What waits before it may take several commits.
        while mode == .manual, reply.withLock({ $0 }) == nil { commitWaiting() }
        guard let result = reply.wait(for: { $0 }) else { preconditionFailure("waited without a deadline") }
        return try result.get()
    }

    // MARK: Calls that are answered later

    package func append(
        _ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void
    ) {
        enqueue(.append(submission, completion))
    }

    package func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        enqueue(.settle(batch, completion))
    }

    package func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        enqueue(.promote(lane, after, now, limit, completion))
    }

    package func setReader(
        _ name: String, to cursor: OutcomeCursor?,
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        enqueue(.setReader(name, cursor, completion))
    }

    package func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void) {
        enqueue(.trim(bounds, completion))
    }

    package func raiseMark(of lane: LaneID, to ceiling: UID) {
        state.withLock { $0.ceilings[lane] = max($0.ceilings[lane] ?? .none, ceiling) }
        if mode == .immediate { commitAll() }
    }

    package func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        state.withLock { $0.ceilings[lane] = nil }
        enqueue(.lowerMark(lane, mark, completion))
    }

    package func setState(
        of lane: LaneID, to laneState: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        enqueue(.setState(lane, laneState, completion))
    }

    package func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError) {
        let isTaken = state.withLock { state in
            if state.observer != nil { return true }
            state.observer = observer
            return false
        }
        if isTaken { throw JournalError(.inUse, "an engine delivers from this journal already") }
    }

    package func endObserving() { state.withLock { $0.observer = nil } }

    func enqueue(_ request: Request) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waiting.append(request) }
            return state.isClosed
        }
        if isClosed { return request.fail(Self.closedError) }
        if mode == .immediate { commitAll() }
    }

    static let closedError = JournalError(.closed, "the journal is closed")

    func checkOpen() throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            if state.isClosed { throw Self.closedError }
            if let broken = state.broken { throw broken }
        }
    }
}
