/// When to have the journal delete what is too old or too many.
///
/// A pure machine.
struct Housekeeping: Sendable {
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
    /// When it is time again; nil when that is not known yet, or it is under way.
    private(set) var next: Duration?

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

    /// - Parameters:
    ///   - wall: the earliest time that it may be: what is deleted is gone.
    ///   - isTrusted: whether it is the time, so that what seems to be of the future was written by a clock that was ahead.
    /// - Returns: what to delete now; nil when it is not time.
    mutating func due(now: Duration, wall: WallTime, isTrusted: Bool = true) -> TrimBounds? {
        guard isInCharge, !isUnderWay else { return nil }
        guard let next else {
            self.next = now + interval
            return nil
        }
        guard now >= next else { return nil }
        self.next = nil
        isUnderWay = true
        return TrimBounds(
            rejectionsBefore: wall.advanced(by: .zero - rejectionAge), greatestRejections: rejectionLimit,
            identitiesBefore: wall.advanced(by: .zero - identityAge), greatestIdentities: identityLimit,
            asideBefore: wall.advanced(by: .zero - lateErrorPeriod),
            // What was put aside a moment ago may seem to be a little later than now.
            asideAfter: isTrusted ? wall.advanced(by: max(lateErrorPeriod, WallClockGuard.distrust)) : nil,
            greatestAside: lateErrorLimit,
            // What nobody keeps goes when those who are waited for have read it.
            outcomesBefore: history.isKept
                ? wall.advanced(by: .zero - history.age) : WallTime(milliseconds: .max),
            greatestOutcomeBytes: history.limitBytes)
    }

    /// It is done, or failed and will be tried at the next time.
    mutating func trimmed(now: Duration) {
        isUnderWay = false
        next = now + interval
    }
}
