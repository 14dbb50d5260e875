public import Holdfast

/// A ``Journal`` in memory, for tests: the rules of the real one, without a disk.
///
/// Completions are called on a thread of the journal's own, in order, as the real one does; with ``Mode/manual`` nothing
/// is committed before ``commit()`` is called.
public final class InMemoryJournal: Journal {
    public enum Mode: Sendable {
        /// Each call commits at once, on the caller's thread.
        case immediate
        /// Commits wait for ``InMemoryJournal/commit()``.
        case manual
    }

    enum Request: Sendable {
        case append(Submission, @Sendable (Result<UID, JournalError>) -> Void)
        case settle(SettlementBatch, @Sendable (Result<SettlementReport, JournalError>) -> Void)
        case promote(LaneID, WallTime, Int, @Sendable (Result<[UID], JournalError>) -> Void)
        case lowerMark(LaneID, UID, @Sendable (Result<Void, JournalError>) -> Void)
        case mark
    }

    /// What is "on disk": survives ``crashed()``.
    struct Disk: Sendable {
        struct Record: Sendable {
            var bytes: [UInt8]
            var attempts: UInt16
        }

        struct Deferred: Sendable {
            var due: WallTime
            var uid: UID
            var record: Record
        }

        struct Lane: Sendable {
            var key: LaneKey
            var entries: [UID: Record] = [:]
            var deferred: [Deferred] = []
            var mark = UID.none
            var lastUID = UID.none
        }

        var lanes: [Lane] = []
        var rejections: [UID: (record: Record, cause: RejectionCause)] = [:]
        var notes: [String: [UInt8]] = [:]
        var nextUID: UInt64 = 1
        var totals = JournalTotals()
        var blacklist: [DeviceToken: BlacklistEntry] = [:]
    }

    struct State: Sendable {
        var disk = Disk()
        var ceilings: [LaneID: UID] = [:]
        var waiting: [Request] = []
        var observer: (@Sendable (CommitReport) -> Void)?
        var failure: JournalError?
        var isClosed = false
    }

    let state: Monitor<State>
    let mode: Mode
    public let blacklist: any BlacklistStorage

    public convenience init(mode: Mode = .immediate) { self.init(disk: Disk(), mode: mode) }

    init(disk: Disk, mode: Mode) {
        state = Monitor(State(disk: disk))
        self.mode = mode
        blacklist = InMemoryBlacklist(state)
    }

    /// What a new process finds after this one was killed: everything committed, nothing that waited.
    public func crashed() -> InMemoryJournal {
        InMemoryJournal(disk: state.withLock(\.disk), mode: mode)
    }

    /// From now on every write fails with `error`; nil lets writes succeed again.
    public func failWrites(with error: JournalError?) { state.withLock { $0.failure = error } }

    /// Rejected notifications, by UID.
    public var rejections: [UID: RejectionCause] { state.withLock { $0.disk.rejections.mapValues(\.cause) } }

    /// UIDs that are unconfirmed and not deferred, ascending, of all lanes.
    public var unconfirmedUIDs: [UID] { state.withLock { $0.disk.lanes.flatMap { $0.entries.keys }.sorted() } }

    public func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening {
        state.withLock { state in
            let index = state.disk.lanes.firstIndex { $0.key == key }
            if index == nil { state.disk.lanes.append(Disk.Lane(key: key)) }
            let number = index ?? state.disk.lanes.count - 1
            let lane = state.disk.lanes[number]
            return LaneOpening(id: LaneID(rawValue: UInt32(number)), markAtOpen: lane.mark, lastUID: lane.lastUID)
        }
    }

    public func append(_ submission: Submission, completion: @escaping @Sendable (Result<UID, JournalError>) -> Void) {
        enqueue(.append(submission, completion))
    }

    public func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        enqueue(.settle(batch, completion))
    }

    public func promoteDue(
        _ lane: LaneID, now: WallTime, limit: Int, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        enqueue(.promote(lane, now, limit, completion))
    }

    public func raiseMark(of lane: LaneID, to ceiling: UID) {
        state.withLock { $0.ceilings[lane] = max($0.ceilings[lane] ?? .none, ceiling) }
        enqueue(.mark)
    }

    public func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        state.withLock { state in
            if let ceiling = state.ceilings[lane] { state.ceilings[lane] = min(ceiling, mark) }
        }
        enqueue(.lowerMark(lane, mark, completion))
    }

    public func nextDue(_ lane: LaneID) throws(JournalError) -> WallTime? {
        state.withLock { $0.disk.lanes[Int(lane.rawValue)].deferred.map(\.due).min() }
    }

    public func unconfirmed(
        _ lane: LaneID, after: UID, through: UID, limit: Int
    ) throws(JournalError) -> EntryBatch {
        state.withLock { state in
            let entries = state.disk.lanes[Int(lane.rawValue)].entries
            let uids = entries.keys.filter { $0 > after && $0 <= through }.sorted().prefix(limit)
            return Self.batch(uids.map { ($0, entries[$0]) })
        }
    }

    public func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch {
        state.withLock { state in
            let entries = state.disk.lanes[Int(lane.rawValue)].entries
            return Self.batch(uids.map { ($0, entries[$0]) })
        }
    }

    private static func batch(_ records: [(UID, Disk.Record?)]) -> EntryBatch {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        for case (let uid, let record?) in records {
            let start = bytes.count
            bytes += record.bytes
            items.append(EntryBatch.Item(uid: uid, attempts: record.attempts, range: start..<bytes.count))
        }
        return EntryBatch(bytes: bytes, items: items)
    }

    public func depth(_ lane: LaneID) -> Int {
        state.withLock { state in
            let lane = state.disk.lanes[Int(lane.rawValue)]
            return lane.entries.count + lane.deferred.count
        }
    }

    public func note(_ name: String) throws(JournalError) -> [UInt8]? { state.withLock { $0.disk.notes[name] } }

    public func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) {
        try state.withLock { state throws(JournalError) in
            if let failure = state.failure { throw failure }
            state.disk.notes[name] = value
        }
    }

    public func status() throws(JournalError) -> JournalStatus {
        state.withLock { state in
            var status = JournalStatus(
                rejections: state.disk.rejections.count, blacklist: state.disk.blacklist.count,
                nextUID: UID(state.disk.nextUID), totals: state.disk.totals)
            for (index, lane) in state.disk.lanes.enumerated() {
                status.unconfirmed += lane.entries.count + lane.deferred.count
                status.deferred += lane.deferred.count
                status.possiblySent += lane.entries.keys.count { $0 <= lane.mark }
                status.lanes.append(
                    JournalStatus.Lane(
                        key: lane.key, id: LaneID(rawValue: UInt32(index)),
                        unconfirmed: lane.entries.count + lane.deferred.count, deferred: lane.deferred.count,
                        mark: lane.mark))
            }
            return status
        }
    }

    public func observeCommits(_ observer: (@Sendable (CommitReport) -> Void)?) {
        state.withLock { $0.observer = observer }
    }

    public func close() {
        commit()
        state.withLock { $0.isClosed = true }
    }

    private func enqueue(_ request: Request) {
        state.withLock { $0.waiting.append(request) }
        if mode == .immediate { commit() }
    }
}
