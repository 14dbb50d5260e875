internal import Holdfast

/// The simulated disk as the engine sees it: everything goes on to an ``InMemoryJournal``, and the world hears of it.
final class ObservedJournal: JournalService, @unchecked Sendable {  // confined to the simulation's thread
    private let base: any JournalService
    private unowned let world: World
    private let life: Int
    private let tokens: ObservedBlacklist

    init(_ base: any JournalService, world: World) {
        self.base = base
        self.world = world
        life = world.life
        tokens = ObservedBlacklist(base.blacklist, world: world)
    }

    /// Whether the journal is its engine's: a former owner's decisions are about what it knows, and come to nothing.
    private var isCurrent: Bool { world.life == life }

    private func asked(_ what: @autoclosure () -> String) {
        guard isCurrent else { return }
        world.activity += 1
        world.note("journal <- \(what())")
    }

    // MARK: Calls that change something

    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening {
        world.storage.changed()
        defer { world.storage.changed() }
        return try base.openLane(key)
    }

    func openProducer(_ name: String) throws(JournalError) -> ProducerID {
        world.storage.changed()
        defer { world.storage.changed() }
        return try base.openProducer(name)
    }

    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void) {
        asked("append \(submission.items.count)")
        base.append(submission, completion: completion)
    }

    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        asked("settle \(batch.count), \(batch.possibleDuplicates) possible duplicates")
        if isCurrent { world.checkDecisions(batch) }
        base.settle(batch, completion: completion)
    }

    func raiseMark(of lane: LaneID, to ceiling: UID) {
        asked("mark of \(lane.rawValue) up to \(ceiling)")
        base.raiseMark(of: lane, to: ceiling)
    }

    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        asked("mark of \(lane.rawValue) down to \(mark)")
        base.lowerMark(of: lane, to: mark) { [weak world, life] result in
            if case .failure = result, world?.life == life { world?.rules.loweringHasFailed = true }
            completion(result)
        }
    }

    func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        asked("state of \(lane.rawValue): \(state)")
        guard isCurrent else { return base.setState(of: lane, to: state, completion: completion) }
        if case .stopped = state { world.rules.stopped.insert(lane) } else { world.rules.stopped.remove(lane) }
        base.setState(of: lane, to: state, completion: completion)
    }

    func removeRejections(_ uids: [UID]) throws(JournalError) -> Int {
        world.storage.changed()
        defer { world.storage.changed() }
        return try base.removeRejections(uids)
    }

    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        asked("promote of \(lane.rawValue), \(limit) at most")
        base.promoteDue(lane, after: after, now: now, limit: limit) { [weak world] result in
            world?.promoted(result)
            completion(result)
        }
    }

    func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor {
        world.storage.changed()
        defer { world.storage.changed() }
        return try base.openReader(name, isWaitedFor: isWaitedFor)
    }

    func setReader(
        _ name: String, to cursor: OutcomeCursor?,
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        asked("set the reader \(name) to \(cursor.map { "\($0)" } ?? "nothing")")
        base.setReader(name, to: cursor, completion: completion)
    }

    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void) {
        asked("trim")
        if isCurrent {
            world.rules.hasTrimmed = true
            world.checkTrim(bounds)
        }
        base.trim(bounds, completion: completion)
    }

    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError) {
        world.storage.changed()
        defer { world.storage.changed() }
        try base.setNote(name, to: value)
    }

    func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError) {
        try base.observeCommits(observer)
    }

    var handOutUntil: Duration? { world.handOutUntil(life: life) }

    func endObserving() { base.endObserving() }

    func close() { base.close() }

    // MARK: Reads

    var identityKey: IdentityKey { base.identityKey }
    var repeatKey: IdentityKey { base.repeatKey }
    var tellsRoom: Bool { base.tellsRoom }
    var wantOfRoom: JournalError? { base.wantOfRoom }
    var refusal: JournalError? { base.refusal }
    var firstUID: UID { base.firstUID }
    var wallTimeAtOpen: WallTime? { base.wallTimeAtOpen }
    var blacklist: any BlacklistStorage { tokens }
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
    ) {
        asked("quarantine \(order.items.count)")
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

/// The simulated blacklist as the engine sees it.
final class ObservedBlacklist: BlacklistStorage, @unchecked Sendable {  // confined to the simulation's thread
    private let base: any BlacklistStorage
    private unowned let world: World
    private let life: Int

    init(_ base: any BlacklistStorage, world: World) {
        self.base = base
        self.world = world
        life = world.life
    }

    var count: Int { base.count }
    var lastNumber: UInt64 { base.lastNumber }

    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        try base.entries(for: recipient)
    }

    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup { try base.lookUp(batch) }

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        if world.life == life {
            world.activity += 1
            world.checkBlacklisting(entries)
        }
        base.add(entries, completion: completion)
    }

    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        if world.life == life { world.activity += 1 }
        for registration in registrations { world.ledger.lifted.insert(registration.recipient) }
        base.lift(registrations, completion: completion)
    }

    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int { try base.remove(keys) }

    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try base.list(after: after, limit: limit)
    }
}
