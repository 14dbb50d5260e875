import HoldfastTesting

@testable import Holdfast

/// An in-memory journal whose completions of promotions can be held back: between a commit and the word of it a Consumer
/// may take turns, as beside a real writer's thread.
final class HeldJournal: ForwardingJournal, @unchecked Sendable {  // Confined to the test's thread.
    var isHolding = false
    /// The most that a promotion moves.
    var promotionLimit = Int.max
    private var held: [() -> Void] = []

    func release() {
        let all = held
        held = []
        isHolding = false
        for one in all { one() }
    }

    override func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        base.promoteDue(lane, after: after, now: now, limit: min(limit, promotionLimit)) { [self] result in
            if isHolding { held.append { completion(result) } } else { completion(result) }
        }
    }
}
