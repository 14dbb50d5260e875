internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// A journal in figures. The names of its properties are those of the JSON.
struct JournalReport: Encodable, Equatable {
    struct Lane: Encodable, Equatable {
        var lane: LaneForm
        /// Entries whose records cannot be read.
        var quarantined: Int
        /// The send mark.
        var mark: UInt64
        /// The number of entries that a crash now would leave possibly sent.
        var possiblySent: Int
        /// When the first of those that are unconfirmed was accepted.
        var oldestAcceptedAt: ExactTime?

        private enum CodingKeys: String, CodingKey { case quarantined, mark, possiblySent, oldestAcceptedAt }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try lane.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(quarantined, forKey: .quarantined)
            try container.encode(mark, forKey: .mark)
            try container.encode(possiblySent, forKey: .possiblySent)
            try container.encodeIfPresent(oldestAcceptedAt, forKey: .oldestAcceptedAt)
        }
    }

    /// The figures of one producer.
    struct Producer: Encodable, Equatable {
        var producer: String
        var unconfirmed: Int
        var totals: Totals
    }

    /// The effect of a crash now on entries that may have been sent.
    struct AfterCrash: Encodable, Equatable {
        /// With at-least-once: sent again with the same apns-id.
        var sentAgain: Int
        /// With at-most-once, or one attempt: not sent again, outcome unknown.
        var unknown: Int
    }

    struct Totals: Encodable, Equatable {
        var accepted: UInt64
        var confirmed: UInt64
        var rejected: UInt64
        var expired: UInt64
        var unknown: UInt64
        var withdrawn: UInt64
        /// Absent for none.
        var superseded: UInt64?
        var possibleDuplicates: UInt64

        init(_ totals: JournalTotals) {
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
    struct Holding: Encodable, Equatable {
        var route: String
        var reason: String
    }

    var journal: String
    /// The process that is using it; nil when it is at rest.
    var owner: String?
    /// Where `send` and `recover` deliver to; nil when the journal is an application's own.
    var endpoint: String?
    var unconfirmed: Int
    var possiblySent: Int
    var deferred: Int
    /// Waiting for the time from which they may be delivered; nil when there are none.
    var scheduled: Int?
    /// Confirmed by silence, and kept in case a late error denies them; nil when there are none.
    var aside: Int?
    /// Entries whose records cannot be read: neither unconfirmed nor ended.
    var quarantined: Int
    var rejections: Int
    var blacklist: Int
    /// Places at which the process that uses the journal has found the blacklist damaged; nil when there are none, or nobody
    /// says.
    var blacklistDamage: Int?
    /// Outcomes of the history that the process that uses the journal has met and can't read; nil when there are none, or
    /// nobody says.
    var unreadableOutcomes: Int?
    var nextUID: UInt64
    var afterCrash: AfterCrash
    var lanes: [Lane]
    /// Routes that hand out nothing for the moment, and why; nil when there are none, or nobody says.
    var routesHolding: [Holding]?
    /// What is wrong, the worst first; without what operators hold up. Nil for nothing.
    var conditions: [ConditionForm]?
    /// `nil` if there are none, or if no process tells.
    var topicsSetAside: [TopicForm]?
    /// `nil` if no tag is paused.
    var pausedTags: [PausedTagForm]?
    var producers: [Producer]
    var totals: Totals
    /// What it has of ended notifications, and who reads it.
    var history: HistoryForm?
    /// Readers of outcomes that belong to the process that uses it, such as webhooks; nil if there are none.
    var ownReaders: [ReaderForm]?
    var usedBytes: Int
    var limitBytes: Int

    /// The parts of a report beside the status.
    struct Details {
        var owner: String?
        var route: RouteSettings?
        var producers: [ProducerStatus] = []
        var possiblySent: [LaneKey: Int] = [:]
        /// When the first unconfirmed entry of a lane was accepted.
        var oldest: [LaneKey: WallTime] = [:]
        /// At rest, which topics a lane's entries wait for, in words.
        var topicsAtRest: [LaneKey: String] = [:]
        /// The status of the process that uses the journal.
        var live: DeskStatus?
        /// What is wrong, by the process that uses the journal, or by the journal itself.
        var conditions: [HealthCondition] = []
        var pausedTags: [DeskStatus.PausedTag] = []
        /// `nil` where it was not read.
        var history: OutcomeLogStatus?
    }

    init(_ status: JournalStatus, directory: String, _ details: Details) {
        journal = directory
        owner = details.owner
        endpoint = details.route?.endpoint
        unconfirmed = status.unconfirmed
        possiblySent = status.possiblySent
        deferred = status.deferred
        scheduled = status.scheduled > 0 ? status.scheduled : nil
        aside = status.aside > 0 ? status.aside : nil
        let wrong = details.conditions.filter { $0.severity > .notice }
        conditions = wrong.isEmpty ? nil : wrong.map { ConditionForm($0) }
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

    func text() -> String {
        var rows = [
            ("unconfirmed", Format.count(unconfirmed), "accepted, and not answered for yet"),
            (
                "possibly sent", Format.count(possiblySent),
                owner == nil ? "of them: no answer is known" : "of them, were the owner to crash now"
            ),
            ("deferred", Format.count(deferred), "of them, waiting for their time"),
        ]
        if let scheduled {
            rows.append(("scheduled", Format.count(scheduled), "of them, to be delivered from a time on"))
        }
        if quarantined > 0 {
            rows.append(
                ("quarantined", Format.count(quarantined), "cannot be read; see `holdfast journal quarantine list`"))
        }
        rows += [
            ("rejections", Format.count(rejections), "refused for good"),
            ("blacklist", Format.count(blacklist), "tokens not to be sent to"),
        ]
        if let blacklistDamage {
            rows.append(
                (
                    "blacklist damage", Format.plural(blacklistDamage, "place"),
                    "tokens on it may be sent to; see `holdfast journal verify`"
                ))
        }
        rows += [
            ("next UID", Format.count(nextUID), ""),
            ("in use", Format.bytes(usedBytes), limitBytes > 0 ? "of \(Format.bytes(limitBytes))" : ""),
        ]
        if let history { rows.append(("history", Format.count(history.count), history.words)) }
        if let unreadableOutcomes {
            rows.append(
                (
                    "history damage", Format.plural(unreadableOutcomes, "outcome"),
                    "cannot be read, and readers are told of a gap; see `holdfast journal verify`"
                ))
        }
        if let aside {
            let meaning = "confirmed by silence, and kept in case a late error denies them"
            rows.insert(("kept aside", Format.count(aside), meaning), at: 3)
        }
        for (name, count) in [
            ("accepted", totals.accepted), ("confirmed", totals.confirmed), ("rejected", totals.rejected),
            ("expired", totals.expired), ("unknown", totals.unknown), ("withdrawn", totals.withdrawn),
            ("superseded", totals.superseded ?? 0),
            ("possible duplicates", totals.possibleDuplicates),
        ] where count > 0 || name == "accepted" || name == "confirmed" {
            rows.append(("ever \(name)", Format.count(count), ""))
        }
        let heading = [
            "\(journal): " + (owner.map { "in use by \($0)" } ?? "at rest"),
            endpoint.map { "delivers to \($0)" } ?? "it remembers no route: an application's own, or a configuration's",
        ]
        return [
            heading.joined(separator: "; "), DeliverySummary.table(rows), afterCrashText, lanesText, holdingText,
            topicsText, pausedTags.map { PausedTagRow.table($0, indent: "  ") },
            producersText, readersText, troublesText, conditionsText,
        ].compactMap { $0 }.joined(separator: "\n")
    }

    /// `nil` if a crash would change nothing.
    private var afterCrashText: String? {
        guard afterCrash.sentAgain + afterCrash.unknown > 0 else { return nil }
        let when = owner == nil ? "when it is delivered" : "were its process to crash now"
        var parts: [String] = []
        if afterCrash.sentAgain > 0 {
            parts.append("\(Format.count(afterCrash.sentAgain)) sent again with the same apns-id")
        }
        if afterCrash.unknown > 0 {
            parts.append("\(Format.count(afterCrash.unknown)) given up as unknown (at most once)")
        }
        return "of what may have been sent, \(when): at most \(parts.joined(separator: ", "))"
    }

    /// Lanes that hold something, or stand still.
    private var lanesText: String? {
        let shown = lanes.filter { $0.lane.unconfirmed > 0 || $0.lane.state != "running" }
        guard !shown.isEmpty else { return nil }
        let rows = shown.map { row in
            let lane = row.lane
            return [
                "  " + lane.lane.printable(maximumLength: 320), lane.state, Format.count(lane.unconfirmed),
                Format.count(lane.deferred), row.oldestAcceptedAt?.text ?? "",
                [
                    [lane.since.map { "since \($0.text)" }, lane.reason?.printable(maximumLength: 512)]
                        .compactMap { $0 }.joined(separator: ": "),
                    lane.nextProbe.map { "tries one entry at \($0.text)" } ?? "",
                    lane.scheduled.map { "\(Format.count($0)) scheduled" } ?? "",
                    lane.heldByTag.map { "\(Format.count($0)) held by paused tags" } ?? "",
                ].filter { !$0.isEmpty }.joined(separator: "; "),
            ]
        }
        return Columns.text([["  LANE", "STATE", "UNCONFIRMED", "DEFERRED", "OLDEST", ""]] + rows, right: [2, 3])
    }

    /// What stands in a table of its own.
    private static let told: Set<String> = Set(
        [
            HealthCondition.Kind.laneStopped, .credentialsRefused, .wrongServer, .topicSetAside, .massBadTokens,
            .throttled,
            .parked, .ownershipUnproven, .outcomesFull, .journalUnreadable, .blacklistDamaged, .entriesQuarantined,
            .historyDamaged, .webhookFailing,
        ].map(\.rawValue))

    private var conditionsText: String? {
        let shown = (conditions ?? []).filter { !Self.told.contains($0.kind) }
        guard !shown.isEmpty else { return nil }
        return shown.prefix(20).map { condition in
            let command = condition.command.map { ": \($0)" } ?? ""
            return "\(condition.severity) \(condition.kind) since \(condition.since.text): "
                + "\(condition.what.printable(maximumLength: 512))\n  next: \(condition.next)\(command)"
        }.joined(separator: "\n")
    }

    private var holdingText: String? {
        guard let routesHolding else { return nil }
        let rows = routesHolding.map { held in
            ["  " + held.route.printable(maximumLength: 256), held.reason.printable(maximumLength: 512)]
        }
        return Columns.text([["  ROUTE HOLDING", "BECAUSE"]] + rows)
    }

    private var topicsText: String? {
        guard let topicsSetAside else { return nil }
        let rows = topicsSetAside.map { topic in
            [
                "  " + topic.topic.printable(maximumLength: 256), (topic.route ?? "").printable(maximumLength: 256),
                topic.since.text, topic.nextProbe?.text ?? "", topic.reason.printable(maximumLength: 512),
            ]
        }
        return Columns.text([["  TOPIC SET ASIDE", "ROUTE", "SINCE", "TRIED AT", "BECAUSE"]] + rows)
    }

    /// More than one: with one alone its figures are the journal's.
    private var producersText: String? {
        guard producers.count > 1 else { return nil }
        let rows = producers.map { producer in
            [
                "  " + producer.producer.printable(maximumLength: 64), Format.count(producer.unconfirmed),
                Format.count(producer.totals.accepted), Format.count(producer.totals.confirmed),
                Format.count(producer.totals.rejected),
            ]
        }
        return Columns.text(
            [["  PRODUCER", "UNCONFIRMED", "ACCEPTED", "CONFIRMED", "REJECTED"]] + rows, right: [1, 2, 3, 4])
    }
}
