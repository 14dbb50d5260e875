/// When to have the journal delete what is too old or too many, and when to have it note the time.
///
/// A start long after the last time in the journal distrusts the clock (``WallClockGuard``). So that time is noted even while
/// nothing else is written.
///
/// A pure machine.
struct Housekeeping: Sendable {
    /// How old the time in the journal may get, well below ``WallClockGuard/tolerance``.
    static let timeInterval = Duration.seconds(60)

    private var interval: Duration
    private var rejectionAge: Duration
    private var rejectionLimit: Int
    private var identityAge: Duration
    private var identityLimit: Int
    private var lateErrorPeriod: Duration
    private var lateErrorLimit: Int
    private var history: HistoryPolicy
    /// One Consumer of an engine does it for all.
    var isInCharge: Bool
    private var isUnderWay = false
    /// Whether what is under way, or was the last, deletes.
    private(set) var deletes = false
    private var nextTrim: Duration?
    private var nextTime: Duration?

    init(_ configuration: EngineConfiguration, isInCharge: Bool) {
        interval = configuration.housekeeping
        rejectionAge = configuration.rejectionAge
        rejectionLimit = configuration.rejectionLimit
        identityAge = configuration.identityAge
        identityLimit = configuration.identityLimit
        lateErrorPeriod = configuration.lateErrorPeriod
        lateErrorLimit = configuration.lateErrorLimit
        history = configuration.history
        self.isInCharge = isInCharge
    }

    /// Other bounds, from the next time on.
    mutating func change(to configuration: EngineConfiguration) {
        let changed = Housekeeping(configuration, isInCharge: isInCharge)
        (interval, rejectionAge, rejectionLimit) = (changed.interval, changed.rejectionAge, changed.rejectionLimit)
        (identityAge, identityLimit) = (changed.identityAge, changed.identityLimit)
        (lateErrorPeriod, lateErrorLimit) = (changed.lateErrorPeriod, changed.lateErrorLimit)
        history = changed.history
    }

    /// When it is time again; nil when that is not known yet, or it is under way.
    var next: Duration? { isUnderWay ? nil : [nextTrim, nextTime].compactMap(\.self).min() }

    /// - Returns: what to delete or to note now; nil when it is not time.
    mutating func due(now: Duration, _ clock: ClockTrust.Reading) -> TrimBounds? {
        guard isInCharge, !isUnderWay else { return nil }
        guard let nextTrim, let nextTime else {
            (self.nextTrim, self.nextTime) = (now + interval, now + min(Self.timeInterval, interval))
            return nil
        }
        guard now >= min(nextTrim, nextTime) else { return nil }
        self.nextTime = now + Self.timeInterval
        var bounds = TrimBounds(earliestTime: clock.memory)
        deletes = now >= nextTrim
        if deletes {
            add(to: &bounds, clock)
        } else if clock.memory == nil {
            return nil
        }
        isUnderWay = true
        return bounds
    }

    /// - Parameter clock: its earliest time counts, since what is deleted is gone. Where it is trusted, what seems to be of the
    ///   future was written by a clock that was ahead.
    private func add(to bounds: inout TrimBounds, _ clock: ClockTrust.Reading) {
        let wall = clock.earliest
        bounds.rejectionsBefore = wall.advanced(by: .zero - rejectionAge)
        bounds.greatestRejections = rejectionLimit
        bounds.identitiesBefore = wall.advanced(by: .zero - identityAge)
        bounds.greatestIdentities = identityLimit
        bounds.asideBefore = wall.advanced(by: .zero - lateErrorPeriod)
        // What was put aside a moment ago may seem to be a little later than now.
        bounds.asideAfter =
            clock.isTrusted ? wall.advanced(by: max(lateErrorPeriod, WallClockGuard.distrust)) : nil
        bounds.greatestAside = lateErrorLimit
        // What nobody keeps goes when those who are waited for have read it.
        bounds.outcomesBefore =
            history.isKept ? wall.advanced(by: .zero - history.age) : WallTime(milliseconds: .max)
        bounds.greatestOutcomeBytes = history.limitBytes
    }

    /// It is done, or failed and will be tried at the next time.
    mutating func trimmed(now: Duration) {
        isUnderWay = false
        nextTime = now + Self.timeInterval
        if deletes { nextTrim = now + interval }
    }
}
