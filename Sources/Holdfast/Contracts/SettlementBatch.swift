/// Settlements of entries, for one commit. Opaque outside of this package.
public struct SettlementBatch: Sendable {
    /// Entries that the service took: deleted.
    package var acknowledged: [Acknowledgement]
    /// Entries confirmed by silence, which a late error may revoke: kept aside, neither unconfirmed nor ended. Their outcome
    /// is written when they leave it; see ``Settlement/Kind/recall(due:possiblySent:)`` and ``TrimBounds/asideBefore``. A full
    /// journal confirms them at once.
    package var quieted: [EntryKey]
    /// The most entries that the journal keeps aside. Beyond it the oldest are confirmed in the same commits.
    package var greatestAside: Int
    /// All other settlements.
    package var others: [Settlement]
    /// The number to add to the journal's total of possible duplicates, in the same commit.
    package var possibleDuplicates: Int
    /// The time of settlement, by the wall clock, for outcomes.
    package var settledAt: WallTime
    /// See ``Submission/earliestTime``.
    package var earliestTime: WallTime?
    /// Whether each terminal outcome is written to the log, in the same commit.
    package var keepsOutcomes: Bool
    /// Whether the log gets the payload with the outcome.
    package var keepsPayloads = false
    /// The bytes beyond which the log loses its oldest outcomes, as by ``TrimBounds/greatestOutcomeBytes``, behind this batch;
    /// nil for no such bound.
    package var greatestOutcomeBytes: Int?
    /// Details of single settlements for their outcomes, by UID; also of acknowledgements with an `apns-unique-id`.
    package var details: [UID: SettlementDetail] = [:]

    package init(
        acknowledged: [Acknowledgement] = [], others: [Settlement] = [], possibleDuplicates: Int = 0,
        settledAt: WallTime = WallTime(milliseconds: 0), earliestTime: WallTime? = nil, keepsOutcomes: Bool = false,
        quieted: [EntryKey] = [], greatestAside: Int = .max
    ) {
        self.acknowledged = acknowledged
        self.quieted = quieted
        self.greatestAside = greatestAside
        self.others = others
        self.possibleDuplicates = possibleDuplicates
        self.settledAt = settledAt
        self.earliestTime = earliestTime
        self.keepsOutcomes = keepsOutcomes
    }

    package var isEmpty: Bool {
        acknowledged.isEmpty && quieted.isEmpty && others.isEmpty && possibleDuplicates == 0
    }

    /// The lanes that entries of it are moved to.
    var destinations: Set<LaneID> {
        var lanes: Set<LaneID> = []
        for settlement in others { if case .move(let lane, _, _, _) = settlement.kind { lanes.insert(lane) } }
        return lanes
    }

    /// Why an entry that is taken back by it, and may have been sent, ends as *unknown*.
    package var withdrawal: RejectionCause { RejectionCause(reason: .withdrawn, rejectedAt: settledAt) }

    /// The number of its settlements.
    package var count: Int { acknowledged.count + quieted.count + others.count }
}

extension SettlementBatch {
    /// A batch that acknowledges `keys`, of which nobody knows when they were handed out.
    package init(
        acknowledging keys: [EntryKey], others: [Settlement] = [], possibleDuplicates: Int = 0,
        settledAt: WallTime = WallTime(milliseconds: 0), earliestTime: WallTime? = nil, keepsOutcomes: Bool = false
    ) {
        self.init(
            acknowledged: keys.map { Acknowledgement($0) }, others: others, possibleDuplicates: possibleDuplicates,
            settledAt: settledAt, earliestTime: earliestTime, keepsOutcomes: keepsOutcomes)
    }
}

/// The counts of a settlement batch. Opaque outside of this package.
public struct SettlementReport: Hashable, Sendable {
    /// Settlements that took effect.
    package var settled: Int
    /// Settlements whose entry was gone.
    package var gone: Int
    /// Of ``settled``: withdrawals that did not become *unknown*.
    package var withdrawn: Int

    package init(settled: Int = 0, gone: Int = 0, withdrawn: Int = 0) {
        self.settled = settled
        self.gone = gone
        self.withdrawn = withdrawn
    }
}
