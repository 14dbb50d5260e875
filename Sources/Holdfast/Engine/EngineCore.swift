package import Logging

/// The engine without threads, sockets and clocks: Producers, and a Consumer for each route that somebody must step.
///
/// ``PushEngine`` steps it on a thread for each route. A simulation steps it itself, one turn at a time, with time, disk
/// and service of its own making.
package final class EngineCore: Sendable {
    let journal: any Journal
    let consumers: [Consumer]
    let board: StatusBoard
    let observer: EngineObserver
    let events = EventHub()
    let outcomes: OutcomeSource
    private let laneIDs: [LaneKey: LaneID]
    /// One for each route; connectors hold them weakly.
    private let hosts: [RouteHost]
    private let producers: ProducerTable

    /// Opens the lanes of all routes in the journal.
    ///
    /// - Parameters:
    ///   - seed: of the jitter.
    ///   - requestConnection: asks for a connection: index of the route, number of the connection. The outcome goes to
    ///     ``connected(route:connection:_:)``, from any thread. One is asked for at a time for each route.
    /// - Throws: ``JournalError``, or ``RouteError`` when routes contradict each other.
    package init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration, clock: EngineClock, logger: Logger,
        listeners: [any MetricsListener] = [], seed: UInt64,
        requestConnection: @escaping @Sendable (_ route: Int, _ connection: Int) -> Void
    ) throws {
        let log = EngineLog(logger, clock: clock, interval: configuration.logInterval)
        let observer = EngineObserver(listeners: listeners, log: log, clock: clock, configuration: configuration)
        let table = try RouteTable(routes, journal: journal)
        let producers = try ProducerTable(
            journal: journal, routes: table, configuration: configuration, clock: clock)
        let board = StatusBoard(routes: routes.map(\.name))
        let others = Monitor<[WeakConsumer]>([])
        let surroundings = Consumer.Surroundings(
            producer: producers.standard, clock: clock, logger: logger, board: board, events: events,
            observer: observer,
            gate: OutcomeGate(limit: configuration.keepsOutcomes ? configuration.outcomeLimit : nil),
            wakeRoute: { route in others.withLock { $0[route] }.consumer?.post { $0.nudged = true } })
        var seeds = Xoshiro256(seed: seed)
        consumers = table.entries.enumerated().map { index, entry in
            Consumer(
                index: index, route: entry, in: surroundings, randomSeed: seeds.next(),
                requestConnection: { requestConnection(index, $0) })
        }
        others.withLock { [consumers] others in others = consumers.map { WeakConsumer(consumer: $0) } }
        try OutcomeKeeping.note(configuration.keepsOutcomes, in: journal)
        outcomes = OutcomeSource(journal: journal)
        self.journal = journal
        self.board = board
        self.observer = observer
        self.producers = producers
        laneIDs = Dictionary(
            uniqueKeysWithValues: table.entries.flatMap { $0.lanes.map { ($0.key, $0.opening.id) } })
        hosts = consumers.map { [events] consumer in
            let route = consumer.route.name
            return RouteHost(
                journal: journal, log: consumer.log, tell: { events.emit(.notice(route: route, $0)) },
                renew: { [weak consumer] in consumer?.post { $0.credentialsChanged = true } })
        }
        observe(clock)
        for (consumer, host) in zip(consumers, hosts) {
            consumer.route.connector.begin(ConnectorHost(route: consumer.route.name, services: host))
        }
    }

    /// The consumers hold the journal and the Producers; these must not hold the consumers.
    private func observe(_ clock: EngineClock) {
        let observers = consumers.map { WeakConsumer(consumer: $0) }
        clock.onMove? { for observer in observers { observer.consumer?.post { $0.nudged = true } } }
        producers.shared.withLock { state in
            state.observer = observer
            state.onJournalFailure = { error in
                for observer in observers { observer.consumer?.post { $0.failure = error } }
            }
        }
        // Both hold the journal, which holds this observer.
        journal.observeCommits { [weak producers, events, weak outcomes, observer] report in
            if let measure = report.measure { observer.committed(measure) }
            for observer in observers {
                observer.consumer?.post { inbox in
                    inbox.hasCommitted = true
                    for lane in report.lanes { inbox.commits[lane.id] = lane }
                    if let failure = report.failure { inbox.failure = failure }
                }
            }
            for id in report.drained {
                guard let producer = producers?.producer(id) else { continue }
                producer.drained(true)
                events.emit(.drained(producer: producer.name))
            }
            if report.outcomes > 0 { outcomes?.wake() }
            producers?.room.wakeFirst()
        }
    }

    /// Accepts notifications under the name `default`.
    package var producer: Producer { producers.standard }

    /// The Producer of that name.
    package func producer(named name: String) throws -> Producer { try producers.producer(named: name) }

    package var routeCount: Int { consumers.count }

    /// Reads what the first turn needs to know. Once, before the first turn.
    package func start(route: Int) { consumers[route].start() }

    /// Does everything there is to do for the route at the moment. One caller at a time.
    ///
    /// - Returns: when to come back at the latest, by the monotonic clock; nil when only something new can bring more.
    package func turn(route: Int) -> Duration? { consumers[route].turn() }

    /// Whether something new has come for the route since its last turn.
    package func hasNews(route: Int) -> Bool { !consumers[route].inbox.withLock(\.isEmpty) }

    /// How the route's work ended; nil while it goes on.
    package func end(of route: Int) -> Consumer.End? { consumers[route].end }

    /// Where the events of a connection go, from the moment on at which it is being made.
    package func sink(route: Int, connection: Int) -> ConnectionSink { consumers[route].sink(for: connection) }

    /// The answer to a request for a connection.
    package func connected(route: Int, connection: Int, _ result: Result<any Connection, ConnectError>) {
        consumers[route].post { $0.connected.append((connection, result)) }
    }

    /// Takes nothing new, and ends when what is in flight has its answers, or the limit is over.
    package func shutDown() {
        producers.end(Refusal(.shuttingDown, "the engine is shutting down"))
        for consumer in consumers { consumer.post { $0.shutdownAsked = true } }
    }

    // MARK: Operators

    /// The Consumer of the route that serves a lane, with the lane's number; nil for one that no route serves.
    func server(of lane: LaneKey) -> (consumer: Consumer, lane: LaneID)? {
        guard let id = laneIDs[lane], let consumer = consumers.first(where: { $0.route.name == lane.route }) else {
            return nil
        }
        return (consumer, id)
    }

    /// Lets a stopped or paused lane run again.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func resume(
        _ key: LaneKey, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void = { _ in }
    ) { order(.resume, key, completion) }

    /// Hands out nothing of the lane any more until it is resumed, restarts included.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func pause(
        _ key: LaneKey, reason: String = "",
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void = { _ in }
    ) { order(.pause(reason), key, completion) }

    private func order(
        _ kind: LaneOrder.Kind, _ key: LaneKey, _ completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        guard let (consumer, id) = server(of: key) else {
            return completion(.failure(JournalError(.notFound, "no route of this engine serves the lane \(key)")))
        }
        if !consumer.post({ $0.orders.append(LaneOrder(lane: id, kind: kind, completion: completion)) }) {
            completion(.failure(Self.hasEnded))
        }
    }

    /// Takes entries of one lane back.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func withdraw(
        _ uids: [UID], from key: LaneKey,
        completion: @escaping @Sendable (Result<Withdrawal, JournalError>) -> Void
    ) {
        guard let (consumer, id) = server(of: key) else {
            return completion(.failure(JournalError(.notFound, "no route of this engine serves the lane \(key)")))
        }
        let order = WithdrawalOrder(lane: id, uids: uids, completion: completion)
        if !consumer.post({ $0.withdrawals.append(order) }) { completion(.failure(Self.hasEnded)) }
    }

    static let hasEnded = JournalError(.closed, "the engine has ended")

    /// Asks for proof of what is unconfirmed on connections on which only errors are answered.
    package func writeBarriers() { for consumer in consumers { consumer.post { $0.barrierAsked = true } } }

    /// As of now.
    package func status() -> EngineStatus {
        var status = board.status { key in laneIDs[key].map(journal.depth) ?? 0 }
        (status.submitted, status.refused) = producers.shared.withLock { ($0.submitted, $0.refused) }
        let oldest = observer.oldest
        for index in status.lanes.indices where status.lanes[index].backlog > 0 {
            status.lanes[index].oldestAcceptedAt = oldest[status.lanes[index].key]
        }
        status.outcomes = journal.outcomeCount
        status.eventsDropped = events.dropped
        return status
    }

    /// No turn comes any more.
    func ended() {
        observer.log(.engineEnded, "the engine has ended")
        board.ended()
        events.end()
        outcomes.end()
        producers.ended()
        for consumer in consumers {
            consumer.closeUnclaimed()
            consumer.refuseOperators()
        }
    }
}

/// A Consumer for those who tell it things and do not own it.
private struct WeakConsumer: Sendable {
    weak var consumer: Consumer?
}
