internal import Logging

/// Delivers one route's lanes: reads them forward from the journal, hands entries to connections, and has answers decided
/// about and settled.
///
/// Everything but the inbox belongs to the caller of ``turn()``, one at a time: the route's thread, or a simulation.
/// One turn takes all that the inbox holds, so under load the cost of a turn is shared by hundreds of entries.
///
/// Unchecked, since the inbox is behind a lock, and all else is confined to the caller of ``turn()``.
package final class Consumer: @unchecked Sendable {
    /// How a Consumer's work ended.
    package enum End: Sendable {
        case shutDown
        case failed(JournalError)
    }

    /// The parts that all Consumers of an engine share.
    struct Surroundings: Sendable {
        let producer: Producer
        let clock: EngineClock
        let logger: Logger
        let board: StatusBoard
        let events: EventHub
        let observer: EngineObserver
        /// Nil while nothing is traced.
        let tracer: NotificationTracer?
        let gate: OutcomeGate
        let clockTrust: ClockTrust
        let rates: SharedRates
        /// The tags that operators have paused.
        let pausedTags: Monitor<TagPauses>
        /// Has another route of the engine look again.
        let wakeRoute: @Sendable (Int) -> Void
        /// Tells the Consumer of a lane that entries of another lane are about to be put among its deferred ones, and then
        /// that this has ended.
        let announceMoves: @Sendable (_ lane: LaneID, _ hasEnded: Bool) -> Void
    }

    /// The lanes that a Consumer begins with.
    enum Lanes {
        case opened([(key: LaneKey, opening: LaneOpening)])
        /// The lanes of a Consumer that has ended, in their last state.
        case takenOver(Consumer)
    }

    let context: RouteContext
    let lanes: LaneTable
    let states: LaneStates
    let connections: Connections
    let judge: RouteJudge
    let places: Places
    let barriers: Barriers
    let shutdown: Shutdown
    let quarantines: Quarantines
    let performer: PlanPerformer
    let promotions: Promotions
    let handOuts: HandOuts
    let marks: Marks
    let withdrawals: Withdrawals
    let censuses: Censuses
    let expiryLook: ExpiryLook
    let reports: RouteReports
    var housekeeping: Housekeeping
    let clockTrust: ClockTrust
    private let pausedTags: Monitor<TagPauses>
    private let wakeRoute: @Sendable (Int) -> Void
    /// Events of a connection whose making was not reported yet.
    var earlyEvents: [(connection: Int, event: ConnectorEvent)] = []

    /// - Parameter isInCharge: of what one Consumer of an engine does for all.
    init(
        index: Int, route: Route, lanes opened: Lanes, in surroundings: Surroundings,
        configuration: EngineConfiguration, isInCharge: Bool, randomSeed: UInt64,
        requestConnection: @escaping @Sendable (Int) -> Void
    ) {
        context = RouteContext(index: index, route, in: surroundings, configuration, seed: randomSeed)
        lanes = opened.table(window: configuration.window)
        if case .takenOver(let other) = opened { context.teller.conditions.succeed(other.context.teller.conditions) }
        states = LaneStates(context, lanes)
        connections = Connections(context, request: requestConnection)
        judge = RouteJudge(lanes, for: context, succeeding: opened)
        // The rate is the route's, whichever connector it has.
        places = Places(context, lanes, connections, judge, in: surroundings.rates)
        barriers = Barriers(context, connections)
        shutdown = Shutdown(context, connections, barriers)
        quarantines = Quarantines(context, lanes, shutdown)
        performer = PlanPerformer(context, lanes, states, connections, judge, shutdown)
        promotions = Promotions(context, lanes, connections, judge, places, shutdown)
        handOuts = HandOuts(
            context, lanes, connections, judge, places, performer, promotions, quarantines, shutdown)
        marks = Marks(context, lanes, connections, judge, performer, quarantines, shutdown)
        withdrawals = Withdrawals(context, lanes, connections, judge, performer, handOuts, quarantines)
        censuses = Censuses(context, lanes, connections, shutdown)
        expiryLook = ExpiryLook(context, lanes, judge, shutdown, surroundings.clockTrust)
        reports = RouteReports(
            context, lanes, connections, judge, places,
            reports: ReportInterval(configuration.reportInterval, isInCharge: isInCharge))
        housekeeping = Housekeeping(configuration, isInCharge: isInCharge)
        clockTrust = surroundings.clockTrust
        pausedTags = surroundings.pausedTags
        wakeRoute = surroundings.wakeRoute
    }

    /// Of the Consumer in its engine, and of no other that there ever is in it.
    var index: Int { context.index }
    var name: String { context.name }
    var connector: any Connector { context.connector }
    var log: EngineLog { context.teller.log }
    /// How the work ended; nil while it goes on.
    package var end: End? { context.ending.end }

    /// Leaves something in the inbox and wakes the thread. From any thread.
    ///
    /// - Returns: false if the inbox is closed; then nothing was put into it.
    @discardableResult
    func post(_ change: (inout ConsumerInbox) -> Void) -> Bool { context.inbox.post(change) }

    /// The sink for the events of a connection that is being made.
    func sink(for number: Int) -> ConnectionSink {
        ConnectionSink { [inbox = context.inbox] event in inbox.post { $0.events.append((number, event)) } }
    }

    /// Reads the deferred entries' due times; before the first turn. What an earlier process has stopped is tried again.
    func start() {
        for index in lanes.indices where lanes[index].machine.wasStopped { states.note(index) }
        promotions.start(at: context.clock.moment())
        let depth = lanes.reduce(0) { $0 + context.journal.depth($1.id) }
        context.tell(.started(endpoint: connector.endpoint, waiting: depth))
    }

    /// Does everything there is to do at the moment.
    ///
    /// - Returns: when to come back at the latest, by the monotonic clock; nil when only the inbox can bring more.
    func turn() -> Duration? {
        let received = context.inbox.take()
        let now = context.clock.moment()
        lookAtClocks(at: now)
        lookAtTags()
        take(received, at: now)
        if !context.ending.isOver { look(at: now) }
        if !context.ending.isOver, !context.ending.hasBegun { deliver(at: now) }
        keepProvenTopics(wall: now.wall)
        if !context.ending.isOver { expiryLook.look(at: now) }
        for completion in received.tagInquiries { completion() }
        progressEnd(at: now)
        for denied in context.gate.settle(route: index, inFlight: places.taken) { wakeRoute(denied) }
        reports.publish(rest: rest, answersNudge: received.nudged)
        if housekeeping.isInCharge { context.teller.observer.engine.conditions.look() }
        // That the time was noted changes nothing that is measured.
        let hadNews = received.hasMoreThanHousekeeping || received.trimmed != nil && housekeeping.deletes
        reports.turnEnded(hadNews: hadNews, at: now)
        return context.ending.isOver ? nil : nextLook(now: now.monotonic)
    }

    /// Nothing of a tag goes out in this turn that was paused before it.
    private func lookAtTags() {
        let current = pausedTags.withLock { $0 }
        if current != judge.tagHold.pauses { judge.tagHold.change(to: current) }
    }

    /// Hands out what can go, and makes the connections that it takes.
    private func deliver(at now: Moment) {
        // First, so that nothing else gets the places of what a mark still covers.
        marks.retreat(at: now)
        withdrawals.lookAgain(at: now)
        handOuts.handOut(at: now)
        promotions.bringBack(now: now.monotonic)
        connections.scale(waiting: { waiting }, now: now.monotonic)
        connectIfNeeded(now: now.monotonic)
        barriers.writeWanted(now: now.monotonic)
        marks.retreat(at: now)
    }

    /// About how many entries could go out and have not: at most what the journal holds of the lane, and at most as many as
    /// there are UIDs ahead of the reading.
    private var waiting: Int {
        lanes.reduce(0) { $0 + ($1.isRunning ? min(context.journal.depth($1.id), $1.machine.greatestWaiting) : 0) }
    }

    private func connectIfNeeded(now: Duration) {
        let mayConnect = connections.pool.mayBegin(now: now) && !context.holds.isParked
        connections.connect(isWanted: mayConnect && needsConnection(now: now), now: now)
    }

    /// The first one where there is something to send; another one where too much waits, or those that are there take no
    /// more.
    private func needsConnection(now: Duration) -> Bool {
        if connections.pool.active.isEmpty {
            return connections.pool.isAsked || promotions.wantConnection(now: now)
                || lanes.contains { $0.handsOut && $0.hasWork || $0.machine.longsForConnection }
        }
        return switch connector.confirmationMode {
        case .perNotification:
            places.holdReason == nil && !places.isSlowedDown && connections.wantsMore(now: now)
        case .cumulative: places.lackConnections
        }
    }

    /// The commit is not awaited: after a crash before it the topic has to prove itself once more.
    private func keepProvenTopics(wall: WallTime) {
        guard let proven = judge.breakers.takeNews() else { return }
        let note = (ProvenTopics.noteName(route: name), proven.bytes(service: connector.serviceIdentity))
        let submission = Submission(producer: context.producer.id, acceptedAt: wall, note: note)
        context.journal.append(submission) { [log, name] result in
            if case .failure(let error) = result { log(.failed(.keepingProvenTopics, error), route: name) }
        }
    }

    /// Whether all that was decided is on disk.
    var isSettled: Bool { performer.isIdle && quarantines.areDone }

    /// Why there is nothing to do; nil when there is.
    var rest: EngineRest? { isSettled ? reports.rest : nil }

    /// Blocks until the inbox has something, or until `wake` by the monotonic clock.
    func waitForWork(until wake: Duration?) {
        // No longer than an hour, and a millisecond behind the time rather than before it.
        let limit = wake.map {
            min(max($0 - context.clock.monotonic(), .zero), .seconds(3600)) + .milliseconds(1)
        }
        context.inbox.wait(atMost: limit)
    }
}
