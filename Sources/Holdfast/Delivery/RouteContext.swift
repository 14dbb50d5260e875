/// The context that the parts of one route's delivery share: its terms, its journal, its clock, and the receivers of its news.
///
/// Confined to the thread that runs the route's turns.
final class RouteContext {
    /// Of the route's Consumer in its engine, and of no other that there ever is in it.
    let index: Int
    let name: String
    let connector: any Connector
    /// Its name and its connector stay what they are; the rest may change.
    private(set) var route: Route
    private(set) var configuration: EngineConfiguration
    let producer: Producer
    let settler: Settler
    let clock: EngineClock
    let gate: OutcomeGate
    let inbox: RouteInbox
    let teller: RouteTeller
    let jitter: Jitter
    /// Nil while nothing is traced.
    let spans: RouteSpans?
    /// See ``Consumer/Surroundings/announceMoves``.
    let announceMoves: @Sendable (_ lane: LaneID, _ hasEnded: Bool) -> Void
    /// Why nothing is handed out.
    var holds = HandOutHolds()
    /// How far the work has come to its end.
    var ending = Ending()

    init(
        index: Int, route: Route, configuration: EngineConfiguration, producer: Producer, clock: EngineClock,
        gate: OutcomeGate, inbox: RouteInbox, teller: RouteTeller, jitter: Jitter, spans: RouteSpans?,
        announceMoves: @escaping @Sendable (_ lane: LaneID, _ hasEnded: Bool) -> Void
    ) {
        self.index = index
        self.route = route
        name = route.name
        connector = route.connector
        self.configuration = configuration
        self.producer = producer
        settler = Settler(producer)
        self.clock = clock
        self.gate = gate
        self.inbox = inbox
        self.teller = teller
        self.jitter = jitter
        self.spans = spans
        self.announceMoves = announceMoves
    }

    var journal: any JournalService { producer.journal }

    /// Whether it is known that this process owns the journal: see ``JournalService/handOutUntil``.
    var isOwner: Bool {
        guard let until = journal.handOutUntil else { return true }
        return clock.monotonic() < until
    }

    /// The interval of looks whether that is known again.
    private static let ownershipInterval = Duration.milliseconds(250)

    /// When to look at the ownership next; `nil` for a journal with one possible owner.
    func ownershipLook(now: Duration) -> Duration? {
        guard let until = journal.handOutUntil else { return nil }
        return until > now ? until : now + Self.ownershipInterval
    }

    /// Works on by other terms.
    func change(to route: Route, _ configuration: EngineConfiguration) {
        (self.route, self.configuration) = (route, configuration)
    }

    func tell(_ news: RouteNews) { teller.tell(news) }
}
