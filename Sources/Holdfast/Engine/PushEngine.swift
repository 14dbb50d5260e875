public import CoreMetrics
internal import Foundation
public import Logging
public import ServiceLifecycle
public import Tracing

/// Accepts notifications into a journal, and delivers them through the connectors of its routes.
///
///     let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])
///     let receipts = await engine.producer.submit(notifications)   // on disk from here on
///     try await engine.run()                                       // delivers until shutdown
///
/// A `Service` of swift-service-lifecycle: on graceful shutdown it refuses new notifications, waits for answers for at most
/// ``EngineConfiguration/shutdownLimit``, and leaves the rest in the journal, for the next run. The journal stays open: close
/// it afterwards.
public final class PushEngine: Service, Sendable {
    let core: EngineCore
    /// Nil while nothing is traced.
    package let tracer: NotificationTracer?
    private let requests = ConnectionRequests()
    private let news = Mailbox<News>()
    private let turnstile = Turnstile()
    private let hasRun = Monitor(false)

    /// A message to ``run()``.
    private enum News: Sendable {
        /// A Consumer has come with a reconfiguration.
        case came(Int)
        case ended(Int, Consumer.End)
        case shutDown
    }

    /// Creates an engine, and opens the lanes of all routes in the journal.
    ///
    /// Logging and metrics are never bootstrapped here: the application does that before it makes an engine.
    ///
    /// - Parameters:
    ///   - journal: open, and used by no other engine.
    ///   - routes: with different names and topics; at most one without topics.
    ///   - listeners: receive counts beside the metrics.
    ///   - metrics: the factory of metrics; `nil` for the one that swift-metrics was bootstrapped with.
    ///   - tracer: has spans of each notification, from its submission to its outcome, for example
    ///     `InstrumentationSystem.tracer`. `nil` traces nothing, and costs nothing.
    /// - Throws: ``JournalError`` (``JournalError/Code/inUse`` while another engine uses the journal), or ``RouteError`` if
    ///   routes contradict each other.
    public convenience init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration = EngineConfiguration(),
        clock: EngineClock = .system, logger: Logger = Logger(label: "holdfast"),
        listeners: [any MetricsListener] = [], metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil
    ) throws {
        try self.init(
            journal: journal, routes: routes, configuration: configuration, clock: clock, logger: logger,
            listeners: listeners, metrics: [metrics ?? MetricsSystem.factory], tracer: tracer, rates: SharedRates())
    }

    /// Creates an engine that shares the limits of its routes with others.
    ///
    /// - Parameter metrics: each gets all.
    package init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration = EngineConfiguration(),
        clock: EngineClock = .system, logger: Logger = Logger(label: "holdfast"),
        listeners: [any MetricsListener] = [], metrics: [any MetricsFactory], tracer: (any Tracer)? = nil,
        rates: SharedRates
    ) throws {
        let tracer = tracer.map(NotificationTracer.init)
        self.tracer = tracer
        let exporters = metrics.filter { !($0 is NOOPMetricsHandler) }
            .map { SwiftMetricsExporter(factory: $0, routes: routes.map(\.name)) }
        let listeners = listeners + exporters
        var system = SystemRandomNumberGenerator()
        core = try EngineCore(
            journal: journal.handle.service, routes: routes, configuration: configuration, clock: clock, logger: logger,
            listeners: listeners, tracer: tracer, rates: rates, seed: system.next(),
            begin: { [news] in news.put(.came($0)) },
            requestConnection: { [requests] route, number in requests.put(number, for: route) })
    }

    /// Accepts notifications, also before ``run()``, under the name `default`.
    public var producer: Producer { core.producer }

    /// Returns a Producer that accepts notifications under this name, with its own counts and ``Producer/untilDrained()``.
    ///
    /// - Parameter name: 1 to 64 bytes, stored with each notification. At most ``ProducerID/greatestCount`` in a journal.
    /// - Throws: ``Refusal`` for an invalid name, ``JournalError`` if the journal can't register a new one.
    public func producer(named name: String) throws -> Producer { try core.producer(named: name) }

    /// Submits notifications under a Producer's name, with a note in the same commit.
    package func submit(
        _ notifications: [PushNotification], as producer: String?, note: (name: String, value: [UInt8])?
    ) async throws -> [Receipt] {
        try await core.submit(notifications, as: producer, note: note)
    }

    /// Every Producer that was ever opened in this journal, with counts that outlive a restart.
    public func producers() throws(JournalError) -> [ProducerStatus] { try core.journal.producers() }

    /// Returns a stream of the events from now on. A slow listener loses the oldest events, which are counted
    /// (``EngineStatus/eventsDropped``); the engine never waits for a listener.
    ///
    /// - Parameter limit: the most events that are buffered for this listener. Default: 1000.
    public func events(buffering limit: Int = 1000) -> AsyncStream<EngineEvent> { core.events.stream(buffering: limit) }

    /// The outcomes of all notifications. Each is stored in the journal until it is taken. Needs
    /// ``EngineConfiguration/keepsOutcomes``: without it the loop throws that the journal does not know the reader.
    public var outcomes: Outcomes {
        Outcomes(source: core.outcomes, reader: .init(name: OutcomeReader.engineName, producers: nil))
    }

    /// Returns the state of an entry; `nil` if the journal does not know it any more.
    public func fate(of uid: UID) throws(JournalError) -> EntryFate? { try core.journal.fate(of: uid) }

    /// Returns how the notification of a receipt ended. `nil` before that, and if the journal does not know any more: the
    /// outcome is not in the log, and the `apns-id` is not remembered (``EngineConfiguration/remembersIDs``).
    public func outcome(of receipt: Receipt) throws(JournalError) -> TerminalOutcome? {
        if case .repeated(_, let outcome) = receipt { return outcome }
        guard let uid = receipt.uid, case .settled(let outcome)? = try fate(of: uid) else { return nil }
        return outcome
    }

    /// Lists notifications that were refused for good, ascending by UID from the first above `after`.
    public func rejections(after: UID = .none, limit: Int = 1000) throws(JournalError) -> [Rejection] {
        try core.journal.rejections(after: after, limit: limit)
    }

    /// The journal's token blacklist, which `submit` and the engine apply.
    public var blacklist: TokenBlacklist { core.producer.blacklist }

    /// The push service of a topic, by its ``Connector/serviceIdentity``; `nil` if no route serves the topic.
    package func serviceIdentity(for topic: String) -> String? {
        core.producer.terms.routes.serviceIdentity(for: topic)
    }

    /// Reads a note of the journal; `nil` if there is none.
    package func note(_ name: String) throws(JournalError) -> [UInt8]? { try core.journal.note(name) }

    /// Stores a note in the journal, or removes it with `nil`, even if the journal is full. Not for hot paths.
    ///
    /// - Parameter completion: called on a thread of its own when the commit is durable, or with the error.
    package func setNote(
        _ name: String, to value: [UInt8]?, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        let journal = core.journal
        // The journal's call waits for the commit.
        Thread.detachNewThread {
            do throws(JournalError) {
                try journal.setNote(name, to: value)
                completion(.success(()))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Delivers until it is shut down or cancelled.
    ///
    /// Call it once: an engine that has run does not run again, and a second call is a mistake of the program that ends the
    /// process. Close the journal when this has returned, and not before: an engine without anything to do would not notice.
    ///
    /// - Throws: ``JournalError`` if the journal can't be used any more. Accepted notifications are in it.
    public func run() async throws {
        let isFirst = hasRun.withLock { hasRun in
            defer { hasRun = true }
            return !hasRun
        }
        precondition(isFirst, "PushEngine.run() may be called once")
        let end = await withTaskCancellationOrGracefulShutdownHandler {
            await deliver()
        } onCancelOrGracefulShutdown: {
            self.shutDown()
        }
        core.ended()
        if case .failed(let error) = end { throw error }
    }

    /// Returns a snapshot of all counts.
    public func status() -> EngineStatus { core.status() }

    /// What the process around the engine finds wrong, in place of what it found before: ``EngineStatus/conditions`` has it, too. The
    /// process tells its log itself.
    package func setHostConditions(_ conditions: [HealthCondition], takenOver: [EngineStatus.TakenOver] = []) {
        core.observer.conditions.host(conditions, takenOver: takenOver)
    }

    /// What the engine itself has found wrong, and has told its log.
    package var ownConditions: [HealthCondition] { core.observer.conditions.own }

    /// Waits until every entry has ended, or the rest waits in lanes that are stopped or for topics that are set aside. Needs
    /// ``run()`` to be running.
    public func untilIdle() async -> EngineRest {
        await core.untilRest()
    }

    /// The operators' interface: to pause and resume lanes, take entries back, send rejections again, and more. Calls about
    /// lanes wait for ``run()``.
    public var desk: any OperatorDesk { fleetOrderDesk }

    /// The same, where the orders to a fleet are carried out, too.
    package var fleetOrderDesk: any FleetOrderDesk { EngineDesk(core: core) }

    /// Exchanges routes and configuration while the engine runs, all or nothing. Needs ``run()`` to be running.
    ///
    /// Routes are matched by name:
    ///
    /// - A copy of the present route, unchanged or made by
    ///   ``Route/with(topics:connections:scaling:rate:newestWins:environment:triesOtherEnvironment:)``, keeps its connections.
    /// - A route with another connector takes over the lanes. The old connections wait for answers for at most
    ///   ``EngineConfiguration/shutdownLimit``. When all settlements are durable, the new connector continues there. Nothing is
    ///   lost, each lane keeps its order, and only entries without an answer are possible duplicates.
    /// - A route that is left out ends in the same way. Its entries stay in the journal.
    ///
    /// Submissions go on meanwhile, and use the new routes from before this returns. Entries stay in their lane, whatever route
    /// their topic has now.
    ///
    /// The whole configuration is exchanged except for ``EngineConfiguration/keepsOutcomes``,
    /// ``EngineConfiguration/logInterval``, ``EngineConfiguration/measureInterval`` and ``EngineConfiguration/listenerLimit``,
    /// which cannot change. ``EngineConfiguration/barrierIdle`` applies to new connections.
    ///
    /// Concurrent calls wait for each other.
    ///
    /// - Returns: the change of each route, when it is complete.
    /// - Throws: ``RouteError`` if routes contradict each other, or ``JournalError`` if a new lane can't be opened: nothing has
    ///   changed then. ``JournalError`` with code ``JournalError/Code/closed`` if the engine ended.
    @discardableResult
    public func reconfigure(
        routes: [Route], configuration: EngineConfiguration
    ) async throws -> Reconfiguration {
        await turnstile.enter()
        defer { turnstile.leave() }
        return try await withCheckedThrowingContinuation { continuation in
            // New lanes wait for their commit.
            Thread.detachNewThread { [core] in
                core.reconfigure(routes: routes, configuration: configuration) { continuation.resume(with: $0) }
            }
        }
    }

    /// Makes each route's connector read its keys, certificates and trusted certificates again: see ``Connector/reload()``.
    ///
    /// - Returns: the result for each route.
    public func reloadCredentials() async -> [CredentialReload] { await core.reloadCredentials() }

    /// Sends a barrier on each connection with unconfirmed entries, if the service answers errors only. Each costs its
    /// connection.
    public func writeBarriers() { core.writeBarriers() }

    private func shutDown() {
        core.shutDown()
        news.put(.shutDown)
    }

    private func deliver() async -> Consumer.End {
        await withDiscardingTaskGroup { group in
            var result = Consumer.End.shutDown
            var running = 0
            var isEnding = false
            for route in core.routes {
                begin(route, in: &group)
                running += 1
            }
            // Without routes there is nothing to wait for; one that is left without them may yet be given others.
            isEnding = running == 0
            while running > 0 || !isEnding {
                switch await news.next() {
                case .came(let route):
                    begin(route, in: &group)
                    running += 1
                case .ended(let route, let end):
                    running -= 1
                    requests.end(route)
                    if case .failed = end {
                        result = end
                        shutDown()
                    }
                    core.ended(route: route)
                case .shutDown: isEnding = true
                }
            }
            group.cancelAll()
            return result
        }
    }

    private func begin(_ route: Int, in group: inout DiscardingTaskGroup) {
        let consumer = core.consumer(route)
        let numbers = requests.stream(for: route)
        group.addTask { [news] in news.put(.ended(route, await Self.runThread(of: consumer))) }
        group.addTask { [core] in
            for await number in numbers {
                let result: Result<any Connection, ConnectError>
                do throws(ConnectError) {
                    result = .success(try await consumer.connector.connect(consumer.sink(for: number)))
                } catch {
                    result = .failure(error)
                }
                core.connected(route: route, connection: number, result)
            }
        }
    }

    /// The consumer's own thread: nothing else runs on it, so its turns never wait for a pool.
    private static func runThread(of consumer: Consumer) async -> Consumer.End {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                consumer.start()
                while true {
                    let wake = consumer.turn()
                    if let end = consumer.end { return continuation.resume(returning: end) }
                    consumer.waitForWork(until: wake)
                }
            }
            thread.name = "holdfast-\(consumer.name)"
            thread.stackSize = 4 << 20
            thread.start()
        }
    }
}
