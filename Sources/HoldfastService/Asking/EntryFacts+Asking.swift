package import Holdfast
package import HoldfastControl
internal import HoldfastJournal

extension EntryFacts {
    /// Collects the facts about an entry from the owner of its journal, on whichever host that is.
    package static func find(_ uid: UID, of desk: RemoteDesk) async throws -> EntryFacts {
        let reader = RemoteReader(desk)
        var facts = EntryFacts(
            uid: uid, standing: .forgotten, owner: desk.owner, now: EngineClock.system.wall())
        var filter = EntryFilter()
        filter.uids = UIDRanges([uid])
        filter.states = Set(JournalEntry.StateKind.allCases)
        var query = OutcomeQuery()
        query.uid = uid
        let part = try await reader.entries(filter, after: .none, limit: 1)
        let outcome = try await desk.findOutcomes(query, before: nil, limit: 1).outcomes.first
        let recipient: (Recipient, String)
        if let entry = part.entries.first {
            facts.standing = .entry(entry)
            let status = try await desk.status()
            facts.laneState = status.lanes.first { $0.key == entry.lane }?.state ?? .running
            facts.live = try await LiveFacts(of: uid, in: entry.lane, from: desk)
            if let pause = status.pausedTags.first(where: { $0.tag == entry.notification.tag }) {
                facts.pause = TagPause(tag: pause.tag, since: pause.since, reason: pause.reason, number: 0)
            }
            if case .rejected = entry.state { facts.outcome = outcome }
            recipient = (entry.notification.recipient, entry.notification.topic)
        } else if let outcome {
            facts.standing = .ended(outcome)
            recipient = (outcome.recipient, outcome.topic)
        } else {
            let next = try await reader.tally(filter).nextUID
            if !part.unreadable.isEmpty { facts.standing = .unreadable(isQuarantined: false) }
            if uid == .none || uid >= next { facts.standing = .never }
            return facts
        }
        facts.blacklisted = try await reader.blacklistEntries(for: [recipient.0])[0]
            .latest(for: recipient.0, topic: recipient.1, at: facts.now)
        return facts
    }
}
