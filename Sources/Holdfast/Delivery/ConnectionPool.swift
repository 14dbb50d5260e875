/// Which connections of a route take hand-outs, and when another one is made: one at a time, and with backoff where the
/// service is away.
///
/// A pure machine: times and random numbers are arguments.
struct ConnectionPool: Sendable {
    private enum Making: Sendable {
        case resting
        case underWay
        case waiting(until: Duration)
    }

    /// The most connections that take hand-outs at a time.
    private(set) var limit: Int
    /// The connections that take hand-outs, the oldest first.
    private(set) var active: [Int] = []
    private var making = Making.resting
    private var reconnect: ReconnectSchedule
    /// How often connections may be made, those excepted that ``earned(now:)`` was said of. Nil for as often as is wanted.
    private var budget: RateLimiter?
    /// Whether the next connection waits for the limit on new connections.
    private var awaitsBudget = false
    /// Whether an operator wants a connection, although nothing may need it.
    private(set) var isAsked = false

    init(limit: Int, reconnect: ReconnectSchedule, budget: RateLimit? = nil) {
        self.limit = max(limit, 1)
        self.reconnect = reconnect
        self.budget = budget.map { RateLimiter($0) }
    }

    /// Other terms. Those that are one too many are ``surplus``; how often connecting has failed is not forgotten.
    mutating func change(limit: Int, reconnect: ReconnectSchedule, budget: RateLimit?) {
        self.limit = max(limit, 1)
        if reconnect.minimum != self.reconnect.minimum || reconnect.maximum != self.reconnect.maximum {
            let failures = self.reconnect.failures
            self.reconnect = reconnect
            self.reconnect.skip(failures)
        }
        if budget != self.budget?.limit { self.budget = budget.map { RateLimiter($0) } }
    }

    /// The youngest of those that take hand-outs although there may not be so many.
    var surplus: ArraySlice<Int> { active.dropFirst(limit) }

    /// A connection is being made.
    var isMaking: Bool { if case .underWay = making { true } else { false } }

    /// When one may be made that may not be made yet.
    var nextAttempt: Duration? { if case .waiting(let until) = making { until } else { nil } }

    /// Whether nothing is there, and the next connection waits for the limit on new ones.
    var isLimited: Bool {
        guard active.isEmpty, awaitsBudget, case .waiting = making else { return false }
        return true
    }

    /// Nothing is there, and nothing comes before its time.
    var isAway: Bool {
        guard active.isEmpty else { return false }
        if case .resting = making { return false }
        return true
    }

    func contains(_ number: Int) -> Bool { active.contains(number) }

    /// Whether a connection may be asked for now.
    func mayBegin(now: Duration) -> Bool {
        guard active.count < limit else { return false }
        return switch making {
        case .resting: true
        case .underWay: false
        case .waiting(let until): until <= now
        }
    }

    /// So many may have to be made for what goes alone: its own, and, where that ends, the one that the others go on with.
    private static let forOneAlone = 2

    /// Whether connections that work may be given up for another one: so that nothing waits for more than its making.
    func mayReplace(now: Duration) -> Bool { next(Self.forOneAlone, now: now).map { $0 <= now } ?? false }

    /// Whether one that ends now would be followed at once.
    func mayFollow(now: Duration) -> Bool { next(1, now: now).map { $0 <= now } ?? false }

    /// Whether so many connections were made of late that no more than half of those are left that may be made at once.
    func isScarce(now: Duration) -> Bool { nextPlenty(now: now).map { $0 > now } ?? false }

    /// When it is not any more, no earlier than now; nil where there is no limit.
    func nextPlenty(now: Duration) -> Duration? { budget.map { $0.next(max($0.limit.burst / 2, 1), now: now) } }

    /// When either may be, as far as is known.
    func nextReplacements(now: Duration) -> [Duration] {
        [next(1, now: now), next(Self.forOneAlone, now: now)].compactMap(\.self)
    }

    /// When so many may be made; nil while one is being made.
    private func next(_ count: Int, now: Duration) -> Duration? {
        let earliest: Duration
        switch making {
        case .underWay: return nil
        case .resting: earliest = now
        case .waiting(let until): earliest = max(until, now)
        }
        guard let budget else { return earliest }
        return max(budget.next(min(count, budget.limit.burst), now: now), earliest)
    }

    /// A connection is wanted, and may be asked for: unless so many were made of late that it has to wait.
    ///
    /// - Returns: whether one is to be asked for now.
    mutating func begin(now: Duration) -> Bool {
        if budget?.allowance(now: now) == 0 {
            making = .waiting(until: budget?.nextAllowance(now: now) ?? now)
            awaitsBudget = true
            return false
        }
        (awaitsBudget, isAsked) = (false, false)
        budget?.take(1)
        making = .underWay
        return true
    }

    /// Makes the next connection at once, however many were made of late, because the cause of failures may be fixed.
    mutating func hurry(now: Duration) {
        reconnect.worked()
        isAsked = true
        if budget?.allowance(now: now) == 0 { budget?.giveBack(1) }
        if case .waiting = making { making = .waiting(until: now) }
    }

    /// One that has left did enough work, and ended in an orderly way: it counts no more, and its successor is not to wait
    /// as after a failure.
    mutating func earned(now: Duration) {
        budget?.giveBack(1)
        reconnect.worked()
        if awaitsBudget, case .waiting(let until) = making { making = .waiting(until: min(until, now)) }
    }

    /// Records that no connection is needed now.
    mutating func rest(now: Duration) {
        if case .waiting(let until) = making, until <= now { making = .resting }
    }

    mutating func made(_ number: Int) {
        making = .resting
        active.append(number)
    }

    /// Records a connection that is not needed any more.
    mutating func madeInVain() { making = .resting }

    /// - Returns: how long to wait before the next attempt.
    mutating func failed(now: Duration, random: Double) -> Duration {
        let wait = reconnect.failed(random: random)
        making = .waiting(until: now + wait)
        return wait
    }

    /// A connection takes nothing more, or is over. One that brought answers is followed at once; one that did not, after
    /// a while.
    ///
    /// - Returns: whether it had taken hand-outs until now.
    mutating func leave(_ number: Int, hasWorked: Bool, now: Duration, random: () -> Double) -> Bool {
        guard remove(number) else { return false }
        if hasWorked { reconnect.worked() }
        wait(until: now + (hasWorked ? .zero : reconnect.failed(random: random())))
        return true
    }

    /// A connection has done its work. That is no failure: new traffic goes to a fresh one at once.
    ///
    /// - Parameter hasWorked: whether it brought an answer, after which failures of earlier ones count no more.
    mutating func retire(_ number: Int, hasWorked: Bool, now: Duration) {
        if hasWorked { reconnect.worked() }
        if remove(number) { wait(until: now) }
    }

    private mutating func remove(_ number: Int) -> Bool {
        guard let index = active.firstIndex(of: number) else { return false }
        active.remove(at: index)
        return true
    }

    private mutating func wait(until: Duration) {
        switch making {
        case .underWay: break
        case .resting: making = .waiting(until: until)
        case .waiting(let other): making = .waiting(until: max(other, until))
        }
    }
}
