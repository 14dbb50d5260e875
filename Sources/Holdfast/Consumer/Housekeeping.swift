/// When to have the journal delete what is too old or too many.
///
/// A pure machine.
struct Housekeeping: Sendable {
    private let interval: Duration
    private let rejectionAge: Duration
    private let rejectionLimit: Int
    private let identityAge: Duration
    private let identityLimit: Int
    /// One Consumer of an engine does it for all.
    private let isInCharge: Bool
    private var isUnderWay = false
    /// When it is time again; nil when that is not known yet, or it is under way.
    private(set) var next: Duration?

    init(_ configuration: EngineConfiguration, isInCharge: Bool) {
        interval = configuration.housekeeping
        rejectionAge = configuration.rejectionAge
        rejectionLimit = configuration.rejectionLimit
        identityAge = configuration.identityAge
        identityLimit = configuration.identityLimit
        self.isInCharge = isInCharge
    }

    /// - Returns: what to delete now; nil when it is not time.
    mutating func due(now: Duration, wall: WallTime) -> TrimBounds? {
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
            identitiesBefore: wall.advanced(by: .zero - identityAge), greatestIdentities: identityLimit)
    }

    /// It is done, or failed and will be tried at the next time.
    mutating func trimmed(_ isDone: Bool, now: Duration) {
        guard isDone else { return }
        isUnderWay = false
        next = now + interval
    }
}
