import Holdfast
import HoldfastLMDB

/// A trim on its way: it takes as many commits as it needs, and between them others have theirs.
struct TrimWork: Sendable {
    enum Step: Sendable {
        case oldRejections, surplusRejections, oldIdentities, surplusIdentities
        case oldAside, futureAside, surplusAside
        case oldOutcomes, surplusOutcomes
        case done
    }

    let bounds: TrimBounds
    /// The last outcome that may be deleted.
    let lastOutcome: UInt64
    let completion: @Sendable (Result<Trimmed, JournalError>) -> Void
    private(set) var step = Step.oldRejections
    /// Where the search for old rejections goes on.
    var position: UInt64 = 0
    var trimmed = Trimmed()

    /// Whether nothing of it was done yet.
    var isNew: Bool { step == .oldRejections && position == 0 && trimmed.rejections == 0 }

    init(
        _ bounds: TrimBounds, through lastOutcome: UInt64 = .max,
        _ completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void
    ) {
        self.bounds = bounds
        self.lastOutcome = lastOutcome
        self.completion = completion
    }

    mutating func goOn() {
        switch step {
        case .oldRejections: step = .surplusRejections
        case .surplusRejections: step = .oldIdentities
        case .oldIdentities: step = .surplusIdentities
        case .surplusIdentities: step = .oldAside
        case .oldAside: step = .futureAside
        case .futureAside: step = .surplusAside
        case .surplusAside: step = .oldOutcomes
        case .oldOutcomes: step = .surplusOutcomes
        case .surplusOutcomes, .done: step = .done
        }
    }
}

extension CommitDraft {
    /// Rows that one commit looks at, to each that it may delete.
    private static let looksPerDeletion = 10

    /// Does a part of the work.
    ///
    /// - Parameter budget: the most rows that this commit deletes for it.
    /// - Returns: the work as it stands when the commit is done.
    mutating func trim(_ work: TrimWork, budget: Int) throws(LMDBError) -> TrimWork {
        var work = work
        var left = budget
        if work.isNew, let time = work.bounds.earliestTime { state.facts.wallTime = time }
        while left > 0, work.step != .done {
            let (deleted, isOver) = try trimStep(&work, left)
            left -= deleted
            if isOver { work.goOn() } else { break }
        }
        return work
    }

    private mutating func trimStep(_ work: inout TrimWork, _ budget: Int) throws(LMDBError) -> (Int, isOver: Bool) {
        let done: (Int, isOver: Bool)
        switch work.step {
        case .oldRejections:
            guard let before = work.bounds.rejectionsBefore else { return (0, true) }
            done = try dropRejections(before: before, from: &work.position, budget)
            work.trimmed.rejections += done.0
        case .surplusRejections:
            guard let greatest = work.bounds.greatestRejections else { return (0, true) }
            let surplus = try transaction.statistics(of: tables.rejections).entries - greatest
            done = try dropFirst(of: tables.rejections, min(surplus, budget), isOver: surplus <= budget) { _, _ in true
            }
            work.trimmed.rejections += done.0
        case .oldIdentities:
            guard let before = work.bounds.identitiesBefore?.milliseconds else { return (0, true) }
            // From the front until one is young enough, since they lie in the order of acceptance.
            let index = identities
            done = try dropFirst(of: tables.identities, budget, isOver: false) { uid, value in
                Self.forget(uid, value, index) { record in record.acceptedAt < before }
            }
            work.trimmed.identities += done.0
        case .surplusIdentities:
            guard let greatest = work.bounds.greatestIdentities else { return (0, true) }
            let surplus = try transaction.statistics(of: tables.identities).entries - greatest
            let index = identities
            done = try dropFirst(of: tables.identities, min(surplus, budget), isOver: surplus <= budget) { uid, value in
                Self.forget(uid, value, index) { _ in true }
            }
            work.trimmed.identities += done.0
        case .oldAside, .futureAside, .surplusAside:
            done = try trimAside(work.bounds, work.step, budget)
            work.trimmed.aside += done.0
        case .oldOutcomes, .surplusOutcomes:
            done = try trimOutcomes(
                work.bounds, work.step, budget, through: work.lastOutcome, outcomes: &work.trimmed.outcomes)
        case .done:
            return (0, true)
        }
        return done
    }

    /// Forgets the oldest identities until they have their limit, or what they had before this commit where that was more: what
    /// is beyond the limit for another reason goes in other commits. Of its own it forgets none.
    mutating func keepIdentitiesToLimit() throws(LMDBError) {
        guard let identityLimit, state.facts.nextUID > before.facts.nextUID else { return }
        let greatest = max(identityLimit.pages, identityLimit.pagesBefore)
        let (index, first) = (identities, before.facts.nextUID)
        while try transaction.statistics(of: tables.identities).pages > greatest {
            let step = Self.identitiesAtATime
            let (_, isOver) = try dropFirst(of: tables.identities, step, isOver: false) { uid, value in
                guard uid < first else { return false }
                return Self.forget(uid, value, index) { _ in true }
            }
            if isOver { return }
        }
    }

    /// About half of what a page holds.
    private static let identitiesAtATime = 32

    private mutating func trimAside(
        _ bounds: TrimBounds, _ step: TrimWork.Step, _ budget: Int
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        if step == .oldAside, let before = bounds.asideBefore?.milliseconds {
            return try confirmAside(budget) { since in since < before }
        }
        if step == .futureAside, let after = bounds.asideAfter?.milliseconds {
            return try confirmAside(budget, from: .last) { since in since > after }
        }
        if step == .surplusAside, let greatest = bounds.greatestAside, let rows = tables.aside?.rows {
            let surplus = try transaction.statistics(of: rows).entries - greatest
            guard surplus > 0 else { return (0, true) }
            let (confirmed, _) = try confirmAside(min(surplus, budget)) { _ in true }
            return (confirmed, isOver: surplus <= budget)
        }
        return (0, true)
    }

    /// - Returns: whether the row is to go. A damaged one is as good as forgotten, and always goes.
    private static func forget(
        _ uid: UInt64, _ value: Span<UInt8>, _ index: IdentityIndex, where isOld: (IdentityRecord) -> Bool
    ) -> Bool {
        guard let record = IdentityRecord(value, uid: uid) else { return true }
        guard isOld(record) else { return false }
        index.drop(record.identity, uid: uid)
        return true
    }

    /// Deletes from the front, until `isWanted` says no or the budget is used up.
    ///
    /// - Parameter isOver: what is said of the step when the budget was used up.
    private func dropFirst(
        of table: Table, _ budget: Int, isOver: Bool, where isWanted: (UInt64, Span<UInt8>) -> Bool
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        guard budget > 0 else { return (0, true) }
        return try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> (Int, isOver: Bool) in
            var deleted = 0
            var found = try cursor.first()
            while found, deleted < budget {
                var isOld = false
                cursor.withCurrent { key, value in isOld = isWanted(key.bigEndian64(at: 0), value) }
                guard isOld else { return (deleted, true) }
                try cursor.delete()
                deleted += 1
                found = try cursor.next()
            }
            return (deleted, !found || isOver)
        }
    }

    /// Looks at every rejection, since entries are not rejected in the order of their UIDs.
    private func dropRejections(
        before: WallTime, from position: inout UInt64, _ budget: Int
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        var start = position
        let result = try transaction.withCursor(tables.rejections) {
            (cursor: inout Cursor) throws(LMDBError) -> (Int, isOver: Bool) in
            var deleted = 0
            var looks = 0
            var found = try cursor.seek(atLeast: Key.uid(start).span)
            while found {
                if deleted == budget || looks == budget * Self.looksPerDeletion {
                    cursor.withKey { key in start = key.bigEndian64(at: 0) }
                    return (deleted, false)
                }
                looks += 1
                var isOld = false
                cursor.withCurrent { _, value in
                    if case .success(let record) = RejectionRecord.read(value) {
                        isOld = record.cause.rejectedAt < before
                    }
                }
                if isOld {
                    try cursor.delete()
                    deleted += 1
                }
                found = try cursor.next()
            }
            return (deleted, true)
        }
        position = start
        return result
    }
}
