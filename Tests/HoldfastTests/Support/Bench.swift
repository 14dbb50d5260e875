import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// An engine that a test steps by hand: time, disk, connections and service do what the test says, and nothing else moves.
///
/// After each turn that leaves nothing new the bench checks that the engine does not ask to come back at once: an engine
/// that does spins.
final class Bench {
    let clock: ManualClock
    let journal: InMemoryJournal
    let core: EngineCore
    let modes: [ConfirmationMode]
    /// All that were made, by route.
    private(set) var connections: [[StubConnection]]
    /// Requests for connections that were not answered; by route.
    private let requests: Monitor<[Int: Int]>
    /// When each route wants to be stepped again.
    private(set) var wakes: [Duration?]
    private(set) var turnCount = 0

    /// Whether a request for a connection is answered with one.
    var accepts = true
    /// By route.
    let connectors: [StubConnector]
    var capacity = 1000
    var canWriteBarrier = true
    /// What each new connection answers at once.
    var answer: @Sendable (PushNotification) -> SendResult? = { _ in nil }
    /// Changes a connection when it is made.
    var prepare: (StubConnection) -> Void = { _ in }
    /// In manual mode: whether ``settle()`` commits what waits.
    var commits = true
    /// How long each turn takes, as on a busy machine: the time passes behind its first look at the clock.
    private let slowness: Duration
    /// Looks at the clock in the present turn; nil outside of turns.
    private let looks = Monitor<Int?>(nil)

    /// - Parameter seen: the journal as the engine sees it, such as one that forwards all to `journal`.
    init(
        _ journal: InMemoryJournal = InMemoryJournal(), through seen: (any JournalService)? = nil,
        clock: ManualClock = ManualClock(),
        modes: [ConfirmationMode] = [.perNotification], connectionLimit: Int = 1,
        scaling: ConnectionScaling = ConnectionScaling(), rate: RateLimit? = nil, rates: SharedRates = SharedRates(),
        endpoint: String = "stub", slowness: Duration = .zero,
        log: RecordingLog? = nil, listeners: [any MetricsListener] = [],
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = EngineConfiguration()
        configuration.reconnectMinimum = .milliseconds(1)
        configuration.reconnectMaximum = .milliseconds(2)
        configuration.throttle.firstBurst = .max
        change(&configuration)
        var logger = log?.logger() ?? Logger(label: "test")
        if log == nil { logger.logLevel = .critical }
        self.clock = clock
        self.slowness = slowness
        self.journal = journal
        self.modes = modes
        let requests = Monitor<[Int: Int]>([:])
        self.requests = requests
        let looks = looks
        // Without the clock's own waking: the engine has to say when it wants to come back.
        // The first route takes every topic that no other names.
        let connectors = modes.map { StubConnector($0, endpoint: endpoint) }
        self.connectors = connectors
        let routes = modes.enumerated().map { index, mode in
            Route(
                name: index == 0 ? "default" : "route\(index)", connector: connectors[index],
                topics: index == 0 ? nil : ["com.example.route\(index)"], connections: connectionLimit,
                scaling: scaling, rate: rate)
        }
        let service: any JournalService = seen ?? journal
        core = try EngineCore(
            journal: service, routes: routes, configuration: configuration,
            clock: EngineClock(
                wall: { clock.wall },
                monotonic: {
                    let isSecond = looks.withLock { count in
                        defer { count = count.map { $0 + 1 } }
                        return count == 1
                    }
                    if isSecond { clock.advance(by: slowness) }
                    return clock.monotonic
                }), logger: logger,
            listeners: listeners, rates: rates, seed: 1,
            requestConnection: { route, number in requests.withLock { $0[route] = number } })
        connections = modes.map { _ in [] }
        wakes = modes.map { _ in nil }
        for route in modes.indices { core.start(route: route) }
    }

    /// What a new process makes of what a kill leaves.
    func crashed(
        modes: [ConfirmationMode]? = nil, change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        try Bench(journal.crashed(), clock: clock, modes: modes ?? self.modes, change: change)
    }

    // MARK: Looking

    /// The first route's last connection.
    var connection: StubConnection {
        guard let last = connections[0].last else { preconditionFailure("no connection was ever made") }
        return last
    }
    /// The numbers of all notifications that the first route's connections were given, in order.
    var sent: [Int] { connections[0].flatMap(\.numbers) }
    var status: EngineStatus { core.status() }
    var consumer: Consumer { core.consumers[0] }
    var isConnectionRequested: Bool { requests.withLock { $0[0] != nil } }

    func lane(_ guarantee: Guarantee = .atLeastOnce, _ urgency: Urgency = .immediate, route: String = "default")
        -> LaneKey
    {
        LaneKey(route: route, urgency: urgency, guarantee: guarantee)
    }

    /// Events since ``listen()``, up to now.
    func events(_ stream: AsyncStream<EngineEvent>) async -> [EngineEvent] {
        let last = EngineEvent.drained(producer: "the last event")
        core.events.emit(last)
        var events: [EngineEvent] = []
        for await event in stream {
            if event == last { break }
            events.append(event)
        }
        return events
    }

    func listen() -> AsyncStream<EngineEvent> { core.events.stream(buffering: 10_000) }

    // MARK: Doing

    /// Submits, and, unless the journal is stepped by hand, has it committed.
    @discardableResult
    func submit(_ notifications: [PushNotification], as name: String? = nil) throws -> [Receipt] {
        let producer = try name.map { try core.producer(named: $0) } ?? core.producer
        let receipts = Monitor<[Receipt]>([])
        producer.submit(notifications) { done in receipts.withLock { $0 = done } }
        if commits { journal.commit() }
        return receipts.withLock { $0 }
    }

    @discardableResult
    func submit(_ numbers: Range<Int>, guarantee: Guarantee = .atLeastOnce) throws -> [Receipt] {
        try submit(numbers.map { Sample.notification($0, guarantee: guarantee) })
    }

    /// One turn of one route.
    func turn(_ route: Int = 0) {
        turnCount += 1
        looks.withLock { $0 = 0 }
        wakes[route] = core.turn(route: route)
        looks.withLock { $0 = nil }
        guard core.end(of: route) == nil, !core.hasNews(route: route), let wake = wakes[route] else { return }
        // Of a turn that took long it may be that there is something to do by now.
        if wake <= clock.monotonic, slowness == .zero {
            Issue.record("route \(route) asks to be stepped again at once, with nothing to do")
        }
    }

    /// Turns until nothing new comes without time passing.
    func settle() {
        for _ in 0..<10_000 {
            var isOver = true
            for route in modes.indices where core.end(of: route) == nil {
                if core.hasNews(route: route) || turnCount < modes.count {
                    turn(route)
                    isOver = false
                }
                if accepts, connect(route) { isOver = false }
            }
            if commits, journal.waitingCount > 0 || journal.waitingBlacklistCount > 0 {
                journal.commitBlacklist()
                journal.commit()
                isOver = false
            }
            if isOver { return }
        }
        Issue.record("the engine does not come to rest")
    }

    /// Answers a route's request for a connection, if there is one.
    @discardableResult
    func connect(_ route: Int = 0) -> Bool {
        guard let number = requests.withLock({ $0.removeValue(forKey: route) }) else { return false }
        var isCumulative = false
        if case .cumulative = modes[route] { isCumulative = true }
        let connection = StubConnection(
            number: number, sink: core.sink(route: route, connection: number), capacity: capacity,
            isCumulative: isCumulative, canWriteBarrier: canWriteBarrier)
        let answer = answer
        connection.state.withLock { $0.answer = answer }
        prepare(connection)
        connections[route].append(connection)
        core.connected(route: route, connection: number, .success(connection))
        return true
    }

    func refuseConnection(_ error: ConnectError = ConnectError(.temporary, "refused"), route: Int = 0) {
        guard let number = requests.withLock({ $0.removeValue(forKey: route) }) else { return }
        core.connected(route: route, connection: number, .failure(error))
    }

    /// Time passes, and after each step a service looks at each connection of the first route that has not ended.
    func serve(for duration: Duration, every step: Duration, answer: (StubConnection) -> Void) {
        for _ in 0..<Int(duration / step) {
            advance(by: step)
            for connection in connections[0] where !connection.hasEnded { answer(connection) }
            settle()
        }
    }

    /// Time passes, and the engine comes back whenever it wants to.
    func advance(by duration: Duration) {
        settle()
        let end = clock.monotonic + duration
        var stops = 0
        while true {
            let next = modes.indices.filter { core.end(of: $0) == nil }.compactMap { wakes[$0] }.min()
            guard let next, next <= end else { break }
            clock.advance(by: max(next - clock.monotonic, .zero))
            for route in modes.indices where core.end(of: route) == nil {
                if let wake = wakes[route], wake <= clock.monotonic { turn(route) }
            }
            settle()
            stops += 1
            if stops > 20_000 {
                Issue.record("the engine was woken 20,000 times within \(duration)")
                return
            }
        }
        clock.advance(by: max(end - clock.monotonic, .zero))
        settle()
    }
}

extension Sample {
    /// Of a notification that ``notification(_:guarantee:)`` made.
    static func number(of notification: PushNotification) -> Int {
        notification.recipient.address.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
