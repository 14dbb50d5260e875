internal import Holdfast

/// Counts what the engine tells, over all engines of a service.
final class PageMeter: MetricsListener {
    /// Since the service began.
    struct Counts: Sendable {
        var accepted = 0
        var refused = 0
        var confirmed = 0
        var deferred = 0
        var rejected: [String: Int] = [:]
        /// By route.
        var connections: [String: Int] = [:]

        /// What came since `before`.
        func since(_ before: Counts) -> Counts {
            var counts = self
            counts.accepted -= before.accepted
            counts.refused -= before.refused
            counts.confirmed -= before.confirmed
            counts.deferred -= before.deferred
            for (reason, count) in before.rejected { counts.rejected[reason, default: 0] -= count }
            counts.rejected = counts.rejected.filter { $0.value > 0 }
            return counts
        }
    }

    /// Reasons that are told apart in the service's life: a service may give any text.
    private static let greatestReasonCount = 200
    static let others = "other reasons"

    private let counts = Monitor(Counts())

    var current: Counts { counts.withLock { $0 } }

    func accepted(_ count: Int) { counts.withLock { $0.accepted += count } }
    func refused(_ count: Int, reason: Reason) { counts.withLock { $0.refused += count } }
    func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String) {
        counts.withLock { $0.confirmed += count }
    }
    func deferred(_ count: Int, route: String) { counts.withLock { $0.deferred += count } }
    func measured(_ levels: RouteLevels) { counts.withLock { $0.connections[levels.route] = levels.connections } }

    func rejected(_ count: Int, reason: Reason, route: String) {
        counts.withLock { counts in
            let word = reason.rawValue.printable(maximumLength: 64)
            let isKnown = counts.rejected[word] != nil || counts.rejected.count < Self.greatestReasonCount
            counts.rejected[isKnown ? word : Self.others, default: 0] += count
        }
    }
}
