/// The rate that a throttling service was measured to grant, and its approach to it.
///
/// A refusal sets the rate below the refused one. From there it grows in steps, and doubles before long unless it is refused
/// again, however low it is: a rate measured in a moment of trouble is gone after half a minute. Only a rate that was refused,
/// and refused again after the route had kept below it, is a quota, and each time the route keeps below it for twice as long.
/// So a steady quota costs about one refusal in 200 requests.
///
/// Some may be refused at any rate, beside the quota. If lower rates are refused again and again, the route goes much slower
/// for a moment, a *trial*: the share that is refused then has nothing to do with the rate, and is no reason to lower it.
///
/// A pure machine.
struct ThrottlePace: Sendable {
    /// Below this the probes alone are enough.
    static let least = 1.0 / 60
    /// The share of a refused rate that is kept.
    static let kept = 0.95
    /// The share of the rate that was refused last up to which steps lead.
    static let near = 0.9
    /// How long the rate stays below the one that was refused last, if nothing says that this is a quota.
    static let shortestHold = Duration.seconds(10)
    /// How long at most, and for how many entries where these take longer.
    static let longestHold = (time: Duration.seconds(60), count: 300.0)
    /// A rate within this factor of a refused one is the same quota.
    static let same = 2.0
    /// A step takes so long, and so many entries where they go out in that time.
    static let step = (time: Duration.seconds(2), count: 10)
    /// Below this too few are answered in a second or two for a share of them to say anything.
    static let leastForShares = 20.0
    /// One that is refused among so many in a second or two, below a refused rate, is no reason to lower it further.
    static let many = 40
    /// After so many lower rates in a row were refused too, the route goes at this share of the rate for so long, and for so
    /// many answers.
    static let trial = (holds: 2, share: 0.7, time: Duration.seconds(3), count: 60)
    /// A rate below this share of the greatest one that was granted in the throttling is far below it.
    static let fallen = 1.0 / 3
    /// The first step beyond a quota, as a share of the rate, and the first one elsewhere. Each further step doubles it, up to
    /// doubling the rate.
    static let firstGrowth = (careful: 0.05, plain: 0.25)
    /// A rate that has held up nothing for so long is forgotten.
    static let idle = Duration.seconds(10 * 60)

    private(set) var perSecond: Double
    /// The rate that was refused last; nil when the route has kept below it for long enough.
    private(set) var ceiling: Double?
    /// The refused rate that the hold is about.
    private var quota: Double?
    private var hold = Self.shortestHold
    /// Whether the rate was refused again, after the route had kept below it.
    private var isQuota = false
    /// The rate that the last hold was kept to, and the one before the last step.
    private var held = 0.0
    private var granted = 0.0
    private var growth = Self.firstGrowth.plain
    private var steppedAt = Duration.zero
    private var resumedAt = Duration.zero
    private var grantedSinceStep = 0
    private var grantedSinceResume = 0
    private var refusedSinceResume = 0
    /// The greatest rate that was granted: the first one, which was measured, or one that was kept for a whole hold.
    private var greatest: Double
    /// How often in a row the rate was refused in a hold, below a rate that was refused before.
    private var refusedHolds = 0
    /// The rate to return to after a trial; nil outside one.
    private var rateAfterTrial: Double?
    /// The share of the answers that were refusals at a rate that is granted: in a trial, or in a hold. Nil before the first.
    private(set) var shareBelowQuota: Double?
    /// Whether there was more to send than it allowed, since the last step.
    private var wasLimiting = false
    private var tokens = 0.0
    private var filledAt = Duration.zero

    init(perSecond: Double) {
        self.perSecond = max(perSecond, Self.least)
        greatest = self.perSecond
    }

    /// A twentieth of a second's worth may go at once.
    private var burst: Double { max(perSecond / 20, 1) }

    /// The service takes notifications again.
    mutating func resume(now: Duration) {
        tokens = 0
        filledAt = now
        beginHold(now: now)
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
        let next = filledAt + .seconds((wanted - tokens) / perSecond) + .milliseconds(1)
        guard isAtAStandstill, wasLimiting else { return next }
        let growsAt = isAtCeiling ? resumedAt + hold : steppedAt + Self.step.time
        return growsAt > now ? min(next, growsAt) : next
    }

    /// Whether a hold is only a few entries long.
    var isSlow: Bool { perSecond < 3 }

    /// Whether refusals have led the rate far below one that was granted.
    var hasFallen: Bool { (rateAfterTrial ?? perSecond) < greatest * Self.fallen }

    /// Whether refusals of a few among many may have nothing to do with the rate.
    var mayRefuseSome: Bool {
        guard rateAfterTrial ?? perSecond >= Self.leastForShares else { return false }
        return rateAfterTrial != nil || shareBelowQuota.map { $0 > 0 } ?? (ceiling == nil)
    }

    // MARK: How it changes

    /// The service has refused some, which is no reason to lower the rate.
    mutating func refusedBesideOthers(_ count: Int) { refusedSinceResume += count }

    /// The service refuses at this rate.
    ///
    /// A rate that many entries went at is nearly right. What was granted since the pause began is too little to ask for, where
    /// the quota of the pause itself is lost.
    ///
    /// - Parameter measured: what it has granted a second since it refused last.
    mutating func refused(measured: Double) {
        // What was kept for the whole hold was granted, and so was the step before the last one.
        let proven = meetsQuotaAgain ? max(held, granted * Self.kept) : 0
        learnQuota()
        let wasHeld = ceiling != nil && rateAfterTrial == nil
        rateAfterTrial = nil
        ceiling = perSecond
        let cut = min(max(2 / Double(max(grantedSinceResume, 1)), 1 - Self.kept), 0.5)
        let lower = proven > 0 ? proven : max(measured, perSecond * (1 - cut))
        perSecond = max(min(perSecond * Self.kept, lower), Self.least)
        growth = Self.firstGrowth.plain
        if wasHeld { doubt() }
    }

    /// A rate was refused although it is below one that was refused before. If that goes on, perhaps it is not the rate.
    private mutating func doubt() {
        refusedHolds += 1
        guard refusedHolds >= Self.trial.holds, perSecond >= Self.leastForShares else { return }
        refusedHolds = 0
        rateAfterTrial = perSecond
        perSecond *= Self.trial.share
    }

    private mutating func endTrial(now: Duration) {
        guard let rate = rateAfterTrial, now - resumedAt >= Self.trial.time,
            grantedSinceResume + refusedSinceResume >= Self.trial.count
        else { return }
        shareBelowQuota = shareSinceResume
        rateAfterTrial = nil
        perSecond = rate
        beginHold(now: now)
    }

    private var shareSinceResume: Double {
        Double(refusedSinceResume) / Double(max(grantedSinceResume + refusedSinceResume, 1))
    }

    /// The service has refused some, and takes most.
    mutating func refusedSome(now: Duration) {
        refused(measured: perSecond)
        beginHold(now: now)
    }

    mutating func granted(_ count: Int, now: Duration) {
        grantedSinceStep += count
        grantedSinceResume += count
        grow(now: now)
    }

    /// Time has come to `now`. A rate at which hardly anything goes out grows by time alone.
    mutating func look(now: Duration) {
        if isAtAStandstill { grow(now: now) }
    }

    /// Whether not even one goes out in the time of a step.
    private var isAtAStandstill: Bool { entries(in: Self.step.time) < 1 }

    private var isAtCeiling: Bool { ceiling.map { perSecond >= $0 * Self.near } ?? false }

    private func entries(in time: Duration) -> Double { perSecond * (time / .seconds(1)) }

    /// Whether a refusal now is near a rate that was refused before, after the route has kept below that for a while. Earlier
    /// it would only mean that the rate is still too great.
    var meetsQuotaAgain: Bool { ceiling == nil && isNearQuota }

    private var isNearQuota: Bool {
        quota.map { perSecond > $0 / Self.same && perSecond < $0 * Self.same } ?? false
    }

    /// A rate that is refused when the route has kept below it for a while is a quota, and more so each time.
    private mutating func learnQuota() {
        guard isNearQuota else {
            quota = perSecond
            isQuota = false
            hold = Self.firstHold(at: perSecond)
            return
        }
        guard meetsQuotaAgain else { return }
        quota = perSecond
        isQuota = true
        let longest = min(max(Self.longestHold.time, .seconds(Self.longestHold.count / perSecond)), Self.idle)
        hold = min(hold * 2, longest)
    }

    /// Where no quota is known. A rate of about one a second needs longer to show that it is granted.
    private static func firstHold(at perSecond: Double) -> Duration {
        perSecond < 0.8 ? shortestHold : min(max(.seconds(20 / perSecond), shortestHold), shortestHold * 2)
    }

    private mutating func grow(now: Duration) {
        guard rateAfterTrial == nil else { return endTrial(now: now) }
        guard wasLimiting else { return }
        if ceiling != nil, now - resumedAt >= hold,
            grantedSinceResume >= min(Self.step.count, Int(entries(in: hold) / 2))
        {
            ceiling = nil
            greatest = max(greatest, perSecond)
            refusedHolds = 0
            // Near a quota some more are refused.
            shareBelowQuota = min(shareBelowQuota ?? 1, shareSinceResume)
            held = perSecond
            growth = isQuota ? Self.firstGrowth.careful : Self.firstGrowth.plain
        } else {
            guard !isAtCeiling, now - steppedAt >= Self.step.time,
                grantedSinceStep >= min(Self.step.count, Int(entries(in: Self.step.time)))
            else { return }
        }
        granted = perSecond
        perSecond = min(perSecond * (1 + growth), ceiling.map { $0 * Self.near } ?? .infinity)
        growth = min(growth * 2, 1)
        beginStep(now: now)
    }

    private mutating func beginHold(now: Duration) {
        resumedAt = now
        (grantedSinceResume, refusedSinceResume) = (0, 0)
        beginStep(now: now)
    }

    private mutating func beginStep(now: Duration) {
        steppedAt = now
        grantedSinceStep = 0
        wasLimiting = false
    }
}
