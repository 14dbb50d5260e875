/// Why a route hands out nothing although there may be something to hand out.
///
/// A pure machine.
struct HandOutHolds: Sendable {
    /// Not before this is the journal read again, after a read that failed.
    var readAgainAt: Duration?
    /// Until then nothing is sent, by the service's word.
    private var parkedUntil: Duration?
    /// The pause in a form for the status.
    private(set) var parking: EngineStatus.Parking?
    /// A payload error is being settled: nothing goes out before that is on disk.
    var settlesPayloadError = false
    /// The outcomes' limit was met at the last look.
    var outcomesAreFull = false

    var isParked: Bool { parkedUntil != nil }

    /// The service wants no new provider tokens.
    mutating func park(for time: Duration, at now: Moment) {
        parkedUntil = now.monotonic + time
        parking = EngineStatus.Parking(
            reason: .tooManyProviderTokenUpdates, since: now.wall, until: now.wall.advanced(by: time))
    }

    /// Whether the service still wants none, it says at once.
    mutating func unpark() { parkedUntil = nil }

    mutating func look(_ now: Duration) {
        if let at = readAgainAt, at <= now { readAgainAt = nil }
        if let until = parkedUntil, until <= now { parkedUntil = nil }
    }

    /// - Parameters:
    ///   - isOwner: whether it is known that this process owns the journal.
    ///   - isThrottled: whether the service's throttle lets nothing out.
    func reason(isOwner: Bool, isThrottled: Bool) -> HoldReason? {
        if !isOwner { return .ownershipUnproven }
        if settlesPayloadError { return .payloadError }
        if readAgainAt != nil { return .journalUnreadable }
        if parkedUntil != nil { return .parked }
        if isThrottled { return .throttled }
        return outcomesAreFull ? .outcomesFull : nil
    }

    /// When one of them ends by itself.
    var nextLook: Duration? { [readAgainAt, parkedUntil].compactMap { $0 }.min() }
}
