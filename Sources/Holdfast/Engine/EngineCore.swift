package import Logging

/// The engine without threads, sockets and clocks: Producers, and a Consumer for each route. Its owner runs the turns.
///
/// ``PushEngine`` runs them on a thread for each route. A simulation runs them itself, one at a time, with its own time, disk
/// and service.
package final class EngineCore: Sendable {
    /// Called with the number of a Consumer whose turns the owner must run from now on; from any thread.
    package typealias Begin = @Sendable (_ route: Int) -> Void

    let journal: any JournalService
    let board: StatusBoard
    let observer: EngineObserver
    let events = EventHub()
    let outcomes: OutcomeSource
    let historyDamage: HistoryDamage
    /// Tells who waits for single notifications.
    package let outcomeFeed: OutcomeFeed
    /// What readers of outcomes say of themselves, by name.
    let readerReports = Monitor<[String: ReaderReport]>([:])
    let producers: ProducerTable
    let registry: Monitor<ConsumerRegistry>
    /// The parts that all Consumers share.
    let surroundings: Consumer.Surroundings
    /// Consumers by number. Held weakly: the journal's observer tells them, and must not keep them alive.
    let directory: ConsumerDirectory
    /// Prevents other engines from using the journal, until this one has ended.
    private let feed: CommitFeed
    let begin: Begin
    /// Lets one import of entries at a time into the journal.
    let restoring = Turnstile()
    /// Lets one change of the paused tags at a time into the journal.
    let pausing = Turnstile()
    private let requestConnection: @Sendable (_ route: Int, _ connection: Int) -> Void

    /// Opens the lanes of all routes in the journal.
    ///
    /// - Parameters:
    ///   - tracer: has spans of notifications; nil for none.
    ///   - rates: of routes, which engines may share.
    ///   - seed: of the jitter.
    ///   - begin: for Consumers that come with a reconfiguration; those of `routes` have the numbers from 0 on.
    ///   - requestConnection: asks for a connection: number of the Consumer, number of the connection. The outcome goes to
    ///     ``connected(route:connection:_:)``, from any thread. One is asked for at a time for each Consumer.
    /// - Throws: ``JournalError`` (``JournalError/Code/inUse`` while another engine delivers from the journal), or
    ///   ``RouteError`` when routes contradict each other.
    package init(
        journal: any JournalService, routes: [Route], configuration: EngineConfiguration, clock: EngineClock,
        logger: Logger, listeners: [any MetricsListener] = [], tracer: NotificationTracer? = nil,
        rates: SharedRates = SharedRates(), seed: UInt64,
        begin: @escaping Begin = { _ in },
        requestConnection: @escaping @Sendable (_ route: Int, _ connection: Int) -> Void
    ) throws {
        // Before anything is written: the journal may be another engine's.
        let feed = try CommitFeed(journal)
        let log = EngineLog(logger, clock: clock, interval: configuration.logInterval)
        let table = try RouteTable(routes, journal: journal, defaultEnvironment: configuration.defaultEnvironment)
        let producers = try ProducerTable(
            journal: journal, routes: table, configuration: configuration, clock: clock, tracer: tracer)
        let pausedTags = Monitor(try journal.pausedTags())
        let board = StatusBoard(routes: routes.map(\.name))
        let directory = ConsumerDirectory()
        let conditions = EngineConditions(
            .init(journal: journal, pausedTags: pausedTags, clockTrust: producers.clockTrust), log: log, clock: clock,
            interval: configuration.logInterval
        ) { directory.post { $0.nudged = true } }
        let observer = EngineObserver(
            listeners: listeners, log: log, clock: clock, configuration: configuration, conditions: conditions)
        // Conditions look at the journal: its blacklist must not keep both.
        journal.blacklist.observeDamage { [weak conditions] _ in conditions?.lookSoon() }
        surroundings = Consumer.Surroundings(
            producer: producers.standard, clock: clock, logger: logger, board: board, events: events,
            observer: observer, tracer: tracer,
            gate: OutcomeGate(limit: configuration.keepsOutcomes ? configuration.outcomeLimit : nil),
            clockTrust: producers.clockTrust, rates: rates, pausedTags: pausedTags,
            wakeRoute: { route in directory.post(to: route) { $0.nudged = true } },
            announceMoves: { lane, hasEnded in
                directory.post(lane: lane) { inbox in
                    if hasEnded { inbox.endRestoring() } else { inbox.restoresBegun += 1 }
                }
            })
        try OutcomeKeeping.note(configuration.logsOutcomes, in: journal)
        try OutcomeKeeping.openReader(ifAny: configuration.keepsOutcomes, in: journal)
        historyDamage = HistoryDamage(conditions)
        outcomes = OutcomeSource(journal: journal, damage: historyDamage)
        outcomeFeed = OutcomeFeed(journal: journal)
        self.journal = journal
        self.board = board
        self.observer = observer
        self.producers = producers
        self.directory = directory
        self.feed = feed
        self.begin = begin
        self.requestConnection = requestConnection
        registry = Monitor(ConsumerRegistry(seeds: Xoshiro256(seed: seed)))
        let registrations = table.entries.map { makeRegistration($0.route, .opened($0.lanes), configuration) }
        registry.withLock { $0.registrations = registrations }
        observe(clock)
        for registration in registrations { registration.begin() }
    }

    /// Makes a Consumer with its connector's host. It is told of commits from now on.
    func makeRegistration(_ route: Route, _ lanes: Consumer.Lanes, _ configuration: EngineConfiguration)
        -> ConsumerRegistry.Registration
    {
        let (index, seed) = registry.withLock { $0.nextNumber() }
        let consumer = Consumer(
            index: index, route: route, lanes: lanes, in: surroundings, configuration: configuration,
            isInCharge: index == 0, randomSeed: seed,
            requestConnection: { [requestConnection] in requestConnection(index, $0) })
        let host = RouteHost(
            journal: journal, route: route.name, log: consumer.log, conditions: observer.conditions,
            tell: { [events] in events.emit(.notice(route: route.name, $0)) },
            renew: { [weak consumer] in consumer?.post { $0.credentialsChanged = true } })
        directory.add(consumer)
        return ConsumerRegistry.Registration(consumer: consumer, route: route, host: host)
    }

    /// The consumers hold the journal and the Producers; these must not hold the consumers.
    private func observe(_ clock: EngineClock) {
        let (directory, gate) = (directory, surroundings.gate)
        clock.onMove? { directory.post { $0.nudged = true } }
        producers.shared.withLock { state in
            state.observer = observer
            state.onJournalFailure = { error in directory.post { $0.failure = $0.failure ?? error } }
        }
        // Producers and outcomes hold the journal, which holds this observer.
        feed.deliver { [weak producers, events, weak outcomes, weak outcomeFeed, observer] report in
            if let measure = report.measure { observer.committed(measure) }
            directory.post(report.lanes)
            if let failure = report.failure { directory.post { $0.failure = failure } }
            for route in gate.deniedThatMayAsk(waiting: report.unreadOutcomes) {
                directory.post(to: route) { $0.nudged = true }
            }
            for id in report.drained {
                guard let producer = producers?.producer(id) else { continue }
                producer.drained(true)
                events.emit(.drained(producer: producer.name))
            }
            if report.changesOutcomes {
                outcomes?.wake()
                outcomeFeed?.wake(newest: report.newestOutcome)
            }
            producers?.room.wakeFirst()
        }
    }

    /// The running Consumers, and those that are about to end, in the order of their routes.
    var consumers: [Consumer] { registry.withLock { $0.registrations.map(\.consumer) } }

    /// Accepts notifications under the name `default`.
    package var producer: Producer { producers.standard }

    /// The Producer of that name.
    package func producer(named name: String) throws -> Producer { try producers.producer(named: name) }

    /// Submits notifications under a Producer's name, with a note in the same commit. Where the name is none, all are refused,
    /// and the note is taken: a file goes on behind them.
    func submit(
        _ notifications: [PushNotification], as name: String?, note: (name: String, value: [UInt8])?
    ) async throws -> [Receipt] {
        do {
            let producer = try name.map { try self.producer(named: $0) } ?? self.producer
            guard let note else { return notifications.isEmpty ? [] : await producer.submit(notifications) }
            return await producer.submit(notifications, note: note)
        } catch let refusal as Refusal {
            if let note { _ = await producer.submit([], note: note) }
            return Array(repeating: .refused(refusal), count: notifications.count)
        }
    }

    /// The numbers of the Consumers whose turns the owner must run.
    package var routes: [Int] { registry.withLock { $0.registrations.map(\.number) } }

    package var routeCount: Int { routes.count }

    /// Reads what the first turn needs to know. Once, before the first turn.
    package func start(route: Int) { consumer(route).start() }

    /// Runs one turn of the route. One caller at a time.
    ///
    /// - Returns: the latest time of the next turn, by the monotonic clock; `nil` if only new input can bring more work.
    package func turn(route: Int) -> Duration? { consumer(route).turn() }

    /// Whether something new has come for the route since its last turn.
    package func hasNews(route: Int) -> Bool { !consumer(route).context.inbox.isEmpty }

    /// How the route's work ended; `nil` while it runs.
    package func end(of route: Int) -> Consumer.End? { consumer(route).end }

    /// The receiver of a connection's events, from the start of the attempt on.
    package func sink(route: Int, connection: Int) -> ConnectionSink {
        registry.withLock { $0.consumer(route) }?.sink(for: connection) ?? ConnectionSink { _ in }
    }

    /// Passes the result of a request for a connection. A connection that is not needed any more is closed.
    package func connected(route: Int, connection: Int, _ result: Result<any Connection, ConnectError>) {
        let isTaken = directory.post(to: route) { $0.connected.append((connection, result)) }
        if !isTaken, case .success(let connection) = result { connection.close(deadline: .zero) }
    }

    func consumer(_ number: Int) -> Consumer {
        guard let consumer = registry.withLock({ $0.consumer(number) }) else {
            preconditionFailure("there is no Consumer \(number)")
        }
        return consumer
    }

    /// Refuses new notifications, and ends when all entries in flight have their answers, or after the limit.
    package func shutDown() {
        producers.end(Refusal(.shuttingDown, "the engine is shutting down"))
        let consumers = registry.withLock { registry in
            registry.isEnding = true
            return registry.registrations.map(\.consumer)
        }
        for consumer in consumers { consumer.post { $0.shutdownAsked = true } }
    }

    /// No turn comes any more.
    func ended() {
        observer.log(.engineEnded, "the engine has ended")
        board.ended()
        events.end()
        outcomes.end()
        outcomeFeed.end()
        producers.ended()
        let (consumers, change) = registry.withLock { registry in
            defer { registry.change = nil }
            registry.isEnding = true
            return (registry.registrations.map(\.consumer), registry.change)
        }
        for consumer in consumers {
            consumer.closeUnclaimed()
            consumer.refuseOperators()
        }
        change?.completion(.failure(JournalError.engineHasEnded))
        feed.release()
    }
}
