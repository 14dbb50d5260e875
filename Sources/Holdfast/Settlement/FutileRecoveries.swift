/// Knows when recoveries from refusals are in vain: what is refused is a share of the notifications, at any rate.
///
/// Under a quota the route would soon keep to it, and hear of it more seldom: from the first measured rate on, each recovery
/// brings more than ten for each refusal, and before long hundreds.
///
/// A pure machine.
struct FutileRecoveries: Hashable, Sendable {
    private struct Recovery: Hashable, Sendable {
        let granted: Int
        let refused: Int
    }

    /// More of them than this, in a row, that brought at most fifty for each refusal.
    private static let greatestCount = 8
    /// So many at a measured rate that as a whole brought at most ten for each refusal.
    private static let plain = 4
    private static let plainWhereSlow = 6
    /// A recovery that brought at most so many for each refusal speaks against a quota.
    static let few = 10

    private var count = 0
    private var last: [Recovery] = []

    /// A recovery has ended with refusals.
    ///
    /// - Parameters:
    ///   - granted: how many were taken since the pause before.
    ///   - isPaced: whether it went at a measured rate.
    ///   - isSlow: whether at so small a one that a quota too brings little before it is known. Then it takes some more.
    /// - Returns: whether recoveries are in vain.
    mutating func ended(granted: Int, refused: Int, isPaced: Bool, isSlow: Bool) -> Bool {
        count = granted <= refused * 50 ? count + 1 : 0
        guard count <= Self.greatestCount * (isSlow ? 2 : 1) else { return true }
        guard isPaced else { return false }
        if last.count == Self.plainWhereSlow { last.removeFirst() }
        last.append(Recovery(granted: granted, refused: refused))
        let plain = isSlow ? Self.plainWhereSlow : Self.plain
        let (granted, refused) = last.suffix(plain).reduce((0, 0)) { ($0.0 + $1.granted, $0.1 + $1.refused) }
        return last.count >= plain && granted <= refused * 10
    }
}
