internal import Logging

/// Reads one route's lanes forward from the journal, hands entries to the connection, reports what was sent, and tells the
/// Producer what came of it.
///
/// Everything but the inbox belongs to whoever calls ``turn()``, one caller at a time: the route's thread, or a simulation.
/// One turn takes all that the inbox holds, so under load the cost of a turn is shared by hundreds of entries.
///
/// Unchecked, since the inbox is a Monitor, and all else is confined to the caller of ``turn()``.
package final class Consumer: @unchecked Sendable {
    /// How a Consumer's work ended.
    package enum End: Sendable {
        case shutDown
        case failed(JournalError)
    }

    /// What a Consumer shares with the others of its engine.
    struct Surroundings: Sendable {
        let producer: Producer
        let clock: EngineClock
        let logger: Logger
        let board: StatusBoard
        let events: EventHub
        let observer: EngineObserver
        let gate: OutcomeGate
        let clockTrust: ClockTrust
        /// Has another route of the engine look again.
        let wakeRoute: @Sendable (Int) -> Void
    }

    /// The number of the link for settlements that no connection has to do with.
    static let noConnection = ServiceVoices.nobody

    /// What a shutdown that has reached its limit gives the journal to write what it has.
    static let graceAfterLimit = Duration.seconds(1)

    /// Its name and its connector stay what they are; the rest may change.
    private(set) var route: Route
    let name: String
    let connector: any Connector
    /// Of the Consumer in its engine, and of no other that there ever is in it.
    let index: Int
    let journal: any Journal
    let producer: Producer
    let settler: Settler
    private(set) var configuration: EngineConfiguration
    let clock: EngineClock
    let board: StatusBoard
    let log: EngineLog
    let observer: RouteObserver
    let events: EventHub
    let gate: OutcomeGate
    let wakeRoute: @Sendable (Int) -> Void
    let inbox = Monitor(ConsumerInbox())
    /// Asks for a connection with this number; the outcome comes to the inbox.
    let requestConnection: @Sendable (Int) -> Void

    var lanes: [LaneStateMachine]
    var breakers: TopicBreakers
    /// One for each lane.
    var uniforms: [UniformRefusals]
    /// One for each lane.
    var probes: [LaneProbe]
    var credentialTrial: CredentialTrial
    var credentialTopics = CredentialTopics()
    var share: LaneShare
    var topicHold: TopicHold
    /// What is being brought back for topics, by lane.
    var topicCalls: [Int: TopicHold.Call] = [:]
    /// What the status board has been told of topics.
    var publishedTopics: [TopicHold.Standing] = []
    /// Tokens and topics of all suspects; nothing else of that topic goes to them meanwhile.
    var suspectTokens: Set<TokenOfTopic> = []
    /// The number of this turn. It goes round.
    var turnNumber: UInt32 = 0
    var links: [Int: Link] = [Consumer.noConnection: Link()]
    var pool: ConnectionPool
    var scaler: ConnectionScaler
    var nextConnection = 1
    var random: Xoshiro256
    let clockTrust: ClockTrust
    /// Of this turn.
    var clockReading: ClockTrust.Reading
    var clockHold = ClockHold()
    /// What is being brought back for it, by lane.
    var clockCalls: [Int: WallTime] = [:]
    var housekeeping: Housekeeping
    var reports: ReportInterval

    /// One for each lane.
    var censuses: [LaneCensus]
    /// When the first deferred entry of a lane is due; by lane.
    var deferredDue: [(monotonic: Duration, wall: WallTime)?]
    /// When to look for entries that were deferred by a clock that was ahead; by lane.
    var strandedLookAt: [Duration]
    /// Lanes in which they are looked for behind what is held for the clock.
    var strandedAbove: Set<Int> = []
    /// Lanes of which a promotion has just ended: what is ahead in them is handed out before the next one begins.
    var hasPromoted: Set<Int> = []
    /// Lanes to which what was due came back last, and not what had waited for its topic or for the clock.
    var haveHadDue: Set<Int> = []
    /// Events of a connection whose making was not reported yet.
    var earlyEvents: [(connection: Int, event: ConnectorEvent)] = []
    /// What the status board has been told.
    var publishedLanes: [StatusBoard.LaneStanding] = []
    /// Settlements that the journal could not write, to be tried again.
    var unwritten: [(due: Duration, connection: Int, work: SettlementWork)] = []
    /// Answers about tokens that could not be read, to be tried again; with the time of the answer.
    var unread: [(due: Duration, connection: Int, plan: SettlementPlan, answeredAt: WallTime)] = []
    /// Unreadable entries that could not be moved aside, to be tried again.
    var unmoved: [(due: Duration, order: QuarantineOrder)] = []
    /// Settlements with the journal, and orders to move unreadable entries aside.
    var beingWritten = 0
    /// Not before this does the Consumer read again, after a read that failed.
    var readAgainAt: Duration?
    /// Not before this are send marks set back, after one that could not be.
    var retreatAgainAt: Duration?
    /// Until then nothing is sent, by the service's word.
    var parkedUntil: Duration?
    /// The same for people. It means something only while ``parkedUntil`` is set.
    var parking: EngineStatus.Parking?
    /// Errors that deny what silence has confirmed, and whose entries are not being recalled yet.
    var lateErrors: [LateError] = []
    /// A payload error is being settled: nothing goes out before that is on disk.
    var settlesPayloadError = false
    /// The outcomes' limit was met at the last look.
    var outcomesAreFull = false
    /// What was said last about holding.
    var publishedHold: HoldReason?

    var shutdownDeadline: Duration?
    /// What ends is this Consumer and not the engine.
    var retirement: Retirement?
    /// Taken back by an operator, and not settled on disk yet: nothing of them goes out any more.
    var withdrawing: Set<EntryKey> = []
    /// To be done when what is coming back has come.
    var withdrawalsInWaiting: [WithdrawalOrder] = []
    /// Nil for a route without a limit.
    var rate: RateLimiter?
    var throttle: RouteThrottle
    /// Since when the service throttles; nil while it does not.
    var throttled: EngineStatus.Throttle?
    /// What the service refused for now last.
    var lastRefused: EntryKey?
    var refusedEntries = RefusedEntries()
    var caution = Caution()

    /// The orderly end has come so far that send marks are being set back.
    var marksAreLowered = false
    /// Why the work ends, when what is in flight has its answers.
    var failing: JournalError?
    package internal(set) var end: End?

    /// What a Consumer begins with.
    enum Lanes {
        case opened([(key: LaneKey, opening: LaneOpening)])
        /// Those of a Consumer that has ended, as it left them.
        case takenOver(Consumer)
    }

    /// - Parameter isInCharge: of what one Consumer of an engine does for all.
    init(
        index: Int, route: Route, lanes opened: Lanes, in surroundings: Surroundings,
        configuration: EngineConfiguration, isInCharge: Bool, randomSeed: UInt64,
        requestConnection: @escaping @Sendable (Int) -> Void
    ) {
        self.index = index
        self.route = route
        name = route.name
        connector = route.connector
        producer = surroundings.producer
        settler = Settler(producer)
        journal = producer.journal
        self.configuration = configuration
        clock = surroundings.clock
        log = EngineLog(surroundings.logger, clock: clock, interval: configuration.logInterval, route: name)
        observer = RouteObserver(
            surroundings.observer, route: name, index: index, log: log, measureInterval: configuration.measureInterval)
        board = surroundings.board
        events = surroundings.events
        gate = surroundings.gate
        wakeRoute = surroundings.wakeRoute
        self.requestConnection = requestConnection
        random = Xoshiro256(seed: randomSeed)
        // Half a window ahead is far enough for a turn's reading, and no more than needed counts as possibly sent.
        let lookahead = max(min(configuration.window, 10_000) / 2, 1)
        lanes =
            switch opened {
            case .opened(let lanes):
                lanes.map { LaneStateMachine(key: $0.key, opening: $0.opening, lookahead: lookahead) }
            case .takenOver(let other): other.lanes.map { LaneStateMachine(succeeding: $0) }
            }
        share = LaneShare(lanes.map(\.key.urgency))
        breakers = TopicBreakers(
            policy: configuration.suspects, proven: Self.provenTopics(of: route, in: producer.journal, log))
        uniforms = lanes.map { _ in UniformRefusals() }
        probes = lanes.map { _ in LaneProbe() }
        censuses = lanes.map { _ in LaneCensus() }
        credentialTrial = CredentialTrial(policy: configuration.credentials)
        topicHold = TopicHold(policy: configuration.topics, lanes: lanes.count, now: clock.monotonic())
        deferredDue = lanes.map { _ in nil }
        strandedLookAt = lanes.map { _ in .zero }
        pool = ConnectionPool(
            limit: route.connections, reconnect: configuration.reconnectSchedule,
            budget: configuration.reconnectBudget(for: route.connector.confirmationMode))
        scaler = ConnectionScaler(route.scaling)
        // The rate is the route's, whichever connector it has.
        if case .takenOver(let other) = opened, other.rate?.limit == route.rate {
            rate = other.rate
        } else {
            rate = route.rate.map { RateLimiter($0) }
        }
        throttle = Self.throttle(configuration, succeeding: opened, connector: route.connector)
        if case .takenOver(let other) = opened, throttle.isThrottling { throttled = other.throttled }
        clockTrust = surroundings.clockTrust
        clockReading = ClockTrust.Reading(
            isTrusted: false, distrustedUntil: nil, earliest: WallTime(milliseconds: 0), memory: nil)
        housekeeping = Housekeeping(configuration, isInCharge: isInCharge)
        reports = ReportInterval(configuration.reportInterval, isInCharge: isInCharge)
    }

    /// Works on by other terms, with the connections that it has.
    private func take(_ terms: ConsumerInbox.Terms, now: Duration) {
        let (old, new) = (route, terms.route)
        (route, configuration) = (new, terms.configuration)
        pool.change(
            limit: new.connections, reconnect: configuration.reconnectSchedule,
            budget: configuration.reconnectBudget(for: connector.confirmationMode))
        leaveSurplus(now: now)
        if new.scaling != old.scaling { scaler = ConnectionScaler(new.scaling) }
        if new.rate != old.rate { rate = new.rate.map { RateLimiter($0) } }
        throttle.change(to: configuration.throttle, window: configuration.window)
        breakers.policy = configuration.suspects
        credentialTrial.policy = configuration.credentials
        topicHold.policy = configuration.topics
        topicHold.hurry(now: clock.monotonic(), wall: clock.wall())
        housekeeping.change(to: configuration)
        reports.change(to: configuration.reportInterval, isInCharge: housekeeping.isInCharge)
    }

    /// One Consumer does some things for all of the engine's, and from now on it is this one.
    private func takeCharge(_ reports: ReportInterval) {
        housekeeping.isInCharge = true
        self.reports = reports
        self.reports.change(to: configuration.reportInterval, isInCharge: true)
    }

    /// The most entries in flight.
    var windowLimit: Int {
        switch connector.confirmationMode {
        case .perNotification: max(configuration.window, 1)
        case .cumulative: linkWindowLimit * pool.limit
        }
    }

    /// The most entries in flight on one connection.
    var linkWindowLimit: Int {
        switch connector.confirmationMode {
        case .perNotification: windowLimit
        case .cumulative: max(configuration.cumulativeWindow, 1)
        }
    }

    /// Entries of all connections that are in flight.
    var inFlight: Int { links.values.reduce(0) { $0 + $1.count } }

    /// The most entries that may be in flight now. Suspects take no places, since a window full of them would leave none for
    /// what shows whether the service takes anything; but no more than a window, or than an unproven topic may have.
    var placeLimit: Int {
        guard !suspectTokens.isEmpty, connector.confirmationMode == .perNotification else { return windowLimit }
        return windowLimit + min(breakers.heldCount, max(windowLimit, breakers.policy.greatestHeldUnproven))
    }

    /// Links in the order of their numbers: what is done for each is done in the same order each time.
    var orderedLinks: [(key: Int, value: Link)] { links.sorted { $0.key < $1.key } }

    /// Leaves something in the inbox and wakes the thread. From any thread.
    ///
    /// - Returns: false when nobody takes anything out any more; then it is not left.
    @discardableResult
    func post(_ change: (inout ConsumerInbox) -> Void) -> Bool {
        let (isOver, wasEmpty) = inbox.withLock { inbox in
            defer { if !inbox.isOver { change(&inbox) } }
            return (inbox.isOver, inbox.isEmpty)
        }
        if wasEmpty, !isOver { inbox.signal() }
        return !isOver
    }

    /// Reads the deferred entries' due times; before the first turn. What an earlier process has stopped is tried again.
    func start() {
        for index in lanes.indices where lanes[index].wasStopped { noteState(index) }
        let now = clock.monotonic()
        // A clock that was ahead in the last process may have left due times that are far off: those need not wait again.
        for index in lanes.indices { strandedLookAt[index] = now }
        for index in lanes.indices where refreshDeferred(index, now: now) { topicHold.lookThrough(lane: index) }
        let depth = lanes.reduce(0) { $0 + journal.depth($1.id) }
        log(
            .routeStarted, "route \(name) delivers to \(connector.endpoint); \(depth) wait",
            ["endpoint": .string(connector.endpoint), "depth": .count(depth)])
    }

    /// Does everything there is to do at the moment.
    ///
    /// - Returns: when to come back at the latest, by the monotonic clock; nil when only the inbox can bring more.
    func turn() -> Duration? {
        var received = ConsumerInbox()
        inbox.withLock { swap(&$0, &received) }
        let now = clock.monotonic()
        let wall = clock.wall()
        lookAtClocks(now: now, wall: wall)

        takeCommits(received.commits)
        takeSettled(received.settled, now: now, wall: wall)
        takeConnected(received.connected, now: now)
        takeEvents(earlyEvents + received.events, now: now, wall: wall)
        takePromoted(received.promoted, now: now)
        takeQuarantined(received.quarantined, now: now)
        takeOperators(received, now: now, wall: wall)
        for (lane, isLowered) in received.marksLowered {
            lanes[lane].markLowered(isLowered)
            if !isLowered { retreatAgainAt = now + configuration.settlementRetry }
        }
        if let failure = received.failure { endWork(failure) }
        if received.credentialsChanged { takeNewCredentials(now: now) }
        if let reports = received.takesCharge { takeCharge(reports) }
        if let terms = received.terms { take(terms, now: now) }
        if let retirement = received.retirementAsked { retire(retirement, now: now) }
        if received.shutdownAsked { beginShutdown(now: now) }
        if end == nil { runTimers(now: now, wall: wall) }

        if end == nil, shutdownDeadline == nil {
            // First, so that nothing else gets the places of what a mark still covers.
            retreatMarks(now: now, wall: wall)
            handOut(now: now, wall: wall)
            promoteDue(now: now)
            scaleConnections(now: now)
            connectIfNeeded(now: now)
            writeWantedBarriers(now: now)
            retreatMarks(now: now, wall: wall)
        }
        keepProvenTopics(wall: wall)
        progressShutdown(now: now, wall: wall)
        for denied in gate.settle(route: index, inFlight: inFlight + keptPlaces()) { wakeRoute(denied) }
        publish(answersNudge: received.nudged)
        observeTurn(hadNews: !received.isEmpty, now: now, wall: wall)
        return end == nil ? nextWake(now: now) : nil
    }

    /// Blocks until the inbox has something, or until `wake` by the monotonic clock.
    func waitForWork(until wake: Duration?) {
        // No longer than an hour, and a millisecond behind the time rather than before it.
        let limit = wake.map { min(max($0 - clock.monotonic(), .zero), .seconds(3600)) + .milliseconds(1) }
        _ = inbox.wait(atMost: limit) { inbox -> Void? in inbox.isEmpty ? nil : () }
    }

    private func lookAtClocks(now: Duration, wall: WallTime) {
        let before = clockReading.distrustedUntil
        clockReading = clockTrust.look(wall: wall, monotonic: now)
        lookAtClockHold(before: before, now: now)
        tellClock(clockTrust.takeNews())
        turnNumber &+= 1
        for link in links.values { link.look(now: now, turn: turnNumber) }
        breakers.look(turn: turnNumber)
        if throttle.isThrottling {
            throttle.look(now: now)
            tellThrottle(wasPaused: true, now: now, wall: wall)
        }
    }

    private func takeCommits(_ commits: [LaneID: CommitReport.Lane]) {
        guard !commits.isEmpty else { return }
        for index in lanes.indices {
            guard let commit = commits[lanes[index].id] else { continue }
            if commit.mark != lanes[index].mark {
                log(
                    .markMoved, "the send mark of \(lanes[index].key) is at \(commit.mark)",
                    ["lane": .lane(lanes[index].key), "mark": .stringConvertible(commit.mark)])
            }
            lanes[index].committed(lastUID: commit.lastUID, mark: commit.mark)
        }
    }

    private func nextWake(now: Duration) -> Duration? {
        var wakes: [Duration] = unwritten.map(\.due) + unread.map(\.due) + unmoved.map(\.due)
        if let retreatAgainAt { wakes.append(retreatAgainAt) }
        if let limit = shutdownDeadline, now < limit + Self.graceAfterLimit {
            wakes.append(limit <= now ? limit + Self.graceAfterLimit : limit)
        }
        if let readAgainAt { wakes.append(readAgainAt) }
        if let until = clockReading.distrustedUntil { wakes.append(until) }
        for link in links.values { wakes += wakesOf(link) }
        guard shutdownDeadline == nil else { return wakes.min() }
        if let parkedUntil { wakes.append(parkedUntil) }
        if let rate, isSlowedDown, isRateUsedUp { wakes.append(rate.nextAllowance(now: now)) }
        if let wake = throttleWake(now: now) { wakes.append(wake) }
        if let wake = trialWake(now: now) { wakes.append(wake) }
        if let until = pool.nextAttempt { wakes.append(until) }
        if !pool.active.isEmpty,
            let look = scaler.nextLook(count: pool.active.count, limit: pool.limit, now: now)
        {
            wakes.append(look)
        }
        if let next = housekeeping.next { wakes.append(next) }
        wakes += observationWakes
        if let at = breakers.judgementAt { wakes.append(at) }
        wakes += probeWakes
        wakes += censusWakes
        if let wake = topicHold.wake { wakes.append(wake) }
        if awaitsDeferred {
            for lane in lanes.indices where mayPromoteOnceConnected(lane) {
                guard let due = deferredDue[lane], hasRoomForOutcomes(ofPromotionIn: lane) else { continue }
                wakes.append(due.monotonic)
                if !pool.active.isEmpty { wakes.append(strandedLookAt[lane]) }
            }
        }
        return wakes.min()
    }

    /// Whether a deferred entry that falls due is something to act upon: by bringing it back, or by connecting for it.
    private var awaitsDeferred: Bool {
        // While hand-out holds nothing is brought back: what ends the holding brings news, or has a time of its own.
        return holdReason == nil && !pool.isAway
    }

    /// A connection that came about when nobody waited for it any more.
    func closeUnclaimed() {
        closeUnclaimed(
            inbox.withLock { inbox in
                defer { inbox.connected = [] }
                return inbox.connected
            })
    }

    func closeUnclaimed(_ unclaimed: [(connection: Int, result: Result<any Connection, ConnectError>)]) {
        for case (_, .success(let connection)) in unclaimed { connection.close(deadline: .zero) }
    }

    /// The work ends. Where the journal can be written all the same, what is in flight gets its answers first.
    func fail(_ error: JournalError) {
        if error.code == .damaged { giveUp(error) } else { endWork(error) }
    }

    /// The work is over for good: nothing can be written any more.
    private func endWork(_ error: JournalError) {
        guard end == nil else { return }
        log(.journalFailed, "stopping: the journal can't be used any more: \(error)", error.metadata)
        end = .failed(error)
        // Nobody listens to them any more.
        for (_, link) in orderedLinks { link.connection?.close(deadline: .zero) }
    }
}
