/// The Producers of one engine, by name. What they share: whether anything is taken at the moment, and the counts.
final class ProducerTable: Sendable {
    /// The name under which ``PushEngine/producer`` submits.
    static let standardName = "default"

    /// The terms for accepting notifications: one value, so that no submission sees half of a change.
    struct Terms: Sendable {
        var routes: RouteTable
        var configuration: EngineConfiguration
    }

    struct Shared: Sendable {
        var terms: Terms
        /// Why nothing is taken any more: the engine ends, or the journal must be reopened.
        var end: Refusal?
        /// Why nothing is taken at the moment: a bad token is not on the blacklist yet.
        var blacklistFailure: Refusal?
        var submitted = 0
        var refused = 0
        var ids = NotificationIDSource()
        var liveActivities = LiveActivityUpdates()
        /// Called when the journal must be reopened, after an undetermined commit.
        var onJournalFailure: (@Sendable (JournalError) -> Void)?
        /// Hears of what was accepted and refused. It knows nothing of Producers.
        var observer: EngineObserver?
    }

    let journal: any JournalService
    let clock: EngineClock
    let shared: Monitor<Shared>
    let room = RoomGate()
    let clockTrust: ClockTrust
    let standard: Producer
    private let tracer: NotificationTracer?
    private let named: Monitor<[String: Producer]>

    init(
        journal: any JournalService, routes: RouteTable, configuration: EngineConfiguration, clock: EngineClock,
        tracer: NotificationTracer? = nil
    ) throws(JournalError) {
        self.tracer = tracer
        self.journal = journal
        self.clock = clock
        clockTrust = ClockTrust(wallTimeAtOpen: journal.wallTimeAtOpen)
        shared = Monitor(Shared(terms: Terms(routes: routes, configuration: configuration)))
        standard = Producer(
            name: Self.standardName, id: try journal.openProducer(Self.standardName), journal: journal, clock: clock,
            shared: shared, room: room, clockTrust: clockTrust, tracer: tracer)
        named = Monitor([Self.standardName: standard])
    }

    /// Takes nothing from now on, with this refusal.
    func end(_ refusal: Refusal) { shared.withLock { $0.end = $0.end ?? refusal } }

    /// The Producer with this number, if this process has opened it.
    func producer(_ id: ProducerID) -> Producer? { named.withLock { $0.values.first { $0.id == id } } }

    /// Nothing is settled any more.
    func ended() { for producer in named.withLock({ Array($0.values) }) { producer.drained(false) } }

    /// - Throws: ``Refusal`` with reason ``Reason/badProducerName``; ``JournalError`` when the name is new and the journal
    ///   can't register it.
    func producer(named name: String) throws -> Producer {
        try Producer.check(name: name)
        if let known = named.withLock({ $0[name] }) { return known }
        // The journal gives one number to a name, so two callers at a time make two equal Producers; the first stays.
        let made = Producer(
            name: name, id: try journal.openProducer(name), journal: journal, clock: clock, shared: shared,
            room: room, clockTrust: clockTrust, tracer: tracer)
        return named.withLock { named in
            if let known = named[name] { return known }
            named[name] = made
            return made
        }
    }
}

extension Producer {
    /// Checks a name before a Producer of that name is made.
    ///
    /// - Throws: ``Refusal`` with reason ``Reason/badProducerName``.
    package static func check(name: String) throws(Refusal) {
        guard (1...64).contains(name.utf8.count) else {
            throw Refusal(.badProducerName, "a Producer's name has 1 to 64 bytes; this one has \(name.utf8.count)")
        }
    }
}
