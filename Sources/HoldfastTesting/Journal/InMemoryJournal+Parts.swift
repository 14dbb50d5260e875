internal import Holdfast

/// Requests that are too large for one commit take several, as with the real journal: others have theirs between, and a
/// failure may leave them half done.
extension InMemoryJournal {
    /// The most settlements, promotions and deletions of one commit; nil for no limit.
    public func limitCommits(to parts: Int?) { state.withLock { $0.greatestCommit = parts.map { max($0, 1) } } }

    /// A request of which earlier commits have done a part.
    struct Progress: Sendable {
        /// Of its settlements or promotions.
        var done = 0
        var report = SettlementReport()
        var promoted: [UID] = []
        var trimmed = Trimmed()
    }

    /// Does as much of a settlement as the commit has room for.
    ///
    /// - Returns: its answer; nil when the rest of it waits for the next commit.
    static func settle(
        _ batch: SettlementBatch, _ completion: @escaping Completion<SettlementReport>, _ state: inout State,
        ended: inout Set<ProducerID>, measure: inout CommitMeasure, room: inout Int
    ) -> (@Sendable () -> Void)? {
        let start = state.progress.done
        let end = batch.count - start > room ? start + room : batch.count
        let report = state.disk.settle(batch.part(start..<end), ended: &ended)
        room -= end - start
        measure.settlements += report.settled
        state.progress.done = end
        state.progress.report.settled += report.settled
        state.progress.report.gone += report.gone
        state.progress.report.withdrawn += report.withdrawn
        guard end == batch.count else { return nil }
        let whole = state.progress.report
        return { completion(.success(whole)) }
    }

    /// Does as much of a promotion as the commit has room for.
    static func promote(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int, _ completion: @escaping Completion<[UID]>,
        _ state: inout State, room: inout Int
    ) -> (@Sendable () -> Void)? {
        let wanted = limit - state.progress.done
        let granted = min(wanted, room)
        let uids = state.disk.promote(lane, after: after, now: now, limit: granted)
        room -= uids.count
        state.progress.done += uids.count
        state.progress.promoted += uids
        guard granted == wanted || uids.count < granted else { return nil }
        let whole = state.progress.promoted
        return { completion(.success(whole)) }
    }

    /// Does as much of a trim as the commit has room for.
    static func trim(
        _ bounds: TrimBounds, _ completion: @escaping Completion<Trimmed>, _ state: inout State, room: inout Int
    ) -> (@Sendable () -> Void)? {
        let trimmed = state.disk.trim(bounds, atMost: room)
        state.progress.trimmed.rejections += trimmed.rejections
        state.progress.trimmed.identities += trimmed.identities
        state.progress.trimmed.aside += trimmed.aside
        state.progress.trimmed.outcomes += trimmed.outcomes
        let deleted = trimmed.rejections + trimmed.identities
        let isOver = deleted < room
        room -= deleted
        guard isOver else { return nil }
        let whole = state.progress.trimmed
        return { completion(.success(whole)) }
    }
}

extension InMemoryJournal.Request {
    /// Says that the request cannot be done, or not to its end.
    func fail(_ error: JournalError, after progress: InMemoryJournal.Progress) {
        // What earlier commits have brought back is back: whoever asked must hear of it.
        if case .promote(_, _, _, _, let completion) = self, !progress.promoted.isEmpty {
            return completion(.success(progress.promoted))
        }
        fail(error)
    }
}

extension SettlementBatch {
    /// Some of it; possible duplicates are counted with the last part, since one that fails halfway is
    /// asked for again as a whole.
    fileprivate func part(_ range: Range<Int>) -> SettlementBatch {
        let split = acknowledged.count
        let rest = split + quieted.count
        let direct = range.clamped(to: 0..<split)
        let aside = range.clamped(to: split..<rest)
        let others = range.clamped(to: rest..<max(rest, count))
        var part = SettlementBatch(
            acknowledged: Array(acknowledged[direct]),
            others: Array(self.others[(others.lowerBound - rest)..<(others.upperBound - rest)]),
            possibleDuplicates: range.upperBound == count ? possibleDuplicates : 0, settledAt: settledAt,
            earliestTime: earliestTime, keepsOutcomes: keepsOutcomes,
            quieted: Array(quieted[(aside.lowerBound - split)..<(aside.upperBound - split)]),
            greatestAside: greatestAside)
        part.keepsPayloads = keepsPayloads
        part.greatestOutcomeBytes = greatestOutcomeBytes
        part.details = details
        return part
    }
}
