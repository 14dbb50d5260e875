/// Whether a lane's entries are sent. Stored in the journal, so that a pause outlives a restart. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum LaneState: Hashable, Sendable {
    /// The most bytes of a reason, in UTF-8; a longer one is cut.
    public static let longestReason = 1024

    /// Entries go out.
    case running
    /// An operator paused the lane, until an operator resumes it; also after a restart. `reason` may be empty.
    case paused(reason: String, since: WallTime)
    /// Nothing is sent until the cause is fixed, such as refused credentials or a tripped circuit breaker. An engine that
    /// starts tries again, since the restart may be part of the fix.
    case stopped(reason: String, since: WallTime)

    /// Why nothing is sent, for operators; `nil` while the lane runs.
    public var standsStillBecause: String? {
        switch self {
        case .running: nil
        case .paused(let reason, _): reason.isEmpty ? "paused" : "paused: \(reason)"
        case .stopped(let reason, _): reason
        }
    }
}
