import Holdfast
import HoldfastTesting

/// A journal with one fault, for the conformance suite to find.
final class FaultyJournal: JournalService {
    enum Fault: String, CaseIterable, Sendable {
        case countsGoneAsSettled, forgetsThatItMayHaveBeenSent, forgetsIdentities, losesOutcomes, promotesTooMany
        case keepsCeilings, losesNotes, answersTwice, neverAnswers, readsTooMuch, forgetsTheTime, raisesNoMarks
        case tellsOfNoDraining, defersDeferred, measuresNothing, takesTwoObservers, forgetsPauses, retriesTwice,
            restoresAsNew
    }

    let base: InMemoryJournal
    let fault: Fault
    private let ceilings = Monitor<[LaneID: UID]>([:])

    init(_ fault: Fault, base: InMemoryJournal = InMemoryJournal()) {
        self.fault = fault
        self.base = base
    }

    func reopened() -> FaultyJournal { FaultyJournal(fault, base: base.reopened()) }

    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void) {
        var submission = submission
        if fault == .forgetsIdentities { submission.identities = [] }
        if fault == .losesNotes { submission.note = nil }
        if fault == .retriesTwice { submission.retries = [] }
        if fault == .restoresAsNew { submission.histories = [] }
        base.append(submission, completion: completion)
    }

    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        var batch = batch
        if fault == .losesOutcomes { batch.keepsOutcomes = false }
        if fault == .forgetsThatItMayHaveBeenSent { batch.others = batch.others.map(Self.forgetful) }
        if fault == .defersDeferred { bringBack(batch) }
        base.settle(batch) { [fault] result in
            var result = result
            if fault == .countsGoneAsSettled, case .success(let report) = result {
                result = .success(SettlementReport(settled: report.settled + report.gone, gone: 0))
            }
            completion(result)
            if fault == .answersTwice { completion(result) }
        }
    }

    private static func forgetful(_ settlement: Settlement) -> Settlement {
        guard case .deferUntil(let due, let attempts, let reason, _) = settlement.kind else { return settlement }
        return Settlement(
            settlement.key, .deferUntil(due, attempts: attempts, reason: reason, possiblySent: false))
    }

    private func bringBack(_ batch: SettlementBatch) {
        for lane in Set(batch.others.map(\.key.lane)) {
            base.promoteDue(lane, after: nil, now: WallTime(milliseconds: .max), limit: .max) { _ in }
        }
    }

    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        base.promoteDue(
            lane, after: after, now: now, limit: fault == .promotesTooMany ? .max : limit, completion: completion)
    }

    func raiseMark(of lane: LaneID, to ceiling: UID) {
        guard fault != .raisesNoMarks else { return }
        ceilings.withLock { $0[lane] = ceiling }
        base.raiseMark(of: lane, to: ceiling)
    }

    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        base.lowerMark(of: lane, to: mark, completion: completion)
        if fault == .keepsCeilings, let ceiling = ceilings.withLock({ $0[lane] }) {
            base.raiseMark(of: lane, to: ceiling)
        }
    }

    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void) {
        if fault != .neverAnswers { base.trim(bounds, completion: completion) }
    }

    func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch {
        try base.unconfirmed(lane, after: after, through: through, limit: fault == .readsTooMuch ? .max : limit)
    }

    func endObserving() { base.endObserving() }

    func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError) {
        if fault == .takesTwoObservers { base.endObserving() }
        guard fault == .tellsOfNoDraining || fault == .measuresNothing else {
            return try base.observeCommits(observer)
        }
        try base.observeCommits { [fault] in
            observer(
                CommitReport(
                    lanes: $0.lanes, drained: fault == .tellsOfNoDraining ? [] : $0.drained,
                    newestOutcome: $0.newestOutcome, unreadOutcomes: $0.unreadOutcomes,
                    changesOutcomes: $0.changesOutcomes,
                    failure: $0.failure, measure: fault == .measuresNothing ? nil : $0.measure))
        }
    }

    var wallTimeAtOpen: WallTime? { fault == .forgetsTheTime ? nil : base.wallTimeAtOpen }

    // MARK: As they should be

    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening { try base.openLane(key) }
    func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        base.setState(of: lane, to: fault == .forgetsPauses ? .running : state, completion: completion)
    }
    func removeRejections(_ uids: [UID]) throws(JournalError) -> Int { try base.removeRejections(uids) }
    func openProducer(_ name: String) throws(JournalError) -> ProducerID { try base.openProducer(name) }
    var identityKey: IdentityKey { base.identityKey }
    var repeatKey: IdentityKey { base.repeatKey }
    var tellsRoom: Bool { base.tellsRoom }
    var wantOfRoom: JournalError? { base.wantOfRoom }
    var refusal: JournalError? { base.refusal }
    var firstUID: UID { base.firstUID }
    var handOutUntil: Duration? { nil }
    func nextDue(_ lane: LaneID, after: WallTime?) throws(JournalError) -> WallTime? {
        try base.nextDue(lane, after: after)
    }
    func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch {
        try base.unconfirmed(lane, uids: uids)
    }
    func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        base.quarantine(order, completion: completion)
    }
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
    ) {
        base.retryQuarantined(uids, now: now, completion: completion)
    }
    func depth(_ lane: LaneID) -> Int { base.depth(lane) }
    func backlog(of producer: ProducerID) -> Int { base.backlog(of: producer) }
    func producers() throws(JournalError) -> [ProducerStatus] { try base.producers() }
    func fate(of uid: UID) throws(JournalError) -> EntryFate? { try base.fate(of: uid) }
    var outcomeLog: OutcomeLogFigures { base.outcomeLog }
    var outcomeReaders: [OutcomeReader] { base.outcomeReaders }
    func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
        try base.outcomes(after: cursor, limit: limit)
    }
    func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int
    ) throws(JournalError) -> OutcomePage {
        try base.findOutcomes(query, before: before, limit: limit, mostBytes: mostBytes)
    }
    func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor {
        try base.openReader(name, isWaitedFor: isWaitedFor)
    }
    func setReader(
        _ name: String, to cursor: OutcomeCursor?,
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        base.setReader(name, to: cursor, completion: completion)
    }
    func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection] {
        try base.rejections(after: after, limit: limit)
    }
    var blacklist: any BlacklistStorage { base.blacklist }
    func note(_ name: String) throws(JournalError) -> [UInt8]? { try base.note(name) }
    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) { try base.setNote(name, to: value) }
    func status() throws(JournalError) -> JournalStatus { try base.status() }
    func close() { base.close() }
}
