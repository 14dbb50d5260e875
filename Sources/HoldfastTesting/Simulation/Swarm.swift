internal import Holdfast

/// What one seed draws: which kinds of trouble, how often, and all sizes. Few kinds at a time, and other ones each time,
/// find more than all at once (swarm testing).
struct Swarm: Sendable {
    /// By ``Trouble/index``; 0 for what does not happen.
    private(set) var rates: [Double]
    let steps: Int
    let tokenCount: Int
    let greatestBatch: Int
    let submissionWeight: Double
    let commitWeight: Double
    let turnWeight: Double
    let peerWeight: Double
    let capacity: Int
    let cumulativeCapacity: Int
    /// Whether one request of a connection is under way at a time until one was taken, as with a provider token at APNs.
    private(set) var startsAlone = false
    /// The most that take hand-outs at a time, by route.
    let connections: [Int]
    let scaling: ConnectionScaling
    /// By route; nil for none.
    let rateLimits: [RateLimit?]
    let quietPeriod: Duration?
    let producers: [String]
    let answerDeadline: Duration
    let answeredShare: Double
    let refusesBarriers: Bool
    /// Others act between a commit's moments: on disk, reported, answered one by one.
    private(set) var commitsInMoments = false
    /// Parts of requests that one commit does; nil for no limit.
    private(set) var commitLimit: Int?
    /// As many notifications as the service takes; nil for all.
    private(set) var quota: RateLimit?
    /// Whether the service says when it will take more.
    private(set) var quotaSaysWhen = false
    var engine = EngineConfiguration()

    /// - Parameter later: for what came later than the other draws, so that a seed of old is the run that it was but for
    ///   that.
    /// - Parameter other: for all that has to do with another service than Apple's.
    init(_ dice: inout Dice, later: Dice, other: Dice) {
        var (later, other) = (later, other)
        let share = dice.pick([0.0, 0.15, 0.3, 0.5, 0.8])
        func rate(_ dice: inout Dice) -> Double { dice.chance(share) ? dice.pick([0.002, 0.01, 0.04, 0.15]) : 0 }
        rates = Trouble.allCases.map {
            switch $0 {
            case .withdraws, .changesCredentials: rate(&later)
            // Drawn last.
            case .replacesConnector: 0
            case let trouble where Trouble.later.contains(trouble) || Trouble.latest.contains(trouble): 0
            case let trouble where Trouble.other.contains(trouble) || Trouble.choices.contains(trouble): 0
            case let trouble where Trouble.owners.contains(trouble): 0
            default: rate(&dice)
            }
        }
        rateLimits = (0..<2).map { _ in
            later.chance(0.2)
                ? RateLimit(perSecond: later.pick([20, 200, 5000]), burst: later.pick([1, 5, 100])) : nil
        }
        steps = dice.pick([200, 400, 800, 1600])
        tokenCount = dice.pick([2, 6, 20, 60])
        greatestBatch = dice.pick([1, 4, 12, 40])
        submissionWeight = dice.pick([0.3, 1, 3])
        commitWeight = dice.pick([0.3, 1, 3, 10])
        turnWeight = dice.pick([1, 4, 10])
        peerWeight = dice.pick([1, 4, 10])
        capacity = dice.pick([1, 3, 10, 100])
        cumulativeCapacity = dice.pick([1, 5, 50, 1_000_000])
        connections = [dice.pick([1, 1, 2, 4]), dice.pick([1, 1, 2, 4])]
        quietPeriod = dice.pick([.milliseconds(300), .seconds(2), .seconds(10), nil])
        producers = Array(["default", "news", "orders"].prefix(dice.number(1...3)))
        answerDeadline = .seconds(dice.pick([2, 10, 30]))
        answeredShare = dice.pick([0, 0.5, 0.5, 1])
        // Where silence counts for nothing, something else must.
        refusesBarriers = quietPeriod != nil && dice.chance(0.2)
        scaling = Self.scaling(&later)
        configureEngine(&dice)
        engine.reconnectInterval = .seconds(later.pick([0, 1, 10]))
        engine.reconnectBurst = later.pick([1, 3, 10])
        rates[Trouble.replacesConnector.index] = rate(&later)
        commitsInMoments = later.chance(0.6)
        commitLimit = later.pick([nil, nil, 1, 3, 20])
        for trouble in Trouble.later { rates[trouble.index] = rate(&later) }
        quota = later.chance(0.2) ? RateLimit(perSecond: later.pick([2, 10, 50]), burst: later.pick([1, 5, 20])) : nil
        quotaSaysWhen = later.chance(0.5)
        engine.lateErrorPeriod = .seconds(later.pick([0, 5, 30, 60]))
        engine.lateErrorLimit = later.pick([1, 10, 1_000_000])
        for trouble in Trouble.latest { rates[trouble.index] = rate(&later) }
        engine.supersedesLiveActivities = rates[Trouble.supersedes.index] > 0
        drawChoices(other)
        drawOwners(other)
        guard other.chance(0.5) else { return }
        for trouble in Trouble.other { rates[trouble.index] = other.chance(0.5) ? other.pick([0.01, 0.04, 0.15]) : 0 }
        rates[Trouble.otherService.index] = 1
    }

    /// From a copy, so that a seed of old is the run that it was but for these.
    private mutating func drawChoices(_ other: Dice) {
        var dice = other
        for _ in 0..<64 { _ = dice.next() }
        for trouble in Trouble.choices { rates[trouble.index] = dice.chance(0.2) ? dice.pick([0.05, 0.2, 0.6]) : 0 }
        startsAlone = dice.chance(0.5)
        // By a clock that was set back for good, what is scheduled waits as long, and rightly.
        guard rate(.clockLeaps) + rate(.clockBack) > 0 else { return }
        for trouble in [Trouble.schedules, .deliveryHours] { rates[trouble.index] = 0 }
    }

    private mutating func drawOwners(_ other: Dice) {
        var dice = other
        for _ in 0..<96 { _ = dice.next() }
        for trouble in Trouble.owners { rates[trouble.index] = dice.chance(0.25) ? dice.pick([0.005, 0.02, 0.05]) : 0 }
    }

    /// Whether the route that comes and goes is another service's.
    var hasOtherService: Bool { rate(.otherService) > 0 }

    /// Whether the route that comes and goes is the other environment of the first one.
    var hasEnvironments: Bool { rate(.environments) > 0 && !hasOtherService }

    private static func scaling(_ dice: inout Dice) -> ConnectionScaling {
        var scaling = ConnectionScaling()
        scaling.minimum = dice.pick([1, 1, 2])
        scaling.growAbove = dice.pick([0, 3, 20])
        scaling.growAfter = .milliseconds(dice.pick([0, 100, 10_000]))
        scaling.shrinkBelow = dice.pick([1, 10])
        scaling.shrinkAfter = .milliseconds(dice.pick([0, 500, 30_000]))
        return scaling
    }

    private mutating func configureEngine(_ dice: inout Dice) {
        engine.window = dice.pick([1, 2, 5, 12, 50])
        engine.cumulativeWindow = dice.pick([1, 4, 20, 1_000_000])
        engine.barrierLimit = .seconds(dice.pick([1, 30]))
        engine.barrierIdle = .milliseconds(dice.pick([200, 5000]))
        engine.park = .seconds(dice.pick([1, 1200]))
        engine.keepsOutcomes = dice.chance(0.6)
        engine.outcomeLimit = dice.pick([1, 5, 40, 1_000_000])
        engine.identityLimit = dice.pick([5, 1_000_000])
        engine.housekeeping = .seconds(dice.pick([1, 60]))
        // By what was drawn already, so that older seeds stay as they were.
        engine.history.isKept = engine.window != 2
        engine.history.limitBytes = engine.window == 5 ? 10 * OutcomeTable.byteCount : 1 << 30
        engine.suspects.hold = .milliseconds(dice.pick([100, 5000]))
        engine.suspects.greatestHeld = dice.pick([2, 10, 100])
        engine.submissionChunk = dice.pick([1, 3, 5000])
        engine.retry = RetrySchedule(
            minimum: .milliseconds(dice.pick([20, 1000])), maximum: .seconds(dice.pick([2, 60, 900])),
            greatestCount: dice.pick([3, 100]))
        engine.reconnectMaximum = .seconds(dice.pick([2, 60]))
        engine.shutdownLimit = .seconds(dice.pick([0, 1, 10]))
    }

    func rate(_ trouble: Trouble) -> Double { rates[trouble.index] }
}
