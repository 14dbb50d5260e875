/// Limits the rate of a route while its service refuses requests temporarily.
///
/// A temporary refusal (429, 5xx) is about one notification, or about the service. It is about the service if nothing else was
/// taken, or if refusals are a certain share of the answers. Then the route *pauses*, sends one request as a *probe*, and
/// *recovers*: the requests in flight double with each answered batch. A refusal during the recovery measures the rate that the
/// service grants. From then on the route keeps to that rate, and tries a greater one from time to time.
///
/// If the share of refusals stays the same at any rate, they are about some of the notifications (Apple's 429 is about one
/// device), and no pause would help. Then the route pauses only for a service that refuses most requests.
///
/// Both may be true at once: beside a quota, a few are refused at any rate. See `ThrottlePace` for how they are told apart.
///
/// A pure machine. Without refusals it costs one comparison for each hand-out.
struct RouteThrottle: Sendable {
    enum Phase: Hashable, Sendable {
        /// The service takes what it gets.
        case open
        /// Nothing goes out.
        case paused(until: Duration)
        /// One request shows whether the service takes notifications again.
        case probing(isUnderWay: Bool)
        /// More goes out with each answer, at most at the measured rate.
        case recovering
    }

    /// A refusal so soon after the limit was met says what the service grants. Later it may be that little was to be sent.
    private static let meaningful = Duration.seconds(2)
    /// How long that is believed.
    private static let indifference = Duration.seconds(10 * 60)
    /// How long requests without an answer keep others waiting, and how long at the start, before anything was refused.
    private static let patience = Duration.seconds(2)
    private static let firstPatience = Duration.seconds(10)
    /// So many refusals one behind the other are the service's word, whatever share of the notifications was refused before.
    private static let sureInARow = 10

    var policy: ThrottlePolicy
    /// The most entries in flight that the route ever has.
    private(set) var window: Int
    private(set) var phase = Phase.open
    /// The most entries in flight; `.max` when the window alone counts.
    private(set) var limit: Int
    /// Nil while no rate was measured.
    private(set) var pace: ThrottlePace?
    /// Entries in flight since before the pause, and those that others do not wait for any more.
    private var stale = 0
    /// When anything went out last, or was answered.
    private var quietSince = Duration.zero
    private var tally = RefusalTally()
    /// Refused probes in a row, the refusal before them included.
    private var failures = 0
    /// When the last pause began, and when there was more to send than the recovery from it allowed, last.
    private var pausedAt: Duration?
    /// When, in a pause, another topic may be tried, and whether the service has asked for the pause.
    private var othersAt: Duration?
    private(set) var isAsked = false
    private var limitedAt: Duration?
    private var recoveringSince = Duration.zero
    /// How much was granted since the pause began.
    private var granted = 0
    private var recoveries = FutileRecoveries()
    /// How much of what was never refused was granted, for which nothing that was refused has come back yet.
    private var grantedAhead = 0
    /// The number of consecutive refusals of entries that were never refused before.
    private var refusedInARow = 0
    /// Until then a share of refusals is not taken for the service's word.
    private var indifferentUntil: Duration?

    init(policy: ThrottlePolicy, window: Int) {
        self.policy = policy
        self.window = max(window, 1)
        limit = max(policy.firstBurst, 1)
        widen(by: 0)
    }

    /// Whether the service is throttling the route, or was unavailable a moment ago.
    var isThrottling: Bool { phase != .open }

    /// Whether nothing goes out but, at most, a probe.
    var isHolding: Bool {
        switch phase {
        case .paused, .probing: true
        case .open, .recovering: false
        }
    }

    var isPaused: Bool { if case .paused = phase { true } else { false } }

    /// Whether another topic may be tried in this pause: one topic may be all that the service speaks of.
    func mayProbeOthers(now: Duration) -> Bool { isPaused && othersAt.map { $0 <= now } ?? false }

    /// There is no other topic, so far.
    mutating func foundNoOthers(now: Duration) { othersAt = othersAt.map { max($0, now + .seconds(1)) } }

    /// The next request is the probe, and of another topic.
    ///
    /// - Returns: how long the pause would have been.
    mutating func probeOthers(now: Duration) -> Duration {
        guard case .paused(let until) = phase else { return .zero }
        phase = .probing(isUnderWay: false)
        return max(until - now, .zero)
    }

    /// Whether requests that have no answer yet are what others wait for, and have been for long enough.
    func isKept(inFlight: Int, now: Duration) -> Bool {
        waitsForAnswers(inFlight: inFlight) && keptAt <= now
    }

    private var keptAt: Duration { quietSince + (isThrottling ? Self.patience : Self.firstPatience) }

    private func waitsForAnswers(inFlight: Int) -> Bool {
        switch phase {
        case .probing(let isUnderWay): isUnderWay && inFlight > 0
        case .open, .recovering: limit <= inFlight - min(stale, inFlight)
        case .paused: false
        }
    }

    /// Whether fewer may be in flight than the window has room for.
    var isLimiting: Bool { isThrottling || limit != .max }

    /// Others do not wait for what is under way.
    mutating func passOver(inFlight: Int) {
        guard waitsForAnswers(inFlight: inFlight) else { return }
        stale = inFlight
        if case .probing = phase { phase = .probing(isUnderWay: false) }
    }

    /// Whether the next request is the probe.
    var isToProbe: Bool { phase == .probing(isUnderWay: false) }

    /// The next probe need not wait: what was wrong may be mended.
    mutating func hurry() {
        guard isPaused else { return }
        (phase, failures) = (.probing(isUnderWay: false), 0)
    }

    mutating func change(to policy: ThrottlePolicy, window: Int) {
        self.policy = policy
        self.window = max(window, 1)
        widen(by: 0)
    }

    // MARK: What may go out

    /// Time has come to `now`.
    mutating func look(now: Duration) {
        if let until = indifferentUntil, until <= now { indifferentUntil = nil }
        switch phase {
        case .paused(let until) where until <= now:
            phase = .probing(isUnderWay: false)
        case .recovering:
            pace?.look(now: now)
            guard let forgetsAt, forgetsAt <= now else { return }
            // Nothing was held up for long, and whether a rate still holds nobody knows.
            phase = .open
            if pace != nil {
                pace = nil
                limit = max(policy.firstBurst, 1)
                widen(by: 0)
            }
        case .open, .paused, .probing: break
        }
    }

    /// The number of entries that may be sent now.
    ///
    /// - Parameter inFlight: of the route.
    mutating func allowance(inFlight: Int, now: Duration) -> Int {
        switch phase {
        case .open:
            stale = min(stale, inFlight)
            return limit == .max ? .max : max(limit - (inFlight - stale), 0)
        case .paused: return 0
        // A probe that was given up has nothing in flight any more.
        case .probing(let isUnderWay):
            if isUnderWay { return inFlight > 0 ? 0 : 1 }
            // What hangs since before the pause must not hold up the recovery.
            stale = inFlight
            return 1
        case .recovering:
            stale = min(stale, inFlight)
            var room = limit == .max ? Int.max : max(limit - (inFlight - stale), 0)
            if room > 0, pace != nil { room = min(room, pace!.allowance(now: now)) }
            if room == 0 { limitedAt = now }
            return room
        }
    }

    /// So many entries went out.
    mutating func take(_ count: Int, now: Duration) {
        guard count > 0 else { return }
        quietSince = now
        if case .probing = phase { phase = .probing(isUnderWay: true) }
        pace?.take(count)
    }

    /// The number of refused entries that may come back while others wait: one for two others that were taken. So a few entries
    /// that are always refused do not keep the route slow.
    var roomForKnown: Int {
        switch phase {
        case .open: .max
        case .recovering: grantedAhead / 2
        case .paused, .probing: 0
        }
    }

    /// So many of those that were refused come back.
    mutating func callBack(_ count: Int) { grantedAhead = max(grantedAhead - count * 2, 0) }

    /// When to ask again by the clock, if there is more to send than it allows; nil when only an answer changes anything.
    func nextAllowance(inFlight: Int, now: Duration) -> Duration? {
        if waitsForAnswers(inFlight: inFlight) {
            return isKept(inFlight: inFlight, now: now) ? nil : keptAt
        }
        return switch phase {
        case .paused(let until): othersAt.map { $0 > now ? min($0, until) : until } ?? until
        case .recovering: pace?.nextAllowance(now: now)
        case .open, .probing: nil
        }
    }

    // MARK: What was answered

    /// When the end of the throttling is to be looked for, if nothing else happens.
    var forgetsAt: Duration? {
        guard phase == .recovering else { return nil }
        return max(limitedAt ?? .zero, recoveringSince) + (pace == nil ? Self.meaningful : ThrottlePace.idle)
    }

    /// - Parameters:
    ///   - isRepeated: the only refusal is of the entry that was refused last, and that may be the cause.
    ///   - now: by the monotonic clock.
    ///   - random: from 0 up to 1, for the jitter.
    mutating func take(
        _ answers: Answers, isRepeated: Bool = false, now: Duration, random: () -> Double
    ) -> Judgement {
        quietSince = now
        granted += answers.granted
        if isThrottling { grantedAhead += answers.granted - answers.known }
        refusedInARow = answers.granted > 0 ? 0 : refusedInARow + answers.fresh
        tally.add(indifferentUntil == nil ? answers : answers.freshAlone, now: now)
        guard answers.refused > 0 else {
            if case .probing = phase { probed(answers, now: now) } else { granted(answers.granted, now: now) }
            return .single
        }
        if case .paused(let until) = phase {
            // It was under way when the pause began.
            let wait = answers.fresh > 0 ? answers.retryAfter : nil
            let later = wait.map { max(until, now + $0) } ?? until
            phase = .paused(until: later)
            return .service(until: later)
        }
        if isBesideOthers(answers) {
            pace?.refusedBesideOthers(answers.refused)
            return .service(until: now + wait(answers.retryAfter, random: random()))
        }
        guard isAboutService(answers) else {
            // A failure says nothing of how much is sent.
            if answers.throttled > 0 { pace?.refusedSome(now: now) }
            switch phase {
            case .probing: probed(answers, now: now)
            case .open: widen(by: answers.granted)
            case .paused, .recovering: break
            }
            return .single
        }
        if isFutile(answers) {
            goOnIndifferently(now: now)
            return .single
        }
        // A quota after all.
        indifferentUntil = nil
        let until = pause(answers, now: now, random: random())
        // Others need not wait for it: the next one is the probe.
        if isRepeated, failures > 1 { phase = .probing(isUnderWay: false) }
        return .service(until: until)
    }

    private func isAboutService(_ answers: Answers) -> Bool {
        if indifferentUntil != nil, !isHolding {
            return refusedInARow >= Self.sureInARow || tally.isMostlyRefused(least: RefusalTally.sure)
        }
        if tally.granted == 0 { return true }
        switch phase {
        case .paused: return true
        case .probing: return answers.granted == 0
        case .recovering: return answers.throttled > 0 || tally.isMostlyRefused(least: 2)
        case .open: return tally.isThrottled || tally.isMostlyRefused(least: RefusalTally.least)
        }
    }

    /// Whether the service, in a recovery, refused some and goes on taking the others as below its quota. Then what it refused
    /// waits, and the route does not: failures now and then would keep it far below the quota.
    private func isBesideOthers(_ answers: Answers) -> Bool {
        guard phase == .recovering, answers.throttled > 0, refusedInARow < Self.sureInARow else { return false }
        guard let pace else { return tally.isOne || tally.isFew(share: 1) }
        // Below a refused rate one says little. Above it is what the route waits for.
        if pace.ceiling != nil, tally.isOne(of: ThrottlePace.many) { return true }
        return pace.mayRefuseSome && (tally.isOne || tally.isFew(share: pace.shareBelowQuota ?? 1))
    }

    private mutating func isFutile(_ answers: Answers) -> Bool {
        switch phase {
        case .recovering:
            // It kept below a rate for long, and was refused near it again: that is how quotas are.
            if let pace, pace.meetsQuotaAgain, !pace.hasFallen {
                if granted > answers.refused * FutileRecoveries.few { recoveries = FutileRecoveries() }
                return false
            }
            return recoveries.ended(
                granted: granted, refused: answers.refused, isPaced: pace != nil,
                isSlow: pace?.isSlow ?? false, hasFallen: pace?.hasFallen ?? false)
        // A probe alone says nothing of a share.
        case .probing: return false
        case .open, .paused:
            recoveries = FutileRecoveries()
            return false
        }
    }

    private mutating func goOnIndifferently(now: Duration) {
        indifferentUntil = now + Self.indifference
        beginAnew()
    }

    /// Forgets the throttling: the refusals that led to it were not about the service.
    mutating func beginAnew() {
        recoveries = FutileRecoveries()
        (phase, pace, pausedAt, limitedAt) = (.open, nil, nil, nil)
        limit = max(policy.firstBurst, 1)
        // What has no answer yet went out before.
        stale = .max
        widen(by: 0)
    }

    private mutating func probed(_ answers: Answers, now: Duration) {
        guard answers.granted > 0 else {
            phase = .probing(isUnderWay: false)
            return
        }
        phase = .recovering
        // What was refused before the probe says nothing of what comes behind it.
        tally = RefusalTally()
        tally.add(answers, now: now)
        recoveringSince = now
        limitedAt = nil
        failures = 0
        limit = 1
        pace?.resume(now: now)
        granted(answers.granted, now: now)
    }

    private mutating func granted(_ count: Int, now: Duration) {
        guard count > 0, !isPaused else { return }
        widen(by: count)
        guard phase == .recovering else { return }
        if pace != nil {
            pace!.granted(count, now: now)
        } else if limit == .max {
            phase = .open
        }
    }

    private mutating func widen(by count: Int) {
        guard limit != .max else { return }
        limit += count
        if limit >= window { limit = .max }
    }

    private mutating func pause(_ answers: Answers, now: Duration, random: Double) -> Duration {
        // One entry may be refused for its own sake, whatever it is told to wait: then the next one goes soon.
        let isSure: Bool
        if case .probing = phase {
            isSure = answers.fresh > 0
            failures += isSure && answers.ofOtherTopics == 0 ? 1 : 0
        } else {
            isSure = answers.refused > 1 || phase == .recovering && answers.fresh > 0
            failures = 1
            measure(now: now)
        }
        pausedAt = now
        granted = 0
        tally = RefusalTally()
        limit = 1
        let until = now + wait(isSure ? answers.retryAfter : nil, random: random)
        let own = now + max(wait(nil, random: random), Self.meaningful)
        isAsked = until > own
        othersAt = isAsked ? own : until > now + Self.meaningful ? now + Self.meaningful : nil
        phase = .paused(until: until)
        return until
    }

    private func wait(_ retryAfter: Duration?, random: Double) -> Duration {
        max(policy.pause(failures - 1) * (0.5 + random / 2), retryAfter ?? .zero)
    }

    /// From the beginning of one pause to the beginning of the next, the service grants what its quota is, if there was more
    /// to send. (After a large burst the route may look open already.)
    private mutating func measure(now: Duration) {
        guard let pausedAt, now > pausedAt, let limitedAt, now - limitedAt < Self.meaningful else { return }
        let measured = Double(granted) / ((now - pausedAt) / .seconds(1))
        if pace != nil { pace!.refused(measured: measured) } else { pace = ThrottlePace(perSecond: measured) }
    }
}
