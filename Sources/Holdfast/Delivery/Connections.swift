/// The connections of a route: those that take hand-outs, those that end, and the one that is being made.
final class Connections {
    /// The number of the link for settlements that no connection has to do with.
    static let none = ServiceVoices.nobody

    /// How long a connection that is not needed any more may take over what it has. Its requests have deadlines of their
    /// own, which come first.
    private static let retirement = Duration.seconds(5 * 60)

    private let context: RouteContext
    private(set) var links: [Int: Link] = [Connections.none: Link()]
    private(set) var pool: ConnectionPool
    private var scaler: ConnectionScaler
    /// The number of the next connection.
    private(set) var next = 1
    /// The number of this turn. It goes round.
    private(set) var turn: UInt32 = 0
    /// Asks for a connection with this number; the outcome comes to the inbox.
    private let request: @Sendable (Int) -> Void

    init(_ context: RouteContext, request: @escaping @Sendable (Int) -> Void) {
        self.context = context
        self.request = request
        let (route, configuration) = (context.route, context.configuration)
        pool = ConnectionPool(
            limit: route.connections, reconnect: configuration.reconnectSchedule,
            budget: configuration.reconnectBudget(for: context.connector.confirmationMode))
        scaler = ConnectionScaler(route.scaling)
    }

    /// The route's terms have changed.
    func change(from old: Route, now: Duration) {
        let (route, configuration) = (context.route, context.configuration)
        pool.change(
            limit: route.connections, reconnect: configuration.reconnectSchedule,
            budget: configuration.reconnectBudget(for: context.connector.confirmationMode))
        leaveSurplus(now: now)
        if route.scaling != old.scaling { scaler = ConnectionScaler(route.scaling) }
    }

    // MARK: What there is

    subscript(number: Int) -> Link? { links[number] }

    /// The link for settlements that no connection has to do with.
    var none: Link { links[Self.none]! }

    /// Links in the order of their numbers: what is done for each is done in the same order each time.
    var ordered: [(key: Int, value: Link)] { links.sorted { $0.key < $1.key } }

    /// Entries of all connections that are in flight.
    var inFlight: Int { links.values.reduce(0) { $0 + $1.count } }

    /// Entries in flight on connections that take more.
    var inFlightOnActive: Int { pool.active.reduce(0) { $0 + (links[$1]?.count ?? 0) } }

    /// Whether an entry is with a connection that has not answered.
    func isOut(lane: Int, _ uid: UID) -> Bool { links.values.contains { $0.flights.isWaitingFor(lane: lane, uid) } }

    /// Whether any connection has not ended.
    var areOpen: Bool { links.values.contains { $0.connection != nil } }

    /// The connection that takes hand-outs; nil for one that takes none now.
    func open(_ number: Int) -> Link? { links[number].flatMap { $0.isOpen ? $0 : nil } }

    /// A new turn begins.
    func look(now: Duration) {
        turn &+= 1
        for link in links.values { link.flights.look(now: now, turn: turn) }
    }

    /// Pauses that are over end.
    func endPauses(now: Duration) {
        for link in links.values { if let until = link.pausedUntil, until <= now { link.pausedUntil = nil } }
    }

    /// A connection that refuses all it is given is given nothing for a while.
    func pauseIfRefusing(_ number: Int, now: Duration) {
        guard let link = links[number], link.flights.isRefusing() else { return }
        var schedule = context.configuration.reconnectSchedule
        schedule.skip(link.flights.refusals - 2)
        link.pausedUntil = now + schedule.failed(random: context.jitter.unit())
    }

    /// A connection that has ended goes when nothing of it is in flight any more.
    func forgetIfOver(_ number: Int) {
        guard number != Self.none, let link = links[number], link.isOver else { return }
        links[number] = nil
    }

    var nextLooks: [Duration] { links.values.compactMap(\.nextLook) }

    // MARK: Made and ended

    /// Asks for a connection, if it is wanted and may be made.
    func connect(isWanted: Bool, now: Duration) {
        guard isWanted else { return pool.rest(now: now) }
        guard pool.begin(now: now) else { return }
        scaler.changed()
        if pool.active.isEmpty { context.tell(.connecting) }
        request(next)
    }

    func made(_ number: Int, _ connection: any Connection, now: Duration) {
        next = number + 1
        let configuration = context.configuration
        let link = Link(
            connection, mode: context.connector.confirmationMode, barrierIdle: configuration.barrierIdle)
        link.flights.look(now: now, turn: turn)
        links[number] = link
        pool.made(number)
        // While it was being made there may have come to be fewer.
        leaveSurplus(now: now)
    }

    /// One came about when the route was about to end.
    func madeInVain(_ number: Int, _ connection: any Connection) {
        next = number + 1
        connection.close(deadline: .zero)
        pool.madeInVain()
    }

    func failed(_ number: Int, _ error: ConnectError, now: Duration) {
        next = number + 1
        let wait = pool.failed(now: now, random: context.jitter.unit())
        context.tell(
            .connectFailed(
                error, endpoint: context.connector.endpoint, wait: wait, isOnly: pool.active.isEmpty))
    }

    func ended(_ number: Int, _ end: ConnectionEnd, now: Duration) {
        guard let link = links[number], link.connection != nil else { return }
        link.connection = nil
        if link.isOver { links[number] = nil }
        if link.isDraining, link.flights.confirmations >= context.configuration.reconnectEarned {
            pool.earned(now: now)
        }
        let flights = link.flights
        // What leaves one topic unanswered is not away.
        let isExplained = flights.handOuts > 0 && flights.explained == flights.handOuts
        if flights.handOuts > 0, !flights.hasWorked, !isExplained {
            let words = flights.unprocessed.map { SettlementPlan.describe($0) }
            context.tell(.endsSilent(number, cause: words ?? end.cause ?? "it takes no more"))
        }
        context.tell(
            .disconnected(
                number, endpoint: context.connector.endpoint, cause: end.cause, isExpected: context.ending.hasBegun))
        guard pool.leave(number, hasWorked: link.flights.hasWorked, now: now, random: { context.jitter.unit() }),
            pool.active.isEmpty
        else { return }
        context.tell(.unconnected(cause: isExplained ? nil : end.cause))
    }

    /// The next connection need not wait: the cause of failed attempts may be mended.
    func hurry(now: Duration) {
        pool.hurry(now: now)
        for link in links.values { link.pausedUntil = nil }
    }

    // MARK: Given up

    /// Hands nothing more to a connection that is about to end; another may be made beside it.
    func leave(_ number: Int, now: Duration) {
        guard let link = links[number],
            pool.leave(number, hasWorked: link.flights.hasWorked, now: now, random: { context.jitter.unit() })
        else { return }
        if pool.active.isEmpty { context.tell(.unconnected(cause: nil)) }
    }

    /// The connection has done its work.
    func retire(_ number: Int, now: Duration) {
        pool.retire(number, hasWorked: links[number]?.flights.hasWorked == true, now: now)
        if pool.active.isEmpty { context.tell(.unconnected(cause: nil)) }
    }

    /// Hands nothing more to the youngest connections that are beyond the limit. What they have is answered first; where only
    /// errors are answered, it is proven.
    private func leaveSurplus(now: Duration) {
        for number in pool.surplus { giveUp(number, now: now) }
    }

    /// Hands nothing more to a connection that works, and ends it when what it has is answered.
    func giveUp(_ number: Int, now: Duration) {
        guard let link = links[number] else { return }
        retire(number, now: now)
        if link.flights.cumulative == nil {
            link.connection?.close(deadline: Self.retirement)
        } else {
            link.isDraining = true
        }
    }

    // MARK: As many as are needed

    /// Closes connections that are one too many, and one that has long not been needed.
    ///
    /// - Parameter waiting: about how many entries could go out and have not.
    func scale(waiting: () -> Int, now: Duration) {
        guard context.connector.confirmationMode == .perNotification, !pool.active.isEmpty else { return }
        leaveSurplus(now: now)
        guard pool.limit > 1 else { return }
        scaler.look(waiting: waiting(), now: now)
        guard scaler.wantsFewer(than: pool.active.count, now: now), let youngest = pool.active.last else { return }
        scaler.changed()
        retire(youngest, now: now)
        links[youngest]?.connection?.close(deadline: Self.retirement)
    }

    /// Whether so much waits that there should be one more.
    func wantsMore(now: Duration) -> Bool { scaler.wantsMore(than: pool.active.count, now: now) }

    /// When that may have changed.
    func nextScaling(now: Duration) -> Duration? {
        pool.active.isEmpty ? nil : scaler.nextLook(count: pool.active.count, limit: pool.limit, now: now)
    }
}
