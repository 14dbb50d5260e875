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

    /// A recovery, or several as a whole, that brought at most so many for each refusal: a quota that is known brings more.
    private static let some = 50
    /// More of them than this, in a row, that brought no more.
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
    ///   - hasFallen: whether at one that is far below a rate that was granted. A quota that has become so much smaller is soon
    ///     known. Refusals that go on below it have nothing to do with the rate, and would lead it further and further down.
    /// - Returns: whether recoveries are in vain.
    mutating func ended(granted: Int, refused: Int, isPaced: Bool, isSlow: Bool, hasFallen: Bool) -> Bool {
        count = granted <= refused * Self.some ? count + 1 : 0
        guard count <= Self.greatestCount * (isSlow ? 2 : 1) else { return true }
        guard isPaced else { return false }
        if last.count == Self.plainWhereSlow { last.removeFirst() }
        last.append(Recovery(granted: granted, refused: refused))
        if hasFallen, last.count >= Self.plain, brought(atMost: Self.some, inLast: last.count) { return true }
        let plain = isSlow ? Self.plainWhereSlow : Self.plain
        return last.count >= plain && brought(atMost: Self.few, inLast: plain)
    }

    private func brought(atMost count: Int, inLast recoveries: Int) -> Bool {
        let last = last.suffix(recoveries)
        return last.reduce(0) { $0 + $1.granted } <= last.reduce(0) { $0 + $1.refused } * count
    }
}
