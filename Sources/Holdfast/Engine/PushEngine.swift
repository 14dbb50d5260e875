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
    /// Accepts notifications, also before ``run()``.
    public let producer: Producer

    private let journal: any Journal
    private let consumers: [Consumer]
    private let requests: [AsyncStream<Int>]
    private let board: StatusBoard
    private let laneIDs: [LaneKey: LaneID]
    private let hasRun = Monitor(false)

    /// Opens the lanes of all routes in the journal.
    ///
    /// - Throws: ``JournalError``, or ``RouteError`` when routes contradict each other.
    public init(
        journal: any Journal, routes: [Route], configuration: EngineConfiguration = EngineConfiguration(),
        clock: EngineClock = .system, logger: Logger = Logger(label: "holdfast")
    ) throws {
        let table = try RouteTable(routes, journal: journal)
        let producer = Producer(journal: journal, routes: table, configuration: configuration, clock: clock)
        let board = StatusBoard(routes: routes.map(\.name))
        var requests: [AsyncStream<Int>] = []
        var consumers: [Consumer] = []
        var system = SystemRandomNumberGenerator()
        for entry in table.entries {
            // One connection is asked for at a time, so one place is enough.
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
            requests.append(stream)
            consumers.append(
                Consumer(
                    route: entry, producer: producer, clock: clock, logger: logger, board: board,
                    randomSeed: system.next(), requestConnection: { continuation.yield($0) }))
        }
        self.journal = journal
        self.producer = producer
        self.board = board
        self.requests = requests
        self.consumers = consumers
        laneIDs = Dictionary(
            uniqueKeysWithValues: table.entries.flatMap { $0.lanes.map { ($0.key, $0.opening.id) } })
        // The consumers hold the journal and the Producer; these must not hold the consumers.
        let observers = consumers.map { WeakConsumer(consumer: $0) }
        producer.state.withLock { state in
            state.onJournalFailure = { error in
                for observer in observers { observer.consumer?.post { $0.failure = error } }
            }
        }
        journal.observeCommits { report in
            for observer in observers {
                observer.consumer?.post { inbox in for lane in report.lanes { inbox.commits[lane.id] = lane } }
            }
        }
    }

    public var blacklist: TokenBlacklist { producer.blacklist }

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
        board.ended()
        for consumer in consumers { consumer.closeUnclaimed() }
        if case .failed(let error) = end { throw error }
    }

    /// As of now.
    public func status() -> EngineStatus {
        var status = board.status { key in laneIDs[key].map(journal.depth) ?? 0 }
        (status.submitted, status.refused) = producer.state.withLock { ($0.submitted, $0.refused) }
        return status
    }

    /// Waits until nothing is left to do: every entry has met its end, or what is left is in lanes that are stopped.
    /// Needs ``run()`` to be running.
    public func untilIdle() async -> EngineRest {
        await board.untilRest { for consumer in consumers { consumer.post { $0.nudged = true } } }
    }

    /// Lets a stopped lane run again, when the cause is mended.
    public func resume(_ key: LaneKey) {
        guard let id = laneIDs[key] else { return }
        for consumer in consumers { consumer.post { $0.resumedLanes.append(id) } }
    }

    private func shutDown() {
        producer.hold(Refusal(.shuttingDown, "the engine is shutting down"))
        for consumer in consumers { consumer.post { $0.shutdownAsked = true } }
    }

    private func deliver() async -> Consumer.End {
        await withTaskGroup(of: Consumer.End?.self) { group in
            for (consumer, requests) in zip(consumers, requests) {
                group.addTask { await Self.runThread(of: consumer) }
                group.addTask { await Self.connect(for: consumer, on: requests) }
            }
            var result = Consumer.End.shutDown
            var running = consumers.count
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

/// A Consumer for those who tell it things and do not own it.
private struct WeakConsumer: Sendable {
    weak var consumer: Consumer?
}
