@testable import Holdfast

/// A service that grants so much and refuses the rest.
struct QuotaService {
    /// An answer of the service.
    enum Answer: Sendable {
        case granted
        case throttled
        /// For its own sake, at any rate.
        case failed
    }

    enum Kind: Sendable {
        /// So many in each second of its clock.
        case windows
        /// A bucket that holds one second's worth.
        case bucket
        /// No quota: each n-th is refused, at any rate.
        case share(of: Int)
        /// No quota: each is refused by chance, one in n.
        case chance(of: Int)
    }

    let kind: Kind
    var perSecond: Double
    /// Of what the quota grants, each n-th fails nevertheless; nil for none.
    let failing: Int?
    private var sinceFailure = 0
    private var window = -1
    private var used = 0.0
    private var tokens: Double
    private var filledAt = Duration.zero
    private var random = Xoshiro256(seed: 7)

    init(_ kind: Kind, perSecond: Double, failing: Int? = nil) {
        self.kind = kind
        self.perSecond = perSecond
        self.failing = failing
        tokens = perSecond
    }

    mutating func answer(at time: Duration) -> Answer {
        guard grants(at: time) else { return .throttled }
        guard let failing else { return .granted }
        sinceFailure = (sinceFailure + 1) % failing
        return sinceFailure == 0 ? .failed : .granted
    }

    mutating func grants(at time: Duration) -> Bool {
        switch kind {
        case .windows:
            let second = Int(time / .seconds(1))
            if second != window { (window, used) = (second, 0) }
            guard used < perSecond else { return false }
            used += 1
            return true
        case .bucket:
            tokens = min(tokens + (time - filledAt) / .seconds(1) * perSecond, perSecond)
            filledAt = time
            guard tokens >= 1 else { return false }
            tokens -= 1
            return true
        case .share(let count):
            used += 1
            return Int(used) % count != 0
        case .chance(let count):
            return Int.random(in: 0..<count, using: &random) != 0
        }
    }
}

/// A route with an endless backlog, its throttle, and a service with a quota, in simulated time.
struct QuotaRun {
    var service: QuotaService
    let retryAfter: Duration?
    let roundTrip = Duration.milliseconds(50)
    private(set) var throttle = RouteThrottle(policy: ThrottlePolicy(), window: 2000)
    private(set) var now = Duration.zero
    private(set) var granted = 0
    private(set) var refused = 0
    /// Refusals that have nothing to do with the rate.
    private(set) var failed = 0
    /// Refusals that the throttle calls those of single notifications: each costs an attempt.
    private(set) var counted = 0
    private var inFlight = 0
    private var answers: ArraySlice<(at: Duration, answer: QuotaService.Answer)> = []
    private var random = Xoshiro256(seed: 1)

    init(_ service: QuotaService, retryAfter: Duration?) {
        self.service = service
        self.retryAfter = retryAfter
    }

    /// - Returns: false when nothing would ever happen again.
    mutating func step() -> Bool {
        throttle.look(now: now)
        let count = min(throttle.allowance(inFlight: inFlight, now: now), 2000 - inFlight, 1000)
        if count > 0 {
            for _ in 0..<count { answers.append((now + roundTrip, service.answer(at: now + roundTrip / 2))) }
            throttle.take(count, now: now)
            inFlight += count
            return true
        }
        let next = [throttle.nextAllowance(inFlight: inFlight, now: now), answers.first?.at].compactMap { $0 }.min()
        guard let next else { return false }
        now = max(now, next)
        takeAnswers()
        return true
    }

    private mutating func takeAnswers() {
        var turn = RouteThrottle.Answers()
        while let answer = answers.first, answer.at <= now {
            answers.removeFirst()
            inFlight -= 1
            if answer.answer == .failed { failed += 1 }
            if answer.answer == .granted {
                turn.granted += 1
            } else {
                turn.throttled += 1
                turn.fresh += 1
                turn.retryAfter = retryAfter
            }
        }
        guard !turn.isEmpty else { return }
        granted += turn.granted
        refused += turn.refused
        let number = Double.random(in: 0..<1, using: &random)
        if case .single = throttle.take(turn, now: now, random: { number }) { counted += turn.refused }
    }
}
