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
    private let requests: [AsyncStream<Int>]
    private let hasRun = Monitor(false)

    /// Opens the lanes of all routes in the journal.
    ///
    /// Neither logging nor metrics are ever bootstrapped here: that is the application's to do, before it makes an engine.
    ///
    /// - Parameters:
    ///   - listeners: hear what happens, in figures, beside the metrics.
    ///   - metrics: where metrics go; nil for the factory that swift-metrics was bootstrapped with.
    /// - Throws: ``JournalError``, or ``RouteError`` when routes contradict each other.
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
        // One connection is asked for at a time, so one place is enough.
        let streams = routes.map { _ in AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1)) }
        requests = streams.map(\.stream)
        let continuations = streams.map(\.continuation)
        var system = SystemRandomNumberGenerator()
        core = try EngineCore(
            journal: journal, routes: routes, configuration: configuration, clock: clock, logger: logger,
            listeners: listeners, seed: system.next(),
            requestConnection: { route, number in continuations[route].yield(number) })
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

    /// How the notification of a receipt ended; nil while it has not, and when the journal does not know any more, which is
    /// when the outcome was taken, or outcomes are not kept.
    public func outcome(of receipt: Receipt) throws(JournalError) -> TerminalOutcome? {
        if case .repeated(_, let outcome) = receipt { return outcome }
        guard let uid = receipt.uid, case .settled(let outcome)? = try fate(of: uid) else { return nil }
        return outcome
    }

    /// What was refused for good, ascending by UID from the first above `after`.
    public func rejections(after: UID = .none, limit: Int = 1000) throws(JournalError) -> [Rejection] {
        try core.journal.rejections(after: after, limit: limit)
    }

    public var blacklist: TokenBlacklist { core.producer.blacklist }

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
        await core.board.untilRest { for consumer in core.consumers { consumer.post { $0.nudged = true } } }
    }

    /// What operators may do: pause and resume lanes, take entries back, send rejections again, and more. What concerns
    /// lanes waits for ``run()``.
    public var desk: any OperatorDesk { EngineDesk(core: core) }

    /// On routes whose service answers errors only: asks for proof of what is unconfirmed, now. It costs a connection.
    public func writeBarriers() { core.writeBarriers() }

    private func shutDown() { core.shutDown() }

    private func deliver() async -> Consumer.End {
        await withTaskGroup(of: Consumer.End?.self) { group in
            for (consumer, requests) in zip(core.consumers, requests) {
                group.addTask { await Self.runThread(of: consumer) }
                group.addTask { await Self.connect(for: consumer, on: requests) }
            }
            var result = Consumer.End.shutDown
            var running = core.consumers.count
            while running > 0, let ended = await group.next() {
                guard let end = ended else { continue }
                running -= 1
                if case .failed = end {
                    result = end
                    shutDown()
                }
            }
            group.cancelAll()
            return result
        }
    }

    /// Makes the connections that the consumer asks for, one after the other.
    private static func connect(for consumer: Consumer, on requests: AsyncStream<Int>) async -> Consumer.End? {
        for await number in requests {
            let result: Result<any Connection, ConnectError>
            do throws(ConnectError) {
                result = .success(try await consumer.route.connector.connect(consumer.sink(for: number)))
            } catch {
                result = .failure(error)
            }
            consumer.post { $0.connected.append((number, result)) }
        }
        return nil
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
            thread.name = "holdfast-\(consumer.route.name)"
            thread.stackSize = 4 << 20
            thread.start()
        }
    }
}
