/// Settlements to write, in the order that keeps the blacklist ahead of what follows from it.
struct SettlementWork: Sendable {
    /// To be on disk before ``part`` is settled: a crash in between leaves entries that the blacklist then stops.
    var blacklist: [BlacklistEntry]
    var part: SettlementPlan.Part
}

/// Makes work for the journal of plans, and has it written: the blacklist first, then what follows from it.
///
/// It stands between the Consumer, which gathers answers in a plan, and the journal. Results are passed to the caller that
/// asked for them, and to no other.
struct Settler: Sendable {
    /// Takes nothing while the blacklist can't be written, and has the engine's opinion of the clock.
    let producer: Producer

    init(_ producer: Producer) { self.producer = producer }

    private var journal: any JournalService { producer.journal }

    /// The settlements of a plan to write at once; `nil` if there are none.
    func work(for plan: SettlementPlan, wall: WallTime) -> SettlementWork? {
        plan.now.batch.isEmpty ? nil : work(plan.now, plan.details, behind: [], wall: wall)
    }

    /// The settlements of a plan to write after the blacklist; `nil` if there are none. The tokens to blacklist are read from
    /// the entries themselves.
    ///
    /// - Parameter connector: of the push service that answered.
    /// - Throws: ``JournalError`` when the entries can't be read.
    func workBehindBlacklist(
        for plan: SettlementPlan, lanes: [LaneID], route: String, connector: any Connector, wall: WallTime
    ) throws(JournalError) -> SettlementWork? {
        guard !plan.afterBlacklist.batch.isEmpty else { return nil }
        let entries = try blacklistEntries(
            for: plan.blacklist, lanes: lanes, route: route, connector: connector, wall: wall)
        return work(plan.afterBlacklist, plan.details, behind: entries, wall: wall)
    }

    private func work(
        _ part: SettlementPlan.Part, _ details: [UID: SettlementDetail] = [:], behind blacklist: [BlacklistEntry],
        wall: WallTime
    ) -> SettlementWork {
        var work = SettlementWork(blacklist: blacklist, part: part)
        work.part.batch.settledAt = wall
        // A restart must not believe a clock for having been wrong before.
        work.part.batch.earliestTime = producer.timeToRemember(producer.look(wall))
        let configuration = producer.configuration
        work.part.batch.keepsOutcomes = configuration.logsOutcomes
        work.part.batch.keepsPayloads = configuration.history.keepsPayloads
        work.part.batch.greatestOutcomeBytes = configuration.history.limitBytes
        work.part.batch.details = details
        work.part.batch.greatestAside = configuration.lateErrorLimit
        return work
    }

    private func blacklistEntries(
        for bad: [SettlementPlan.BadToken], lanes: [LaneID], route: String, connector: any Connector, wall: WallTime
    ) throws(JournalError) -> [BlacklistEntry] {
        guard !bad.isEmpty else { return [] }
        var entries: [BlacklistEntry] = []
        let endpoint = connector.serviceIdentity
        let expiresAt = connector.limits.service?.blacklistLifetime.map { wall.advanced(by: $0) }
        let isClockTrusted = producer.look(wall).isTrusted
        for (lane, id) in lanes.enumerated() {
            let tokens = bad.filter { $0.lane == lane }.sorted { $0.uid < $1.uid }
            guard !tokens.isEmpty else { continue }
            let notifications = try notifications(tokens.map(\.uid), lane: id)
            for token in tokens {
                guard let notification = notifications[token.uid], !notification.isBroadcast else { continue }
                // A time that is still to come would outlast every registration until then. (A clock that is doubted may be
                // behind the service's.)
                let since = isClockTrusted ? min(token.since, wall) : token.since
                // Registered again since: the service speaks of an earlier life of the token.
                if let registered = notification.tokenRegisteredAt, registered > since { continue }
                entries.append(
                    BlacklistEntry(
                        recipient: notification.recipient, reason: token.reason, since: since, learntAt: wall,
                        route: route, topic: notification.topic, endpoint: endpoint, status: token.status,
                        answered: token.uid, expiresAt: notification.token == nil ? expiresAt : nil))
            }
        }
        return entries
    }

    /// Entries that are unconfirmed, those left out that can't be read.
    ///
    /// - Parameter uids: ascending.
    func notifications(_ uids: [UID], lane: LaneID) throws(JournalError) -> [UID: PushNotification] {
        let batch = try journal.unconfirmed(lane, uids: uids)
        var notifications: [UID: PushNotification] = [:]
        for (index, item) in batch.items.enumerated() {
            do throws(PackedNotification.Damage) {
                notifications[item.uid] = try batch.notification(at: index)
            } catch {
                // Nobody can say what token it has; whoever reads it to send it moves it aside.
                continue
            }
        }
        return notifications
    }

    /// Makes work of a late error: the entries that it denies come back.
    ///
    /// Entries discarded behind the named one were not processed, but the service's word came late: they count as possibly
    /// sent. One that has a single attempt takes the word, and goes by way of the deferred, which keeps it.
    func recall(_ late: LateError, lanes: [LaneID], wall: WallTime) -> SettlementWork {
        var part = SettlementPlan.Part()
        part.recalls = late
        if let named = late.denied.named {
            let kind = Settlement.Kind.recall(due: nil, possiblySent: named.possiblySentBefore)
            part.batch.others.append(Settlement(EntryKey(lane: lanes[named.lane], uid: named.uid), kind))
        }
        for run in late.denied.later {
            let kind = Settlement.Kind.recall(
                due: run.hasOneAttempt ? wall : nil, possiblySent: run.possiblySentBefore || !run.hasOneAttempt)
            part.batch.others += run.uids.map { Settlement(EntryKey(lane: lanes[run.lane], uid: UID($0)), kind) }
        }
        return work(part, behind: [], wall: wall)
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
        producer.blacklist.storage.add(work.blacklist) { [producer] result in
            switch result {
            case .success:
                producer.shared.withLock { $0.blacklistFailure = nil }
                producer.journal.settle(work.part.batch, completion: completion)
            case .failure(let error):
                let refusal = Refusal(.journalFailed, "the blacklist can't be written: \(error)")
                producer.shared.withLock { $0.blacklistFailure = refusal }
                completion(.failure(error))
            }
        }
    }
}
