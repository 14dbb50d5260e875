package import Holdfast
package import HoldfastJournal

extension EntryFacts {
    /// Collects the facts that the journal itself has about an entry.
    package static func read(_ uid: UID, _ reader: JournalReader) throws(JournalError) -> EntryFacts {
        let status = try reader.status()
        var facts = EntryFacts(
            uid: uid, standing: .forgotten, owner: reader.owner, now: EngineClock.system.wall())
        if let entry = try reader.entry(uid) {
            facts.standing = .entry(entry)
            if let lane = status.lanes.first(where: { $0.key == entry.lane }) {
                facts.laneState = lane.state
                facts.mark = lane.mark
            }
            facts.blacklisted = try reader.blacklisted(
                entry.notification.recipient, topic: entry.notification.topic)
            facts.newer = try reader.newer(than: entry, at: facts.now)
            facts.pause = try reader.pause(of: entry.notification.tag)
            if case .rejected = entry.state { facts.outcome = try reader.outcome(of: uid) }
        } else if uid == .none || uid >= status.nextUID {
            facts.standing = .never
        } else if let outcome = try reader.outcome(of: uid) {
            facts.standing = .ended(outcome)
            facts.blacklisted = try reader.blacklisted(outcome.recipient, topic: outcome.topic)
        } else {
            switch try reader.fate(of: uid) {
            case .settled(let outcome)?: facts.standing = .settled(outcome)
            case .quarantined?: facts.standing = .unreadable(isQuarantined: true)
            case .unconfirmed?, .deferred?, .scheduled?: facts.standing = .unreadable(isQuarantined: false)
            case .aside?, nil: break
            }
        }
        return facts
    }
}

extension JournalReader {
    /// How an entry ended; nil if the history does not have it.
    package func outcome(of uid: UID) throws(JournalError) -> Outcome? {
        var query = OutcomeQuery()
        query.uid = uid
        return try findOutcomes(query, limit: 1).outcomes.first
    }

    /// The latest entry of the blacklist for a recipient and a topic, whenever the recipient was registered. Entries that have ended
    /// do not count.
    package func blacklisted(_ recipient: Recipient, topic: String) throws(JournalError) -> BlacklistEntry? {
        try blacklistEntries(for: recipient).latest(for: recipient, topic: topic, at: EngineClock.system.wall())
    }
}

extension [BlacklistEntry] {
    /// What holds for a recipient and a topic, at whatever service; of several, the latest.
    package func latest(for recipient: Recipient, topic: String, at now: WallTime) -> BlacklistEntry? {
        if case .channel = recipient { return nil }
        // Which service it goes to only a running engine knows: of every service counts.
        return TokenBlacklist.forbidding(self, topic: topic, endpoint: nil, registeredAt: nil, now: now)
    }
}
