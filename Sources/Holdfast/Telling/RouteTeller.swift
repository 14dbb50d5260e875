/// Tells a route's news to all who are told: the log, listeners of events, metrics and the status.
///
/// Confined to the route's Consumer; what other threads have to say, they log.
final class RouteTeller {
    let log: EngineLog
    let observer: RouteObserver
    let board: StatusBoard
    let conditions: RouteConditions
    /// The notifications that operators have taken back, and of which the log does not say so yet.
    private(set) var withdrawn = WithdrawnSum()
    private let events: EventHub
    private let clock: EngineClock
    private let route: String

    init(
        _ observer: RouteObserver, board: StatusBoard, events: EventHub, route: String, clock: EngineClock,
        conditions: RouteConditions
    ) {
        self.clock = clock
        self.conditions = conditions
        self.observer = observer
        self.board = board
        self.events = events
        self.route = route
        log = observer.log
    }

    func tell(_ news: RouteNews) {
        if case .withdrawn(let part) = news {
            withdrawn.add(part, now: clock.monotonic())
        } else {
            log(news, route: route)
        }
        if let event = news.event(route: route) { events.emit(event) }
        conditions.take(news)
        switch news {
        case .failed(let attempt, let error) where attempt.isWrite: observer.engine.conditions.failed(error)
        case .journalLost(let error): observer.engine.conditions.lost(error)
        case .clock, .quarantined: observer.engine.conditions.lookSoon()
        default: break
        }
        observer.take(news)
        board.take(news, route: route)
    }

    /// Logs what operators have taken back, if no more of it comes.
    ///
    /// - Parameter isLast: whether the route ends.
    func tellWithdrawn(isLast: Bool) {
        guard !withdrawn.isEmpty, let sum = withdrawn.take(isLast: isLast, now: clock.monotonic()) else { return }
        log(.withdrawn(sum), route: route)
    }

    func tell(_ news: [RouteNews]) { for one in news { tell(one) } }
}
