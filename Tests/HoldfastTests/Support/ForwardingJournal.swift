import HoldfastTesting

@testable import Holdfast

/// Forwards everything to an in-memory journal, and lets a test act between a call and what follows it.
class ForwardingJournal: JournalService, @unchecked Sendable {  // Confined to the test's thread.
    let base: InMemoryJournal
    /// Called after a lane was opened, before the caller goes on.
    var hasOpened: (LaneKey, LaneOpening) -> Void = { _, _ in }

    init(_ base: InMemoryJournal) { self.base = base }

    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening {
        let opening = try base.openLane(key)
        hasOpened(key, opening)
        return opening
    }

    func openProducer(_ name: String) throws(JournalError) -> ProducerID { try base.openProducer(name) }

    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void) {
        base.append(submission, completion: completion)
    }

    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) { base.settle(batch, completion: completion) }

    func raiseMark(of lane: LaneID, to ceiling: UID) { base.raiseMark(of: lane, to: ceiling) }

    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) { base.lowerMark(of: lane, to: mark, completion: completion) }

    func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) { base.setState(of: lane, to: state, completion: completion) }

    func removeRejections(_ uids: [UID]) throws(JournalError) -> Int { try base.removeRejections(uids) }

    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) { base.promoteDue(lane, after: after, now: now, limit: limit, completion: completion) }

    func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor {
        try base.openReader(name, isWaitedFor: isWaitedFor)
    }
    func setReader(
        _ name: String, to cursor: OutcomeCursor?,
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        base.setReader(name, to: cursor, completion: completion)
    }

    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void) {
        base.trim(bounds, completion: completion)
    }

    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) { try base.setNote(name, to: value) }

    func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError) {
        try base.observeCommits(observer)
    }

    func endObserving() { base.endObserving() }

    func close() { base.close() }

    var identityKey: IdentityKey { base.identityKey }
    var repeatKey: IdentityKey { base.repeatKey }
    var tellsRoom: Bool { base.tellsRoom }
    var wantOfRoom: JournalError? { base.wantOfRoom }
    var refusal: JournalError? { base.refusal }
    var firstUID: UID { base.firstUID }
    var handOutUntil: Duration? { nil }
    var wallTimeAtOpen: WallTime? { base.wallTimeAtOpen }
    var blacklist: any BlacklistStorage { base.blacklist }
    var outcomeLog: OutcomeLogFigures { base.outcomeLog }
    var outcomeReaders: [OutcomeReader] { base.outcomeReaders }

    func nextDue(_ lane: LaneID, after: WallTime?) throws(JournalError) -> WallTime? {
        try base.nextDue(lane, after: after)
    }

    func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch {
        try base.unconfirmed(lane, after: after, through: through, limit: limit)
    }

    func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch {
        try base.unconfirmed(lane, uids: uids)
    }

    func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) { base.quarantine(order, completion: completion) }

    var quarantinedCount: Int { base.quarantinedCount }
    var asideCount: Int { base.asideCount }
    var scheduledCount: Int { base.scheduledCount }
    var heldByTagCount: Int { base.heldByTagCount }
    func heldCount(_ lane: LaneID) -> Int { base.heldCount(lane) }
    func deferredCount(_ lane: LaneID, dueAt due: WallTime) throws(JournalError) -> Int {
        try base.deferredCount(lane, dueAt: due)
    }
    func newest(_ key: NewestKey) throws(JournalError) -> NewestEntries? { try base.newest(key) }

    func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry] {
        try base.quarantined(after: after, limit: limit)
    }

    func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) { base.retryQuarantined(uids, now: now, completion: completion) }

    func depth(_ lane: LaneID) -> Int { base.depth(lane) }
    func backlog(of producer: ProducerID) -> Int { base.backlog(of: producer) }
    func producers() throws(JournalError) -> [ProducerStatus] { try base.producers() }
    func fate(of uid: UID) throws(JournalError) -> EntryFate? { try base.fate(of: uid) }

    func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
        try base.outcomes(after: cursor, limit: limit)
    }
    func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int
    ) throws(JournalError) -> OutcomePage {
        try base.findOutcomes(query, before: before, limit: limit, mostBytes: mostBytes)
    }

    func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection] {
        try base.rejections(after: after, limit: limit)
    }

    func note(_ name: String) throws(JournalError) -> [UInt8]? { try base.note(name) }
    func status() throws(JournalError) -> JournalStatus { try base.status() }
}
