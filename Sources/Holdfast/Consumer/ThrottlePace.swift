/// The rate that a throttling service was measured to grant, and how it is approached.
///
/// A refusal sets the rate below the one that was refused. It grows in steps: quickly where nothing speaks against it, and only
/// after a long time up to the rate that was refused last. So a steady quota costs about one refusal in 200 requests at most.
///
/// A pure machine.
struct ThrottlePace: Sendable {
    /// Below this the probes alone are enough.
    static let least = 1.0 / 60
    /// The share of a refused rate that is kept.
    static let kept = 0.95
    /// From this share of the rate that was refused last, steps become rare.
    static let near = 0.9
    /// How long, and for how many entries, the rate stays below the one that was refused last.
    static let hold = (time: Duration.seconds(60), count: 200)
    /// The same for steps that nothing speaks against.
    static let step = (time: Duration.seconds(2), count: 10)
    /// The first step, as a share of the rate. Beyond the rate that was refused last each step doubles it, up to doubling the
    /// rate.
    static let firstGrowth = 0.05
    /// A rate that has held up nothing for so long is forgotten.
    static let idle = Duration.seconds(10 * 60)

    private(set) var perSecond: Double
    /// The rate that was refused last.
    private(set) var ceiling: Double?
    private var growth = Self.firstGrowth
    private var steppedAt = Duration.zero
    private var grantedSinceStep = 0
    private var grantedSinceResume = 0
    /// Whether there was more to send than it allowed, since the last step.
    private var wasLimiting = false
    private var tokens = 0.0
    private var filledAt = Duration.zero

    init(perSecond: Double) { self.perSecond = max(perSecond, Self.least) }

    /// A twentieth of a second's worth may go at once.
    private var burst: Double { max(perSecond / 20, 1) }

    /// The service takes notifications again.
    mutating func resume(now: Duration) {
        tokens = 0
        filledAt = now
        grantedSinceResume = 0
        beginStep(now: now)
    }

    mutating func allowance(now: Duration) -> Int {
        let seconds = max((now - filledAt) / .seconds(1), 0)
        tokens = min(tokens + seconds * perSecond, burst)
        filledAt = max(now, filledAt)
        if tokens >= 1 { return Int(tokens) }
        wasLimiting = true
        return 0
    }

    mutating func take(_ count: Int) { tokens -= Double(count) }

    /// As soon as one more may go, but not more than a hundred times a second. Nil when some may go now.
    func nextAllowance(now: Duration) -> Duration? {
        guard tokens < 1 else { return nil }
        let wanted = min(max(perSecond / 100, 1), burst)
        return filledAt + .seconds((wanted - tokens) / perSecond) + .milliseconds(1)
    }

    /// The service refuses at this rate.
    ///
    /// A rate that many entries went at is nearly right. What was granted since the pause began is too little to ask for, where
    /// the quota of the pause itself is lost.
    ///
    /// - Parameter measured: what it has granted a second since it refused last.
    mutating func refused(measured: Double) {
        ceiling = perSecond
        let cut = min(max(2 / Double(max(grantedSinceResume, 1)), 1 - Self.kept), 0.5)
        perSecond = max(min(perSecond * Self.kept, max(measured, perSecond * (1 - cut))), Self.least)
        growth = Self.firstGrowth
    }

    /// The service has refused some, and takes most.
    mutating func refusedSome(now: Duration) {
        refused(measured: perSecond)
        beginStep(now: now)
    }

    mutating func granted(_ count: Int, now: Duration) {
        grantedSinceStep += count
        grantedSinceResume += count
        guard wasLimiting else { return }
        let isAtCeiling = ceiling.map { perSecond >= $0 * Self.near } ?? false
        let least = isAtCeiling ? Self.hold : Self.step
        guard now - steppedAt >= least.time, grantedSinceStep >= least.count else { return }
        if isAtCeiling {
            ceiling = nil
            growth = Self.firstGrowth
        }
        perSecond *= 1 + growth
        if ceiling == nil { growth = min(growth * 2, 1) }
        beginStep(now: now)
    }

    private mutating func beginStep(now: Duration) {
        steppedAt = now
        grantedSinceStep = 0
        wasLimiting = false
    }
}
