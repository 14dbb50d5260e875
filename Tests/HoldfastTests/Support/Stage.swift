import HoldfastTesting
import Logging

@testable import Holdfast

/// An engine whose routes a test exchanges while it steps it by hand. Like the ``Bench``, with Consumers that come and go.
final class Stage {
    let clock: ManualClock
    let journal: InMemoryJournal
    let core: EngineCore
    /// Whether ``settle()`` commits what waits.
    var commits = true
    /// Whether connections that are asked for are made; otherwise they are being made.
    var connects = true
    /// Turns and commits that are left; nil for as many as it takes.
    var budget: Int?
    /// What became of reconfigurations.
    let outcomes = Monitor<[Result<Reconfiguration, any Error>]>([])
    private var made: [ObjectIdentifier: [StubConnection]] = [:]
    private var wakes: [Int: Duration] = [:]
    private var running: Set<Int> = []
    private var configuration: EngineConfiguration
    private let requests = Monitor<[Int: Int]>([:])
    private let begun: Monitor<[Int]>

    /// Changes a connection when it is made.
    var prepare: (StubConnection) -> Void = { _ in }

    convenience init(
        _ routes: [Route], _ journal: InMemoryJournal = InMemoryJournal(mode: .manual),
        clock: ManualClock = ManualClock(), change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws {
        try self.init(routes, journal: journal, over: journal, clock: clock, change: change)
    }

    /// With an engine that sees its journal by way of another one.
    convenience init(_ routes: [Route], journal: ForwardingJournal) throws {
        try self.init(routes, journal: journal, over: journal.base, clock: ManualClock(), change: { _ in })
    }

    private init(
        _ routes: [Route], journal seen: any JournalService, over journal: InMemoryJournal, clock: ManualClock,
        change: (inout EngineConfiguration) -> Void
    ) throws {
        var configuration = EngineConfiguration()
        configuration.reconnectMinimum = .milliseconds(1)
        configuration.reconnectMaximum = .milliseconds(2)
        configuration.shutdownLimit = .seconds(5)
        configuration.throttle.firstBurst = .max
        change(&configuration)
        self.configuration = configuration
        self.clock = clock
        self.journal = journal
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let begun = Monitor<[Int]>([])
        self.begun = begun
        core = try EngineCore(
            journal: seen, routes: routes, configuration: configuration,
            clock: EngineClock(wall: { clock.wall }, monotonic: { clock.monotonic }), logger: logger, seed: 1,
            begin: { number in begun.withLock { $0.append(number) } },
            requestConnection: { [requests] route, number in requests.withLock { $0[route] = number } })
        for number in core.routes { begin(number) }
    }

    private func begin(_ number: Int) {
        running.insert(number)
        core.start(route: number)
        wakes[number] = clock.monotonic
    }

    // MARK: Looking

    func connections(of connector: StubConnector) -> [StubConnection] { made[ObjectIdentifier(connector)] ?? [] }

    /// The numbers of what a connector was given, in order.
    func sent(_ connector: StubConnector) -> [Int] { connections(of: connector).flatMap(\.numbers) }

    var status: EngineStatus { core.status() }
    var reports: [Reconfiguration] { outcomes.withLock { $0.compactMap { try? $0.get() } } }
    var failures: Int { outcomes.withLock { $0.count { if case .failure = $0 { true } else { false } } } }

    func lane(_ route: String, _ guarantee: Guarantee = .atLeastOnce) -> LaneKey {
        LaneKey(route: route, urgency: .immediate, guarantee: guarantee)
    }

    /// Unconfirmed entries of a lane that need not be served.
    func depth(_ key: LaneKey) throws -> Int { journal.depth(try journal.openLane(key).id) }

    // MARK: Doing

    @discardableResult
    func submit(_ numbers: Range<Int>, topic: String = "com.example.app", guarantee: Guarantee = .atLeastOnce)
        -> [Receipt]
    {
        let receipts = Monitor<[Receipt]>([])
        let notifications = numbers.map { number in
            var notification = Sample.notification(number, guarantee: guarantee)
            notification.topic = topic
            return notification
        }
        core.producer.submit(notifications) { done in receipts.withLock { $0 = done } }
        journal.commit()
        return receipts.withLock { $0 }
    }

    func reconfigure(_ routes: [Route], change: (inout EngineConfiguration) -> Void = { _ in }) {
        change(&configuration)
        core.reconfigure(routes: routes, configuration: configuration) { [outcomes] result in
            outcomes.withLock { $0.append(result) }
        }
    }

    /// Turns until nothing new comes without time passing, or the budget is used up.
    func settle() {
        var left = 10_000
        while left > 0, step() { left -= 1 }
    }

    /// - Returns: whether there was anything to do.
    private func step() -> Bool {
        var isOver = true
        for number in begun.withLock({ begun in
            defer { begun = [] }
            return begun
        }) {
            begin(number)
            isOver = false
        }
        for number in running.sorted() {
            guard core.hasNews(route: number) || wakes[number].map({ $0 <= clock.monotonic }) ?? false else { continue }
            guard spend() else { return false }
            wakes[number] = core.turn(route: number)
            isOver = false
            guard core.end(of: number) != nil else { continue }
            running.remove(number)
            wakes[number] = nil
            core.ended(route: number)
        }
        for number in requests.withLock({ requests in
            defer { if connects { requests = [:] } }
            return connects ? requests : [:]
        }) {
            connect(number.key, number.value)
            isOver = false
        }
        if commits, journal.waitingCount > 0 || journal.waitingBlacklistCount > 0 {
            guard spend() else { return false }
            journal.commitBlacklist()
            journal.commit()
            isOver = false
        }
        return !isOver
    }

    private func spend() -> Bool {
        guard let budget else { return true }
        self.budget = budget - 1
        return budget > 0
    }

    private func connect(_ route: Int, _ number: Int) {
        guard running.contains(route), let connector = core.consumer(route).connector as? StubConnector else { return }
        var isCumulative = false
        if case .cumulative = connector.confirmationMode { isCumulative = true }
        let connection = StubConnection(
            number: number, sink: core.sink(route: route, connection: number), capacity: 1000,
            isCumulative: isCumulative, canWriteBarrier: true, endpoint: connector.endpoint)
        prepare(connection)
        made[ObjectIdentifier(connector), default: []].append(connection)
        core.connected(route: route, connection: number, .success(connection))
    }

    /// Time passes, and the engine comes back whenever it wants to.
    func advance(by duration: Duration) {
        settle()
        let end = clock.monotonic + duration
        while let next = wakes.values.min(), next <= end {
            clock.advance(by: max(next - clock.monotonic, .milliseconds(1)))
            settle()
        }
        clock.advance(by: max(end - clock.monotonic, .zero))
        settle()
    }
}
