public import CoreMetrics
internal import Foundation
public import Logging
public import ServiceLifecycle

/// A journal, its lanes, and what delivers them.
///
///     let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])
///     let receipts = await engine.producer.submit(notifications)   // on disk from here on
///     try await engine.run()                                       // delivers until shutdown
///
/// A `Service` of swift-service-lifecycle: on graceful shutdown it takes nothing new, waits for what is in flight for at
/// most ``EngineConfiguration/shutdownLimit``, and leaves the rest in the journal. Interrupted work is not failed work.
/// The journal stays open; it is closed by who opened it.
public final class PushEngine: Service, Sendable {
    private let core: EngineCore
    private let requests = ConnectionRequests()
    private let news = Mailbox<News>()
    private let turnstile = Turnstile()
    private let hasRun = Monitor(false)

    /// What concerns ``run()``.
    private enum News: Sendable {
        /// A Consumer has come with a reconfiguration.
        case came(Int)
        case ended(Int, Consumer.End)
        case shutDown
    }

    /// Opens the lanes of all routes in the journal.
    ///
    /// Neither logging nor metrics are ever bootstrapped here: that is the application's to do, before it makes an engine.
    ///
    /// - Parameters:
    ///   - listeners: hear what happens, in figures, beside the metrics.
    ///   - metrics: where metrics go; nil for the factory that swift-metrics was bootstrapped with.
    /// - Throws: ``JournalError`` (``JournalError/Code/inUse`` while another engine delivers from the journal), or
    ///   ``RouteError`` when routes contradict each other.
    public init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration = EngineConfiguration(),
        clock: EngineClock = .system, logger: Logger = Logger(label: "holdfast"),
        listeners: [any MetricsListener] = [], metrics: (any MetricsFactory)? = nil
    ) throws {
        var listeners = listeners
        let factory = metrics ?? MetricsSystem.factory
        if !(factory is NOOPMetricsHandler) {
            listeners.append(SwiftMetricsExporter(factory: factory, routes: routes.map(\.name)))
        }
        var system = SystemRandomNumberGenerator()
        core = try EngineCore(
            journal: journal, routes: routes, configuration: configuration, clock: clock, logger: logger,
            listeners: listeners, seed: system.next(),
            begin: { [news] in news.put(.came($0)) },
            requestConnection: { [requests] route, number in requests.put(number, for: route) })
    }

    /// Accepts notifications, also before ``run()``, under the name `default`.
    public var producer: Producer { core.producer }

    /// Accepts notifications under a name of its own: its counts and ``Producer/untilDrained()`` are apart from others'.
    ///
    /// - Parameter name: 1 to 64 bytes; kept with each notification. At most ``ProducerID/greatestCount`` in a journal.
    /// - Throws: ``Refusal`` for a name that is none, ``JournalError`` when the journal can't register a new one.
    public func producer(named name: String) throws -> Producer { try core.producer(named: name) }

    /// Every Producer that ever submitted to this journal, in figures that a restart does not change.
    public func producers() throws(JournalError) -> [ProducerStatus] { try core.journal.producers() }

    /// What happens, as it happens, from now on. Whoever does not keep up loses the oldest events, which are counted
    /// (``EngineStatus/eventsDropped``); nothing ever waits for a listener.
    ///
    /// - Parameter limit: the most events that wait for this listener. Default: 1000.
    public func events(buffering limit: Int = 1000) -> AsyncStream<EngineEvent> { core.events.stream(buffering: limit) }

    /// The outcomes of all notifications, for the application to act upon; each is kept in the journal until it is taken.
    /// Needs ``EngineConfiguration/keepsOutcomes``.
    public var outcomes: Outcomes { Outcomes(source: core.outcomes) }

    /// Where an entry stands, as far as the journal still knows: nil when it knows nothing any more.
    public func fate(of uid: UID) throws(JournalError) -> EntryFate? { try core.journal.fate(of: uid) }

    /// How the notification of a receipt ended; nil while it has not, and when the journal does not know any more: when the
    /// outcome was taken, or outcomes are not kept, and its apns-id is not remembered (``EngineConfiguration/remembersIDs``).
    public func outcome(of receipt: Receipt) throws(JournalError) -> TerminalOutcome? {
        if case .repeated(_, let outcome) = receipt { return outcome }
        guard let uid = receipt.uid, case .settled(let outcome)? = try fate(of: uid) else { return nil }
        return outcome
    }

    /// What was refused for good, ascending by UID from the first above `after`.
    public func rejections(after: UID = .none, limit: Int = 1000) throws(JournalError) -> [Rejection] {
        try core.journal.rejections(after: after, limit: limit)
    }

    /// The journal's token blacklist, which `submit` and the engine apply.
    public var blacklist: TokenBlacklist { core.producer.blacklist }

    /// The push service that notifications of a topic go to, by its ``Connector/serviceIdentity``; nil when no route serves
    /// the topic.
    package func serviceIdentity(for topic: String) -> String? {
        core.producer.terms.routes.serviceIdentity(for: topic)
    }

    /// What was left under `name` in the journal; nil when there is nothing.
    package func note(_ name: String) throws(JournalError) -> [UInt8]? { try core.journal.note(name) }

    /// Leaves `value` under `name` in the journal, or with nil takes it away. Also when the journal takes no notifications,
    /// being full. Not for hot paths.
    ///
    /// - Parameter completion: on a thread of its own, when the commit is on disk, or why it is not.
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

    /// Delivers until it is shut down or cancelled. May be called once.
    ///
    /// - Throws: ``JournalError`` when the journal can't be used any more; what was accepted is in it.
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

    /// As of now.
    public func status() -> EngineStatus { core.status() }

    /// Waits until nothing is left to do: every entry has met its end, or what is left is in lanes that are stopped.
    /// Needs ``run()`` to be running.
    public func untilIdle() async -> EngineRest {
        await core.untilRest()
    }

    /// What operators may do: pause and resume lanes, take entries back, send rejections again, and more. What concerns
    /// lanes waits for ``run()``.
    public var desk: any OperatorDesk { EngineDesk(core: core) }

    /// Exchanges routes and bounds while the engine runs. Needs ``run()`` to be running.
    ///
    /// Routes are known by their names. One that is a copy of the one before, as it was or
    /// ``Route/with(topics:connections:scaling:rate:)`` other terms, keeps the connections that it has. One with another connector takes the lanes over: the old
    /// connections get the answers that they wait for, for at most ``EngineConfiguration/shutdownLimit``, and when all that
    /// came of it is on disk, the new one goes on where they ended. So nothing is lost, each lane keeps its order, and only
    /// what the service did not answer for within the limit is a possible duplicate. A route that is gone ends the same way,
    /// and what waits in its lanes stays in the journal, served by nobody. Submissions are never refused meanwhile; they go
    /// by the new routes, all at once, from before this returns. What a lane holds already stays in it, whichever route its
    /// topic has now.
    ///
    /// Of the configuration all is taken up but ``EngineConfiguration/keepsOutcomes``, ``EngineConfiguration/logInterval``,
    /// ``EngineConfiguration/measureInterval`` and ``EngineConfiguration/listenerLimit``, which are for the engine's life;
    /// ``EngineConfiguration/barrierIdle`` holds for new connections.
    ///
    /// Where calls meet, one waits for the other.
    ///
    /// - Returns: what became of each route, when it has.
    /// - Throws: ``RouteError`` when routes contradict each other, or ``JournalError`` when a new lane can't be opened:
    ///   everything is as it was then. ``JournalError`` with code ``JournalError/Code/closed`` when the engine ended.
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

    /// Has each route's connector read its keys, certificates and trusted certificates again, and take up what is good: see
    /// ``Connector/reload()``.
    ///
    /// - Returns: what came of it, by route.
    public func reloadCredentials() async -> [CredentialReload] { await core.reloadCredentials() }

    /// On routes whose service answers errors only: asks for proof of what is unconfirmed, now. It costs a connection.
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
