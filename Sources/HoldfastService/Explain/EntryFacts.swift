package import Holdfast
package import HoldfastJournal

/// All facts about one entry, from the journal and from the process that uses it.
package struct EntryFacts: Sendable {
    package enum Standing: Sendable {
        /// It lies in the journal.
        case entry(JournalEntry)
        /// It lies in the journal, and its record cannot be read; in the quarantine, or where it was put.
        case unreadable(isQuarantined: Bool)
        /// It has met its end, and the journal still knows which.
        case settled(TerminalOutcome)
        /// It has met its end, and the history has all of it.
        case ended(Outcome)
        /// It has met its end, and the journal keeps nothing of it.
        case forgotten
        /// The UID was never given out.
        case never
    }

    package var uid: UID
    package var standing: Standing
    /// Of its lane; running when the lane is not known.
    package var laneState = LaneState.running
    /// The send mark of its lane.
    package var mark = UID.none
    /// The blacklist entry of its token for its topic, whether it holds or not; of several, the latest.
    package var blacklisted: BlacklistEntry?
    /// The newer notification that is to take its place; nil for none.
    package var newer: UID?
    /// The pause of its tag; `nil` if it is not paused.
    package var pause: TagPause?
    /// How a rejected entry of the journal ended, where the history has it.
    package var outcome: Outcome?
    /// The process that uses the journal; `nil` at rest.
    package var owner: String?
    /// The facts of that process; `nil` at rest, and if it could not be asked.
    package var live: LiveFacts?
    package var now: WallTime

    /// What a journal tells of an entry without its lane, its token and the process that uses it.
    package init(
        uid: UID, standing: Standing, mark: UID = .none, owner: String? = nil, live: LiveFacts? = nil, now: WallTime
    ) {
        (self.uid, self.standing, self.mark, self.owner, self.now) = (uid, standing, mark, owner, now)
        self.live = live
    }
}

/// The facts about an entry, its lane and its route that only the process that uses the journal knows.
package struct LiveFacts: Equatable, Sendable {
    /// `nil` if the process has not read the entry yet.
    package var standing: EntryInsight.Standing?
    /// Whether it delivers the entry's lane at all.
    package var isServed: Bool
    /// `nil` if the lane is not served.
    package var route: DeskStatus.Route?
    /// Why the push service of the route counts as away, or silent; `nil` if it does not.
    package var serviceAway: String?

    package init(standing: EntryInsight.Standing? = nil, isServed: Bool = true, route: DeskStatus.Route? = nil) {
        self.standing = standing
        self.isServed = isServed
        self.route = route
    }

    /// - Throws: what keeps the desk from answering.
    package init(of uid: UID, in lane: LaneKey, from desk: any OperatorDesk) async throws {
        let status = try await desk.status()
        standing = try await desk.insights([uid]).first { $0.uid == uid }?.standing
        isServed = status.lanes.first { $0.key == lane }?.isServed ?? false
        route = status.routes.first { $0.name == lane.route }
        serviceAway = status.conditions?.first { $0.kind == .serviceAway && $0.route == lane.route }?.what
    }
}
