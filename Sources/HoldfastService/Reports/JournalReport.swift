package import Holdfast
package import HoldfastControl

/// A journal in figures. The names of its properties are those of the JSON.
package struct JournalReport: Encodable, Equatable, Sendable {
    package struct Lane: Encodable, Equatable, Sendable {
        package var lane: LaneForm
        /// Entries whose records cannot be read.
        package var quarantined: Int
        /// The send mark.
        package var mark: UInt64
        /// The number of entries that a crash now would leave possibly sent.
        package var possiblySent: Int
        /// When the first of those that are unconfirmed was accepted.
        package var oldestAcceptedAt: ExactTime?

        private enum CodingKeys: String, CodingKey { case quarantined, mark, possiblySent, oldestAcceptedAt }

        /// In one object.
        package func encode(to encoder: any Encoder) throws {
            try lane.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(quarantined, forKey: .quarantined)
            try container.encode(mark, forKey: .mark)
            try container.encode(possiblySent, forKey: .possiblySent)
            try container.encodeIfPresent(oldestAcceptedAt, forKey: .oldestAcceptedAt)
        }
    }

    /// The figures of one producer.
    package struct Producer: Encodable, Equatable, Sendable {
        package var producer: String
        package var unconfirmed: Int
        package var totals: Totals
    }

    /// The effect of a crash now on entries that may have been sent.
    package struct AfterCrash: Encodable, Equatable, Sendable {
        /// With at-least-once: sent again with the same apns-id.
        package var sentAgain: Int
        /// With at-most-once, or one attempt: not sent again, outcome unknown.
        package var unknown: Int
    }

    package struct Totals: Encodable, Equatable, Sendable {
        package var accepted: UInt64
        package var confirmed: UInt64
        package var rejected: UInt64
        package var expired: UInt64
        package var unknown: UInt64
        package var withdrawn: UInt64
        /// Absent for none.
        package var superseded: UInt64?
        package var possibleDuplicates: UInt64

        package init(_ totals: JournalTotals) {
            accepted = totals.accepted
            confirmed = totals.confirmed
            rejected = totals.rejected
            expired = totals.expired
            unknown = totals.unknown
            withdrawn = totals.withdrawn
            superseded = totals.superseded > 0 ? totals.superseded : nil
            possibleDuplicates = totals.possibleDuplicates
        }
    }

    /// A route that hands out nothing for the moment.
    package struct Holding: Encodable, Equatable, Sendable {
        package var route: String
        package var reason: String
    }

    package var journal: String
    /// The process that is using it; nil when it is at rest.
    package var owner: String?
    /// Where `send` and `recover` deliver to; nil when the journal is an application's own.
    package var endpoint: String?
    package var unconfirmed: Int
    package var possiblySent: Int
    package var deferred: Int
    /// Waiting for the time from which they may be delivered; nil when there are none.
    package var scheduled: Int?
    /// Confirmed by silence, and kept in case a late error denies them; nil when there are none.
    package var aside: Int?
    /// Entries whose records cannot be read: neither unconfirmed nor ended.
    package var quarantined: Int
    package var rejections: Int
    package var blacklist: Int
    /// Places at which the process that uses the journal has found the blacklist damaged; nil when there are none, or nobody
    /// says.
    package var blacklistDamage: Int?
    /// Outcomes of the history that the process that uses the journal has met and can't read; nil when there are none, or
    /// nobody says.
    package var unreadableOutcomes: Int?
    package var nextUID: UInt64
    package var afterCrash: AfterCrash
    package var lanes: [Lane]
    /// Routes that hand out nothing for the moment, and why; nil when there are none, or nobody says.
    package var routesHolding: [Holding]?
    /// What is wrong, the worst first, and what operators hold up. Nil for nothing.
    package var conditions: [ConditionForm]?
    /// `nil` if there are none, or if no process tells.
    package var topicsSetAside: [TopicForm]?
    /// `nil` if no tag is paused.
    package var pausedTags: [PausedTagForm]?
    package var producers: [Producer]
    package var totals: Totals
    /// What it has of ended notifications, and who reads it.
    package var history: HistoryForm?
    /// Readers of outcomes that belong to the process that uses it, such as webhooks; nil if there are none.
    package var ownReaders: [ReaderForm]?
    package var usedBytes: Int
    package var limitBytes: Int
    /// The ids of the keys with which it is sealed, the one that seals first; nil for a journal that is not sealed.
    package var sealedWith: [String]?
    /// That one of its two files alone is sealed, and the next step; nil for all others.
    package var halfSealed: String?

    /// The parts of a report beside the status.
    package struct Details {
        package var owner: String?
        package var route: RouteSettings?
        package var producers: [ProducerStatus] = []
        package var possiblySent: [LaneKey: Int] = [:]
        /// When the first unconfirmed entry of a lane was accepted.
        package var oldest: [LaneKey: WallTime] = [:]
        /// At rest, which topics a lane's entries wait for, in words.
        package var topicsAtRest: [LaneKey: String] = [:]
        /// The status of the process that uses the journal.
        package var live: DeskStatus?
        /// What is wrong, by the process that uses the journal, or by the journal itself.
        package var conditions: [HealthCondition] = []
        package var pausedTags: [DeskStatus.PausedTag] = []
        /// `nil` where it was not read.
        package var history: OutcomeLogStatus?
    }

    package init(_ status: JournalStatus, directory: String, _ details: Details) {
        journal = directory
        owner = details.owner
        endpoint = details.route?.endpoint
        unconfirmed = status.unconfirmed
        possiblySent = status.possiblySent
        deferred = status.deferred
        scheduled = status.scheduled > 0 ? status.scheduled : nil
        aside = status.aside > 0 ? status.aside : nil
        conditions = details.conditions.isEmpty ? nil : details.conditions.map { ConditionForm($0) }
        quarantined = status.quarantined
        rejections = status.rejections
        blacklist = status.blacklist
        blacklistDamage = details.live.flatMap { $0.blacklistDamage > 0 ? $0.blacklistDamage : nil }
        unreadableOutcomes = details.live?.history.flatMap { $0.unreadable > 0 ? $0.unreadable : nil }
        nextUID = status.nextUID.rawValue
        lanes = status.lanes.map { lane in
            let probe = details.live?.lanes.first { $0.key == lane.key }?.nextProbeAt
            var form = LaneForm(
                lane.key, lane.state, unconfirmed: lane.unconfirmed, deferred: lane.deferred,
                scheduled: lane.scheduled, heldByTag: lane.heldByTag, nextProbe: probe)
            form.reason = form.reason ?? details.topicsAtRest[lane.key]
            return Lane(
                lane: form, quarantined: lane.quarantined, mark: lane.mark.rawValue,
                possiblySent: details.possiblySent[lane.key] ?? 0,
                oldestAcceptedAt: details.oldest[lane.key].map(ExactTime.init))
        }
        let holding = (details.live?.routes ?? []).compactMap { route in
            route.holding.map { Holding(route: route.name, reason: $0) }
        }
        routesHolding = holding.isEmpty ? nil : holding
        let topics = Self.topics(details.live)
        topicsSetAside = topics.isEmpty ? nil : topics
        pausedTags = details.pausedTags.isEmpty ? nil : details.pausedTags.map { PausedTagForm($0) }
        var (sentAgain, unknown) = (0, 0)
        for (lane, count) in details.possiblySent {
            if lane.guarantee == .atMostOnce { unknown += count } else { sentAgain += count }
        }
        afterCrash = AfterCrash(sentAgain: sentAgain, unknown: unknown)
        producers = details.producers.map { producer in
            Producer(producer: producer.name, unconfirmed: producer.unconfirmed, totals: Totals(producer.totals))
        }
        totals = Totals(status.totals)
        history = details.history.map(HistoryForm.init)
        ownReaders = details.live.flatMap { $0.ownReaders.isEmpty ? nil : $0.ownReaders.map(ReaderForm.init) }
        usedBytes = status.usedBytes
        limitBytes = status.limitBytes
    }

    private static func topics(_ live: DeskStatus?) -> [TopicForm] {
        (live?.routes ?? []).flatMap { route in route.topics.map { TopicForm($0, route: route.name) } }
    }
}

extension JournalReport.Details {
    /// What the process that uses the journal tells, and nothing else.
    package init(owner: String? = nil, live: DeskStatus?) {
        self.init()
        (self.owner, self.live) = (owner, live)
    }
}
