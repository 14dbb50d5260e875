/// Whether a lane's entries go out; kept in the journal, so that a restart does not undo an operator's word.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum LaneState: Hashable, Sendable {
    /// The most bytes of UTF-8 of a reason that are kept; longer ones are cut.
    public static let longestReason = 1024

    /// Entries go out.
    case running
    /// By an operator's word, until another; also after a restart.
    ///
    /// `reason` is the operator's, and may be empty.
    case paused(reason: String, since: WallTime)
    /// Nothing goes out until somebody mends the cause: refused credentials, or a circuit breaker that has tripped. An
    /// engine that starts tries again, since a restart may be how it was mended.
    case stopped(reason: String, since: WallTime)

    /// Why nothing goes out, for people; nil while the lane is running.
    public var standsStillBecause: String? {
        switch self {
        case .running: nil
        case .paused(let reason, _): reason.isEmpty ? "paused" : "paused: \(reason)"
        case .stopped(let reason, _): reason
        }
    }
}
