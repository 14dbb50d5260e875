/// One lane's reading position: what to read next from the journal, and how far its send mark must have come first.
///
/// A pure machine. The journal is the queue: what it holds here is a cursor, the durable mark, and the UIDs that go again,
/// which are at most as many as the window takes.
struct LaneStateMachine: Sendable {
    /// A UID to send again, in its place.
    struct Again: Hashable, Sendable {
        let uid: UID
        let possiblySent: Bool
    }

    /// An event that may end a stop before a probe does.
    enum StopRemedy: Hashable, Sendable {
        /// A connection, which is tried again and again.
        case connection
        /// Other credentials.
        case credentials
        /// An answer of the service itself to any lane of the route, after another server had answered in its place.
        case service
    }

    /// The next step of the lane.
    enum Step: Hashable, Sendable {
        /// Read these again, ascending; see ``LaneStateMachine/takeAgain(_:)``.
        case readAgain([Again])
        /// Read forward: entries above `after`, up to and including `through`.
        case read(after: UID, through: UID)
        /// Read forward to learn how far the mark must rise; nothing of it may go out yet.
        case peek(after: UID)
        /// Nothing, until an append, a mark or a requeue comes.
        case none
    }

    let key: LaneKey
    let id: LaneID
    /// Entries at or below were possibly sent by an earlier process, unless they have been deferred since.
    let markAtOpen: UID
    /// Deferred entries may lie ahead of the reading up to here: an earlier process left them, or an operator put them in.
    private var deferredThrough: UID
    /// Operators' batches on their way into the journal, which may put deferred entries anywhere ahead of the reading.
    private var restoring = 0
    /// Deferred entries are being brought back: the journal may have moved some that this machine has not heard of.
    private(set) var isPromoting = false
    /// Whether it brings back what was scheduled, which may lie ahead of the reading, however new it is.
    private var promotesScheduled = false
    /// The greatest UID that this process has handed out.
    private var handedOutThrough: UID = .none
    private(set) var state: LaneState
    /// The event that ends a stop by this process, without an operator or a probe.
    private(set) var remedy: StopRemedy?
    /// By an earlier process, which is no reason for this one.
    private(set) var wasStopped: Bool
    /// The greatest UID read forward.
    private(set) var cursor: UID = .none
    /// The send mark on disk.
    private(set) var mark: UID
    /// The greatest UID on disk.
    private(set) var lastUID: UID
    /// The ceiling that was last requested from the journal.
    private var ceiling: UID
    private(set) var again = RequeuedRuns()
    /// Entries with one attempt that the mark covers, or is asked to cover, and that have not been read. Each has a place in
    /// a window, which nothing else takes: a crash makes *unknown* what the mark covers.
    private(set) var forwardPlaces = 0
    /// Places for what a mark covers that is being set back.
    private(set) var loweredPlaces = 0
    /// Places for what a promotion brings back.
    private(set) var promotionPlaces = 0
    /// Nothing lies above ``ceiling`` up to here. For lanes with one attempt.
    private var emptyThrough: UID = .none
    /// Deferred entries that came back before the reading had reached them, and are not settled: they go by way of
    /// `again`, and the reading passes over them. At most as many as are in flight or go again.
    private var ahead: Set<UID> = []
    /// How far ahead of reading the mark is asked to be, in UIDs.
    private let lookahead: UInt64
    /// The mark is being set back.
    private(set) var isLowering = false
    /// One entry of the stopped lane may go out, to learn whether the cause is gone.
    var mayProbe = false

    init(key: LaneKey, opening: LaneOpening, lookahead: Int) {
        self.key = key
        id = opening.id
        markAtOpen = opening.markAtOpen
        mark = opening.markAtOpen
        ceiling = opening.markAtOpen
        lastUID = opening.lastUID
        if case .stopped = opening.state { wasStopped = true } else { wasStopped = false }
        state = wasStopped ? .running : opening.state
        deferredThrough = opening.lastUID
        self.lookahead = UInt64(lookahead)
    }

    /// Goes on where one ended of which nothing is in flight any more: with its place in the lane, with what goes again, and
    /// with an operator's pause. What has stopped it is tried again.
    init(succeeding other: LaneStateMachine) {
        self = other
        if case .stopped = state { wasStopped = true } else { wasStopped = false }
        if wasStopped { resume() }
    }

    var againCount: Int { again.count }

    /// At most so many entries wait to be handed out.
    var greatestWaiting: Int { again.count + Int(clamping: lastUID.rawValue - min(cursor, lastUID).rawValue) }
    var isRunning: Bool { state == .running }

    var isPaused: Bool { if case .paused = state { true } else { false } }
    /// By itself; not by an operator.
    var isStopped: Bool { if case .stopped = state { true } else { false } }
    /// Whether anything goes out: all there is, or a probe.
    var handsOut: Bool { mayProbe || isRunning }

    /// Whether deferred entries may lie ahead of the reading.
    var mayHaveDeferredAhead: Bool { restoring > 0 || cursor < deferredThrough }

    /// A promotion is exclusive: what it moves ahead of the reading must not be read before it is heard of, or it would be
    /// handed out as new and again as promoted.
    var holdsReading: Bool { isPromoting && (mayHaveDeferredAhead || promotesScheduled) }

    /// Whether entries that an earlier process may have sent lie ahead of the reading.
    var mustKeepMark: Bool { cursor < markAtOpen }

    /// Whether anything may be waiting to go out, as far as this machine knows.
    var hasWork: Bool { !again.isEmpty || hasForwardWork }

    /// Whether something lies above what was read forward: it was never handed out.
    var hasForwardWork: Bool { cursor < lastUID }

    /// The next step for a connection with room.
    ///
    /// - Parameter passedOver: entries to send again after others.
    func nextStep(limit: Int, passingOver passedOver: Set<UID> = []) -> Step {
        guard handsOut, limit > 0, !isLowering else { return .none }
        if !again.isEmpty {
            let next = passedOver.isEmpty ? again.prefix(limit) : goesNext(limit, passingOver: passedOver)
            if !next.isEmpty { return .readAgain(next) }
        }
        if holdsReading { return .none }
        let end = min(mark, lastUID)
        if cursor < end { return .read(after: cursor, through: end) }
        return peekStart < lastUID ? .peek(after: peekStart) : .none
    }

    /// Above here nothing has a place yet: where the next look for entries begins.
    var peekStart: UID { key.guarantee == .atLeastOnce ? cursor : max(cursor, ceiling, emptyThrough) }

    /// The number of leading entries that the mark covers. An entry deferred by an earlier process may lie above the mark; sent
    /// before the mark covers it, it would look never sent after a crash.
    func covered(_ entries: [Again]) -> Int { entries.prefix { $0.uid <= mark }.count }

    private func goesNext(_ limit: Int, passingOver passedOver: Set<UID>) -> [Again] {
        Array(again.prefix(limit + passedOver.count).filter { !passedOver.contains($0.uid) }.prefix(limit))
    }

    /// Removes entries that ``nextStep(limit:passingOver:)`` gave, and that have been dealt with.
    ///
    /// - Parameter isFront: whether no other entry that is sent again lies before or between them.
    mutating func takeAgain(_ taken: [Again], isFront: Bool = true) {
        if isFront { again.removeFirst(taken.count) } else { again.remove(taken.map(\.uid)) }
    }

    /// Takes all entries that are sent again, at most `limit`, for another use.
    mutating func takeAllAgain(limit: Int) -> [Again] {
        let taken = again.prefix(limit)
        again.removeFirst(taken.count)
        return taken
    }

    /// Entries up to `uid` went to a connection.
    mutating func handedOut(through uid: UID) { handedOutThrough = max(handedOutThrough, uid) }

    /// Whether an entry from `uid` on may be in flight. The reading is ahead of everything that was handed out, so for what
    /// is read forward this is no, at the cost of a comparison.
    func mayBeInFlight(from uid: UID) -> Bool { uid <= handedOutThrough }

    /// Everything up to and including `uid` was read forward.
    ///
    /// - Parameter count: entries that were read. Their places are in windows now, or free.
    mutating func advance(to uid: UID, count: Int = 0) {
        cursor = max(cursor, uid)
        guard key.guarantee == .atMostOnce else { return }
        forwardPlaces = cursor < ceiling ? max(forwardPlaces - count, 0) : 0
        if cursor >= ceiling { cursor = max(cursor, emptyThrough) }
    }

    /// A look ahead of the mark has found nothing.
    mutating func peekedNothing() {
        guard key.guarantee == .atMostOnce, cursor < ceiling else { return advance(to: lastUID) }
        emptyThrough = max(emptyThrough, lastUID)
    }

    /// How far the mark may rise, if it is time to ask. With at-least-once it is kept one to two lookaheads before the
    /// reading, so that it rides on commits that come anyway.
    mutating func raiseAhead() -> UID? {
        guard key.guarantee == .atLeastOnce, isRunning, !isLowering, ceiling.rawValue < cursor.rawValue &+ lookahead
        else {
            return nil
        }
        ceiling = UID(cursor.rawValue &+ 2 &* lookahead)
        return ceiling
    }

    /// The next entries to go out end at `uid`; nothing of them may go before the mark covers it.
    ///
    /// - Parameter places: places that these entries have from now on, in a lane with one attempt.
    /// - Returns: the ceiling to ask for; nil when it was asked for already.
    mutating func raise(through uid: UID, places: Int = 0) -> UID? {
        guard uid > ceiling else { return nil }
        if key.guarantee == .atMostOnce { forwardPlaces += places }
        ceiling = key.guarantee == .atLeastOnce ? UID(uid.rawValue &+ lookahead) : uid
        return ceiling
    }

    /// How far the mark must still reach when nothing is in flight any more: to the last entry that may have been sent,
    /// by this process or by an earlier one whose entries the reading has not come to.
    var markAtRest: UID {
        let possiblySent = again.lastPossiblySent ?? .none
        return mustKeepMark ? max(possiblySent, markAtOpen) : possiblySent
    }

    /// - Parameter mark: as the last commit left it: it may have been set back.
    mutating func committed(lastUID: UID, mark: UID) {
        self.lastUID = max(self.lastUID, lastUID)
        self.mark = mark
    }

    /// The mark of a lane with one attempt is to stand where the hand-outs ended, while nothing can go out: a crash would
    /// make *unknown* what lies between, although it never left. So is the mark of a lane that an operator has paused, maybe
    /// for long: a crash would make it a possible duplicate.
    ///
    /// - Returns: where to set it back to, after which nothing goes out before ``markLowered()``; nil when it stands right.
    mutating func retreat() -> UID? {
        guard key.guarantee == .atMostOnce || isPaused, !isLowering, ceiling > cursor, cursor >= markAtOpen else {
            return nil
        }
        return lower(to: cursor)
    }

    /// ``retreat()`` for all lanes, at an orderly end.
    mutating func retreatToRest() -> UID? {
        let rest = markAtRest
        guard !isLowering else { return nil }
        return rest < max(mark, ceiling) ? lower(to: rest) : nil
    }

    private mutating func lower(to uid: UID) -> UID {
        ceiling = uid
        isLowering = true
        (loweredPlaces, forwardPlaces) = (forwardPlaces, 0)
        emptyThrough = .none
        return uid
    }

    /// The mark has been set back; what it is now came with the commit. Or it could not be, and stands where it was.
    mutating func markLowered(_ isLowered: Bool = true) {
        isLowering = false
        // Nothing more is asked for: the step back has also taken back what was asked for before, and not written yet.
        ceiling = mark
        if !isLowered, ceiling > cursor { forwardPlaces += loweredPlaces }
        loweredPlaces = 0
    }

    /// Queues entries to be sent again in their order, before entries that were not handed out yet.
    mutating func requeue(_ entries: [Again]) {
        again.insert(entries.map { .init($0.uid.rawValue...$0.uid.rawValue, possiblySent: $0.possiblySent) })
    }

    /// Requeues runs of neighbours.
    mutating func requeue(_ runs: [RequeuedRuns.Run]) { again.insert(runs) }

    /// The journal is asked to bring deferred entries back. One promotion at a time.
    ///
    /// - Parameters:
    ///   - places: places that are kept for what comes, in a lane with one attempt.
    ///   - ofScheduled: whether what comes was never handed out.
    mutating func beginPromotion(places: Int = 0, ofScheduled: Bool = false) {
        isPromoting = true
        promotesScheduled = ofScheduled
        promotionPlaces = key.guarantee == .atMostOnce ? places : 0
    }

    /// The journal has said what came of it.
    mutating func endPromotion() {
        isPromoting = false
        promotesScheduled = false
        promotionPlaces = 0
    }

    /// An operator's batch is about to be put into the journal. The word comes before the batch: afterwards a commit
    /// could be read ahead of the word.
    mutating func beginRestoring() { restoring += 1 }

    /// Batches have been put into the journal, or not: what came lies at or below ``lastUID``.
    mutating func endRestoring(_ count: Int) {
        restoring = max(restoring - count, 0)
        deferredThrough = max(deferredThrough, lastUID)
    }

    /// Records that deferred entries are no longer deferred. Their records say whether they may have been sent.
    ///
    /// Entries that the cursor has yet to reach need nothing, unless they lie below the mark at opening: there they would count
    /// as possibly sent by an earlier process, so they are added to `again`.
    mutating func promoted(_ uids: [UID]) {
        let ahead = uids.filter { $0 > cursor && $0 <= markAtOpen }
        self.ahead.formUnion(ahead)
        if key.guarantee == .atMostOnce, uids.contains(where: { $0 > cursor }) {
            forwardPlaces += uids.count { $0 > max(cursor, markAtOpen) && $0 <= ceiling }
            emptyThrough = .none
        }
        requeue((uids.filter { $0 <= cursor } + ahead).map { Again(uid: $0, possiblySent: false) })
    }

    /// An entry's settlement is on disk.
    mutating func settled(_ uid: UID) {
        if !ahead.isEmpty { ahead.remove(uid) }
    }

    /// Records that entries were taken back durably: they are not sent again, and no mark has to cover them.
    mutating func takenBack(_ uids: some Sequence<UID>) {
        if !again.isEmpty { again.remove(Array(uids)) }
    }

    /// The indices, ascending, of what a forward read must pass over since it goes another way.
    mutating func passOver(in batch: EntryBatch) -> [Int] {
        guard !ahead.isEmpty else { return [] }
        return batch.items.indices.filter { ahead.remove(batch.items[$0].uid) != nil }
    }

    // MARK: Whether anything goes out

    /// - Parameter remedy: what ends it at once; nil for what a probe or an operator's word ends.
    mutating func stop(_ reason: String, remedy: StopRemedy? = nil, since: WallTime) {
        // An operator's word is stronger.
        guard case .running = state else { return }
        state = .stopped(reason: reason, since: since)
        self.remedy = remedy
    }

    mutating func pause(_ reason: String, since: WallTime) {
        state = .paused(reason: reason, since: since)
        remedy = nil
        mayProbe = false
    }

    mutating func resume() {
        state = .running
        remedy = nil
        mayProbe = false
    }

    /// Whether the lane has something to send, and is stopped until there is a connection.
    var longsForConnection: Bool { remedy == .connection && hasWork }

    // MARK: Where an entry stands

    /// Whether an entry waits to be sent again, with whether it may have been sent; nil if it does not.
    func goesAgain(_ uid: UID) -> Bool? { again.possiblySent(uid) }

    /// Whether an entry that is among the unconfirmed waits to be handed out: with whether it may have been sent. Nil for
    /// one that was handed out.
    func waits(_ uid: UID) -> Bool? {
        if let possiblySent = goesAgain(uid) { return possiblySent }
        return uid > cursor && !ahead.contains(uid) ? uid <= markAtOpen : nil
    }
}
