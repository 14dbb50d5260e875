/// Settlements to write, in the order that keeps the blacklist ahead of what follows from it.
struct SettlementWork: Sendable {
    /// To be on disk before ``part`` is settled: a crash in between leaves entries that the blacklist then stops.
    var blacklist: [BlacklistEntry]
    var part: SettlementPlan.Part
}

extension Producer {
    /// What a plan asks to be written. The tokens to blacklist are read from the entries themselves.
    ///
    /// - Throws: ``JournalError`` when the entries can't be read.
    func work(for plan: SettlementPlan, lanes: [LaneID], route: String, wall: WallTime) throws(JournalError)
        -> [SettlementWork]
    {
        var works: [SettlementWork] = []
        if !plan.now.batch.isEmpty { works.append(SettlementWork(blacklist: [], part: plan.now)) }
        if !plan.afterBlacklist.batch.isEmpty {
            var entries: [BlacklistEntry] = []
            for bad in plan.blacklist {
                let batch = try journal.unconfirmed(lanes[bad.lane], uids: [bad.uid])
                guard !batch.isEmpty else { continue }
                let notification: PushNotification
                do throws(PackedNotification.Damage) {
                    notification = try batch.notification(at: 0)
                } catch {
                    throw JournalError(.damaged, "entry \(bad.uid) can't be read: \(error)")
                }
                entries.append(
                    BlacklistEntry(
                        token: notification.token, reason: bad.reason, since: bad.since ?? wall, learntAt: wall,
                        route: route))
            }
            works.append(SettlementWork(blacklist: entries, part: plan.afterBlacklist))
        }
        return works
    }

    /// Writes settlements: the blacklist first, then the rest.
    ///
    /// While the blacklist can't be written nothing new is accepted.
    ///
    /// - Parameter completion: on the journal's thread. On failure the same work may be performed again.
    func perform(
        _ work: SettlementWork, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void
    ) {
        guard !work.blacklist.isEmpty else { return journal.settle(work.part.batch, completion: completion) }
        blacklist.storage.add(work.blacklist) { [self] result in
            switch result {
            case .success:
                releaseHold(of: .journalFailed)
                var rest = work
                rest.blacklist = []
                perform(rest, completion: completion)
            case .failure(let error):
                hold(Refusal(.journalFailed, "the blacklist can't be written: \(error)"))
                completion(.failure(error))
            }
        }
    }

    private func releaseHold(of reason: Reason) {
        state.withLock { state in
            if state.hold?.reason == reason { state.hold = nil }
        }
    }
}
