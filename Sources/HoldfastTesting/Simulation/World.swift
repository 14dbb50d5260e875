internal import Holdfast
internal import Logging

/// The whole engine with time, disk, service, application and operator of one seed's making.
///
/// One thread does everything, in the order that the dice say: so a seed is a run, and the same one each time.
final class World: @unchecked Sendable {  // confined to the thread that runs the simulation
    struct PendingConnect {
        let route: Int
        /// The number of the Consumer that asks.
        let consumer: Int
        let connection: Int
        let dueAt: Duration
    }

    let seed: UInt64
    let swarm: Swarm
    var dice: Dice
    /// For all that has to do with another service than Apple's, so that a seed without it is the run that it was.
    var otherDice: Dice
    var log: EventLog
    var counts: [Trouble: Int] = [:]
    private(set) var violation: Violation?
    var step = 0
    var isHealing = false

    // MARK: Time

    /// The monotonic clock.
    var now: Duration = .seconds(1000)
    /// Milliseconds; what the wall clock shows beyond the monotonic one.
    static let firstWallOffset: Int64 = 1_800_000_000_000
    var wallOffset = firstWallOffset
    /// Settings of the clock that an engine may rightly have believed.
    var believedOffsets = [firstWallOffset]
    var wall: WallTime { WallTime(milliseconds: wallOffset + now.wholeMilliseconds) }
    /// The wall clock was set in this life, or before it.
    var isClockSuspect = false
    /// When the wall clock was last set by more than any clock is slewed; by the monotonic one.
    var clockWasSet: (at: Duration, by: Int64)?

    // MARK: The process

    var life = 0
    let storage: SimulatedStorage
    /// As the engine uses it.
    var journal: any JournalService { storage.journal }
    /// The disk as readers see it now.
    var snapshot: InMemoryDisk {
        do throws(JournalError) {
            return try storage.snapshot(rejectionsAfter: ledger.greatest, outcomesAfter: outcomesSeen)
        } catch {
            violate(10, "the journal cannot be read: \(error)")
            return InMemoryDisk(identityKey: IdentityKey(first: 0, second: 0))
        }
    }
    /// Outcomes up to here were looked at when their entries ended.
    var outcomesSeen = OutcomeCursor.start
    var core: EngineCore?
    /// By route: when it wants to be stepped.
    var wakes: [Duration?] = []
    var turns = 0
    var previousTurn = 0
    /// Turns at one instant that changed nothing, without news.
    var idleTurns = 0
    /// Things that the engine has asked for.
    var activity = 0
    var shutdownDeadline: Duration?
    /// By route: when a turn first knew of the shutdown.
    var shutdownsSeen: [Int: Duration] = [:]
    /// By route: the number of its last turn.
    var lastTurns: [Int] = []
    var routes: [SimulatedConnector] = []
    /// As the engine was given them.
    var given: [Route] = []
    /// By route.
    var terms: [Terms] = []
    /// By route: the most connections that it was allowed in this life.
    var widest: [Int] = []
    /// How often the third route has come.
    var routesAdded = 0
    /// By route: the number of the Consumer that serves it.
    var consumers: [Int] = []
    /// Consumers that have come and were not started.
    var begun: [Int] = []
    /// The Consumer that ends without a successor.
    var leaving: Int?
    /// By number of a Consumer that is to end: since when it has known it; nil for not yet.
    var retiring: [Int: Duration?] = [:]

    // MARK: Owners

    /// Of this life.
    var owner: SimulatedOwner
    var formerOwners: [FormerOwner] = []
    /// For all that has to do with them, so that a seed without a takeover is the run that it was.
    var ownerDice: Dice

    // MARK: The outside

    var ledger = Ledger()
    var peers: [any Peer] = []
    var connects: [PendingConnect] = []
    /// On the wire of connections that are over: the service may read them yet.
    var stragglers: [(entry: LedgerEntry, copy: Int)] = []
    var spells: [Trouble: Duration] = [:]
    /// Each connection that one of these goes out on ends.
    var connectionEnders: Set<UID> = []
    var service: SimulatedService
    var quota: SimulatedQuota?
    var application: SimulatedApplication
    var rules = RuleState()
    var stallUntil: Duration = .zero
    var failUntil: Duration = .zero
    var reconciliations = 0
    /// How often the disk had been written to at the last one.
    var reconciledChanges = -1

    /// - Parameter disk: nil for one in memory.
    init(seed: UInt64, on disk: (any SimulatedDisk)? = nil, say: (@Sendable (String) -> Void)?) {
        self.seed = seed
        var dice = Dice(seed: seed)
        swarm = Swarm(
            &dice, later: Dice(seed: seed ^ 0x0BEA_7E25), other: Dice(seed: seed ^ 0x0000_FEA7_4E25))
        otherDice = Dice(seed: seed ^ 0x00F1_0C4B_14D5)
        ownerDice = Dice(seed: seed ^ 0x0000_BEA7_5AFE)
        owner = SimulatedOwner(Self.leaseTimes(&ownerDice), takenAt: .seconds(1000))
        service = SimulatedService(tokens: swarm.tokenCount, &dice)
        application = SimulatedApplication()
        quota = swarm.quota.map { SimulatedQuota($0, now: .seconds(1000)) }
        storage = SimulatedStorage(
            disk, identityKey: IdentityKey(first: seed, second: 1), commitLimit: swarm.commitLimit)
        self.dice = dice
        log = EventLog(say: say)
    }

    private static func leaseTimes(_ dice: inout Dice) -> LeaseTimes {
        guard dice.chance(0.5) else { return LeaseTimes() }
        return LeaseTimes(
            beat: .milliseconds(400), hold: .seconds(1), takeAfter: .seconds(2), answer: .milliseconds(400),
            retry: .milliseconds(50))
    }

    var goesOn: Bool { violation == nil }

    func note(_ line: @autoclosure () -> String) {
        log.add("\(step) \(now.wholeMilliseconds) \(line())")
    }

    /// The first one counts: what follows is mostly its consequence.
    func violate(_ promise: Int, _ message: String) {
        guard violation == nil else { return }
        violation = Violation(promise: promise, message: message, step: step)
        note("VIOLATION \(promise): \(message)")
    }

    /// Whether a kind of trouble happens here and now.
    func strikes(_ trouble: Trouble, times factor: Double = 1) -> Bool {
        guard !isHealing, dice.chance(swarm.rate(trouble) * factor) else { return false }
        happened(trouble)
        return true
    }

    /// The same of trouble with another service than Apple's.
    func strikesOther(_ trouble: Trouble, times factor: Double = 1) -> Bool {
        guard !isHealing, otherDice.chance(swarm.rate(trouble) * factor) else { return false }
        happened(trouble)
        return true
    }

    func happened(_ trouble: Trouble) {
        counts[trouble, default: 0] += 1
        note("! \(trouble.rawValue)")
    }

    func isUnder(_ trouble: Trouble) -> Bool { (spells[trouble] ?? .zero) > now }

    /// From a peer to the engine, when that still lives.
    func deliver(_ event: ConnectorEvent, from peer: some Peer) {
        note("route \(peer.route) connection \(peer.number): \(Self.describe(event))")
        guard let core = core(ofLife: peer.life) else { return }
        core.sink(route: peer.consumer, connection: peer.number)(event)
    }

    private static func describe(_ event: ConnectorEvent) -> String {
        switch event {
        case .confirmed(let tickets): "confirmed \(tickets.map { $0.rawValue & 0xFFFF })"
        case .results(let results):
            "results "
                + results.map {
                    "\($0.ticket.rawValue & 0xFFFF): \($0.result.verdict) \($0.result.reason?.rawValue ?? "")"
                }
                .joined(separator: ", ")
        case .sent(let through): "sent through \(through.rawValue)"
        case .payloadError(let error):
            "payload error at \(error.position.rawValue) \(error.kind == .lastGood ? "last good" : "")"
        case .barrierAnswered(let through): "barrier through \(through.rawValue)"
        case .listened(let stamp): "listened \(stamp)"
        case .capacityChanged(let capacity): "capacity \(capacity)"
        case .draining: "draining"
        case .told(let result): "told \(result.verdict) \(result.reason?.rawValue ?? "")"
        case .ended(let end):
            "ended \(end.possiblySent.map { "\($0.map { $0.rawValue & 0xFFFF })" } ?? "-") through "
                + "\(end.possiblySentThrough.map { "\($0.rawValue)" } ?? "-") \(end.cause ?? "in order")"
        }
    }
}
