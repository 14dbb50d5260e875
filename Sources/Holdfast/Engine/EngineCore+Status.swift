/// How the engine is doing.
extension EngineCore {
    /// As of now.
    package func status() -> EngineStatus {
        let laneIDs = registry.withLock(\.laneIDs)
        var status = board.status(
            backlog: { key in laneIDs[key].map(journal.depth) ?? 0 }, now: producers.clock.wall())
        (status.submitted, status.refused) = producers.shared.withLock { ($0.submitted, $0.refused) }
        let oldest = observer.oldest
        for index in status.lanes.indices where status.lanes[index].backlog > 0 {
            status.lanes[index].oldestAcceptedAt = oldest[status.lanes[index].key]
        }
        status.outcomes = journal.unreadOutcomeCount
        status.quarantined = journal.quarantinedCount
        status.blacklistDamage = journal.blacklist.damageCount
        status.unreadableOutcomes = journal.outcomeLog.unreadable
        status.aside = journal.asideCount
        status.scheduled = journal.scheduledCount
        status.heldByTag = journal.heldByTagCount
        status.eventsDropped = events.dropped
        status.conditions = (status.conditions + observer.conditions.all).sorted(by: HealthCondition.isBefore)
        return status
    }

    /// Waits until every route has nothing to do. Damage to the blacklist is reported even if all else is well.
    func untilRest() async -> EngineRest {
        let rest = await board.untilRest { for consumer in consumers { consumer.post { $0.nudged = true } } }
        let damage = journal.blacklist.damageCount
        switch rest {
        case .drained where damage > 0, .stopped where damage > 0: return .damaged(Self.damagedWords(damage))
        case .drained, .stopped, .damaged, .ended: return rest
        }
    }

    static func damagedWords(_ count: Int) -> String {
        "the blacklist of the journal is damaged in \(count == 1 ? "1 place" : "\(count) places"): notifications to tokens on "
            + "it may be sent. `holdfast journal verify` says what is damaged; with `--salvage NEW` it copies what is "
            + "sound into a new journal"
    }
}
