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
    /// - Throws: ``JournalError``, or ``RouteError`` when routes contradict each other.
    public init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration = EngineConfiguration(),
        clock: EngineClock = .system, logger: Logger = Logger(label: "holdfast")
    ) throws {
        // One connection is asked for at a time, so one place is enough.
        let streams = routes.map { _ in AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1)) }
        requests = streams.map(\.stream)
        let continuations = streams.map(\.continuation)
        var system = SystemRandomNumberGenerator()
        core = try EngineCore(
            journal: journal, routes: routes, configuration: configuration, clock: clock, logger: logger,
            seed: system.next(), requestConnection: { route, number in continuations[route].yield(number) })
    }

    /// Accepts notifications, also before ``run()``, under the name `default`.
    public var producer: Producer { core.producer }

    public var blacklist: TokenBlacklist { core.producer.blacklist }

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

    /// Lets a stopped or paused lane run again, when the cause is mended.
    public func resume(_ key: LaneKey) { core.resume(key) }

    /// Hands out nothing of the lane any more, in this process, until it is resumed. What is in flight gets its answers.
    public func pause(_ key: LaneKey) { core.pause(key) }

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
