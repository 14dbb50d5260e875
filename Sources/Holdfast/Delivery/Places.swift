/// Decides which connection is given entries next, and how many: the places of the windows, of the service's streams, and of
/// what lanes with one attempt keep.
final class Places {
    /// The most entries that are read at a time.
    private static let readLimit = 1000

    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let judge: RouteJudge
    var rate: RouteRate

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge,
        in rates: SharedRates
    ) {
        self.context = context
        rate = RouteRate(of: context.name, context.route.rate, in: rates)
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
    }

    // MARK: Windows

    /// The most entries in flight.
    var windowLimit: Int {
        switch context.connector.confirmationMode {
        case .perNotification: max(context.configuration.window, 1)
        case .cumulative: linkWindowLimit * connections.pool.limit
        }
    }

    /// The most entries in flight on one connection.
    var linkWindowLimit: Int {
        switch context.connector.confirmationMode {
        case .perNotification: windowLimit
        case .cumulative: max(context.configuration.cumulativeWindow, 1)
        }
    }

    /// The most entries that may be in flight now. Suspects take no places, since a window full of them would leave none for
    /// what shows whether the service takes anything; but no more than a window, or than an unproven topic may have.
    private var placeLimit: Int {
        guard !judge.suspectTokens.isEmpty, context.connector.confirmationMode == .perNotification else {
            return windowLimit
        }
        let breakers = judge.breakers
        return windowLimit + min(breakers.heldCount, max(windowLimit, breakers.policy.greatestHeldUnproven))
    }

    /// Entries that are in flight, or have a place.
    var taken: Int { connections.inFlight + lanes.keptPlaces() }

    /// Whether one more entry has a place.
    ///
    /// - Parameter isKept: whether it has one already.
    func hasPlace(isKept: Bool) -> Bool { (isKept ? connections.inFlight : taken) < placeLimit }

    /// Places that nothing is kept for. Negative while more is kept than the window has, as after a smaller window.
    var free: Int { empty - lanes.keptPlaces() }

    /// Places that nothing is in, kept or not.
    var empty: Int {
        var room = 0
        for number in connections.pool.active {
            if let link = connections.open(number) { room += max(self.room(of: link), 0) }
        }
        return min(placeLimit - connections.inFlight, room)
    }

    // MARK: Connections

    /// The number of entries that the connection still takes, without regard to the others.
    func room(of link: Link) -> Int {
        let room = min(link.capacity - link.flights.load, linkWindowLimit - link.count + placeLimit - windowLimit)
        return link.isUnproven ? min(room, link.freeStreams) : room
    }

    func openWithRoom(_ number: Int) -> Link? { connections.open(number).flatMap { room(of: $0) > 0 ? $0 : nil } }

    /// The connection that is given something next, with room that is worth a read of the journal.
    ///
    /// The service's streams before queues: while any connection has a stream free, nothing waits in another. Among those
    /// that have, the one that is loaded least for its size; among equals the one that has had least.
    ///
    /// - Parameter isKept: whether any room will do.
    func roomiest(free: Int, isKept: Bool = false) -> (number: Int, link: Link, room: Int)? {
        guard free > 0 else { return nil }
        var best: (number: Int, link: Link, room: Int)?
        let active = connections.pool.active
        for number in active {
            guard let link = connections.open(number) else { continue }
            let room = min(free, room(of: link))
            let worthwhile = min(linkWindowLimit, link.isUnproven ? link.streams : link.capacity, 8000) / 8
            guard room > 0, isKept || room > worthwhile || link.count == 0 else { continue }
            if let other = best?.link, !link.isBetter(than: other) { continue }
            best = (number, link, room)
        }
        guard let (number, link, room) = best else { return nil }
        let streams = link.freeStreams
        return (number, link, streams > 0 && active.count > 1 ? min(room, streams) : room)
    }

    /// Whether more could go out at once if there were more connections.
    var lackConnections: Bool {
        holdReason == nil && connections.inFlight < placeLimit && roomiest(free: free) == nil
            && connections.pool.active.allSatisfy { connections[$0]?.pausedUntil == nil }
            && lanes.hasWork && !isSlowedDown
    }

    // MARK: Holds, rate and throttle

    /// Why nothing is handed out although there may be something to hand out.
    var holdReason: HoldReason? {
        context.holds.reason(isOwner: context.isOwner, isThrottled: judge.throttle.isPaused)
    }

    private var isRateUsedUp: Bool { rate.outlook(now: context.clock.monotonic()) == 0 }

    /// Whether there is more to send than the route's rate, or its service, allows now.
    var isSlowedDown: Bool {
        guard judge.throttle.isThrottling || isRateUsedUp || judge.caution.isCareful else { return false }
        return lanes.hasWork
    }

    /// How many entries a lane may read, and hand out. Each of those that are read has room for its outcome.
    struct Grant {
        static let nothing = Grant(reading: 0, going: 0)
        /// Entries to read.
        let reading: Int
        /// Entries to hand out.
        let going: Int
    }

    /// Decides how many entries the lane may read and hand out next: at most `limit`.
    ///
    /// - Parameters:
    ///   - isKept: whether they are for places reserved for the lane.
    ///   - stretch: how many are read for each that goes, at most. In a lane with one attempt those that are read have places,
    ///     and are unknown after a crash: at most a window.
    func grant(_ limit: Int, of index: Int, isKept: Bool, stretch: Int = 1, now: Duration) -> Grant {
        let limit = min(limit, Self.readLimit)
        var wanted = limit
        let kept = isKept ? lanes.keptPlaces(except: index) : lanes.keptPlaces()
        if let allowance = rate.allowance(now: now) {
            // What is kept goes out by the same allowance as the rest, and first.
            wanted = min(wanted, isKept ? allowance : allowance - kept)
        }
        let inFlight = connections.inFlight
        if wanted > 0 { wanted = min(wanted, judge.throttle.allowance(inFlight: inFlight, now: now)) }
        // Suspected tokens take no places.
        if judge.caution.isCareful {
            // So does what ends with a connection that takes nothing more: it may have no answer for long.
            let inFlight = connections.inFlightOnActive
            wanted = min(wanted, judge.caution.allowance(inFlight: inFlight - (placeLimit - windowLimit)))
        }
        guard wanted > 0 else { return .nothing }
        let readable = readable(limit, of: index, isKept: isKept)
        let granted = context.gate.reserve(
            min(wanted * stretch, readable), route: context.index, inFlight: inFlight + kept,
            waiting: context.journal.unreadOutcomeCount)
        // Until there is room again, as each turn looks, nothing is asked for: see lookAtOutcomes.
        // What is kept here has its room, and is filled first. (Where even that gets none, it is given back.)
        if granted == 0, lanes.keptPlaces() == 0 || kept < lanes.keptPlaces() { context.holds.outcomesAreFull = true }
        return Grant(reading: granted, going: min(wanted, granted))
    }

    private func readable(_ limit: Int, of index: Int, isKept: Bool) -> Int {
        guard lanes[index].hasOneAttempt else { return Self.readLimit }
        let places = isKept ? lanes[index].machine.fillablePlaces : placeLimit - taken
        return max(limit, min(places, Self.readLimit))
    }

    /// So many were handed out.
    func handedOut(_ count: Int, now: Duration) {
        rate.take(count)
        judge.throttle.take(count, now: now)
    }

    /// Whether outcomes leave room for more. If not, the route is told when they do.
    var haveRoomForOutcomes: Bool {
        context.gate.hasRoom(route: context.index, inFlight: taken, waiting: context.journal.unreadOutcomeCount)
    }

    func lookAtOutcomes() {
        if context.holds.outcomesAreFull { context.holds.outcomesAreFull = !haveRoomForOutcomes }
    }

    // MARK: Promotions

    /// The number of deferred entries of a lane that may come back now. They wait in memory, so it is limited; in an
    /// at-most-once lane to those that get a place, since a crash would make the others unknown.
    func promotionLimit(_ lane: Int) -> Int {
        let again = judge.againCount(in: lane)
        let known =
            judge.throttle.isThrottling && lanes[lane].machine.hasForwardWork ? judge.throttle.roomForKnown : .max
        let limit = min((lanes[lane].isRunning ? context.configuration.window : 1) - again, known)
        guard lanes[lane].hasOneAttempt, !connections.pool.active.isEmpty else { return limit }
        return min(limit, promotionPlaces(lane))
    }

    private func promotionPlaces(_ lane: Int) -> Int {
        let free = free
        guard connections.inFlight == 0 || free > min(windowLimit, 8000) / 8 else { return 0 }
        let others = lanes.indices.filter { $0 != lane && (wantsPlaces($0) || wantsPromotion($0)) }
        // What is to go alone comes back whatever the lane has had: the others wait for it.
        guard judge.caution.hasRoom(in: lanes[lane].id) || !lanes.share.isAhead(lane, of: others) else { return 0 }
        let allowed = rate.outlook(now: context.clock.monotonic()).map { $0 - lanes.keptPlaces() }
        var throttle = judge.throttle
        let granted = throttle.allowance(inFlight: connections.inFlight, now: context.clock.monotonic())
        return min(lanes.share.part(of: lane, among: others + [lane], room: free), allowed ?? .max, granted)
    }

    /// Whether a lane wants places for anything that is not to let others go first.
    private func wantsPlaces(_ index: Int) -> Bool {
        lanes[index].machine.wantsPlaces
            && (lanes[index].machine.hasForwardWork || judge.againCount(in: index) > 0)
    }

    /// Whether deferred entries of a lane with one attempt are due, so that they want places.
    private func wantsPromotion(_ index: Int) -> Bool {
        let lane = lanes[index]
        return lane.hasOneAttempt && lane.handsOut && !lane.machine.isPromoting
            && lane.deferral.isDue(context.clock.monotonic())
    }

    // MARK: Time

    /// When the rate or the throttle lets more out; nil when that takes no time, or takes an answer.
    func nextLook(now: Duration) -> Duration? {
        // Judged by the time of this turn, like the hand-outs: by now there may be room again, which nobody has used.
        let byRate = rate.outlook(now: now) == 0 && wantsRate ? rate.nextAllowance(now: now) : nil
        return [byRate, throttleLook(now: now)].compactMap { $0 }.min()
    }

    /// Whether there is something for which the rate may leave no room: in lanes with one attempt also what is to come back,
    /// which has its place from then on.
    private var wantsRate: Bool {
        lanes.hasWork
            || lanes.contains { $0.hasOneAttempt && $0.handsOut && context.journal.depth($0.id) > 0 }
    }

    private func throttleLook(now: Duration) -> Duration? {
        let throttle = judge.throttle
        guard throttle.isLimiting else { return nil }
        if !throttle.isPaused, !lanes.hasWork { return throttle.forgetsAt }
        // Where something may go out already, it is something else that holds it up.
        var asked = throttle
        let inFlight = connections.inFlight
        if asked.allowance(inFlight: inFlight, now: now) > 0 { return throttle.forgetsAt }
        return [throttle.nextAllowance(inFlight: inFlight, now: now), throttle.forgetsAt].compactMap { $0 }.min()
    }
}
