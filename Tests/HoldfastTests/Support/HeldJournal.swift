import HoldfastTesting

@testable import Holdfast

/// An in-memory journal whose completions of promotions can be held back: between a commit and the word of it a Consumer
/// may take turns, as beside a real writer's thread. Settlements can be held back before they come to it.
final class HeldJournal: ForwardingJournal, @unchecked Sendable {  // Confined to the test's thread.
    var isHolding = false
    /// The most that a promotion moves.
    var promotionLimit = Int.max
    private var held: [() -> Void] = []
    /// Which settlements wait, as behind others in the journal's queue.
    var holdsSettlement: (SettlementBatch) -> Bool = { _ in false }
    private var heldSettlements: [() -> Void] = []

    func releaseSettlements() {
        let all = heldSettlements
        heldSettlements = []
        holdsSettlement = { _ in false }
        for one in all { one() }
    }

    override func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        guard holdsSettlement(batch) else { return base.settle(batch, completion: completion) }
        heldSettlements.append { [base] in base.settle(batch, completion: completion) }
    }

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

extension SettlementBatch {
    /// Whether it defers any entry.
    var defers: Bool { others.contains { if case .deferUntil = $0.kind { true } else { false } } }
}
