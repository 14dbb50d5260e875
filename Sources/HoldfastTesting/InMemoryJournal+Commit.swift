internal import Holdfast

extension InMemoryJournal {
    /// Commits everything that waits, as one commit, and then calls the completions in order.
    public func commit() {
        let (completions, report, observer) = state.withLock { state in
            let requests = state.waiting
            state.waiting = []
            var completions: [@Sendable () -> Void] = []
            let before = state.disk.lanes.map { ($0.lastUID, $0.mark) }
            for request in requests { completions.append(Self.perform(request, on: &state)) }
            if state.failure == nil { Self.raiseMarks(&state) }
            let changed = state.disk.lanes.indices.filter { index in
                before[index] != (state.disk.lanes[index].lastUID, state.disk.lanes[index].mark)
            }
            let report = CommitReport(
                lanes: changed.map { index in
                    let lane = state.disk.lanes[index]
                    return CommitReport.Lane(
                        id: LaneID(rawValue: UInt32(index)), lastUID: lane.lastUID, mark: lane.mark)
                })
            return (completions, report, state.observer)
        }
        if !report.lanes.isEmpty { observer?(report) }
        for completion in completions { completion() }
    }

    private static func perform(_ request: Request, on state: inout State) -> @Sendable () -> Void {
        let failure = state.isClosed ? JournalError(.closed, "the journal is closed") : state.failure
        switch request {
        case .append(let submission, let completion):
            if let failure { return { completion(.failure(failure)) } }
            let first = append(submission, to: &state.disk)
            return { completion(.success(first)) }
        case .settle(let batch, let completion):
            if let failure { return { completion(.failure(failure)) } }
            let report = settle(batch, in: &state.disk)
            return { completion(.success(report)) }
        case .promote(let lane, let now, let limit, let completion):
            if let failure { return { completion(.failure(failure)) } }
            let uids = promote(Int(lane.rawValue), now: now, limit: limit, in: &state.disk)
            return { completion(.success(uids)) }
        case .lowerMark(let lane, let mark, let completion):
            if let failure { return { completion(.failure(failure)) } }
            let index = Int(lane.rawValue)
            state.disk.lanes[index].mark = min(state.disk.lanes[index].mark, mark)
            return { completion(.success(())) }
        case .mark:
            return {}
        }
    }

    private static func raiseMarks(_ state: inout State) {
        for (lane, ceiling) in state.ceilings {
            let index = Int(lane.rawValue)
            let wanted = min(ceiling, state.disk.lanes[index].lastUID)
            state.disk.lanes[index].mark = max(state.disk.lanes[index].mark, wanted)
        }
    }

    private static func append(_ submission: Submission, to disk: inout Disk) -> UID {
        let first = UID(disk.nextUID)
        for item in submission.items {
            let uid = UID(disk.nextUID)
            disk.nextUID += 1
            let lane = Int(item.lane.rawValue)
            disk.lanes[lane].entries[uid] = Disk.Record(bytes: Array(submission.bytes[item.range]), attempts: 0)
            disk.lanes[lane].lastUID = uid
        }
        disk.totals.accepted += UInt64(submission.items.count)
        if let note = submission.note { disk.notes[note.name] = note.value }
        return first
    }

    private static func settle(_ batch: SettlementBatch, in disk: inout Disk) -> SettlementReport {
        var report = SettlementReport(settled: 0, gone: 0)
        disk.totals.possibleDuplicates += UInt64(batch.possibleDuplicates)
        for key in batch.acknowledged {
            if disk.lanes[Int(key.lane.rawValue)].entries.removeValue(forKey: key.uid) == nil {
                report.gone += 1
            } else {
                report.settled += 1
                disk.totals.confirmed += 1
            }
        }
        for settlement in batch.others {
            let lane = Int(settlement.key.lane.rawValue)
            guard var record = disk.lanes[lane].entries.removeValue(forKey: settlement.key.uid) else {
                report.gone += 1
                continue
            }
            report.settled += 1
            switch settlement.kind {
            case .reject(let cause):
                disk.rejections[settlement.key.uid] = (record, cause)
                disk.totals.rejected += 1
            case .expire:
                disk.totals.expired += 1
            case .unknown:
                disk.totals.unknown += 1
            case .deferUntil(let due, let attempts, _):
                record.attempts = attempts
                disk.lanes[lane].deferred.append(Disk.Deferred(due: due, uid: settlement.key.uid, record: record))
            }
        }
        return report
    }

    private static func promote(_ lane: Int, now: WallTime, limit: Int, in disk: inout Disk) -> [UID] {
        let due = disk.lanes[lane].deferred.filter { $0.due <= now }.sorted { ($0.due, $0.uid) < ($1.due, $1.uid) }
        let taken = due.prefix(limit)
        let uids = Set(taken.map(\.uid))
        disk.lanes[lane].deferred.removeAll { uids.contains($0.uid) }
        for entry in taken { disk.lanes[lane].entries[entry.uid] = entry.record }
        return taken.map(\.uid)
    }
}
