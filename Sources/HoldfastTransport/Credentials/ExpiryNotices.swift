package import Holdfast

/// Says when a certificate's end has come so near that somebody should be told: thirty, seven and one days before it, and at
/// it, each once.
///
/// A pure machine.
package struct ExpiryNotices: Sendable {
    package enum Stage: Int, Comparable, CaseIterable, Sendable {
        case month, week, day, over

        package static func < (lhs: Stage, rhs: Stage) -> Bool { lhs.rawValue < rhs.rawValue }

        /// Seconds before the end.
        fileprivate var distance: Int64 {
            switch self {
            case .month: 30 * 86_400
            case .week: 7 * 86_400
            case .day: 86_400
            case .over: 0
            }
        }
    }

    /// Unix seconds: whose end the stages are of.
    private var notAfter: Int64?
    /// The last notice; nil for none, or for a certificate of which none is due.
    package private(set) var told: Stage?

    package init() {}

    /// - Parameter notAfter: the certificate's last valid second; nil for none.
    /// - Returns: the notice that is due now.
    package mutating func look(notAfter: Int64?, now: WallTime) -> Stage? {
        if notAfter != self.notAfter { (self.notAfter, told) = (notAfter, nil) }
        guard let notAfter else { return nil }
        let left = notAfter - now.seconds
        let stage = Stage.allCases.last { $0 == .over ? left < 0 : left <= $0.distance }
        guard let stage, told.map({ $0 < stage }) ?? true else { return nil }
        told = stage
        return stage
    }
}
