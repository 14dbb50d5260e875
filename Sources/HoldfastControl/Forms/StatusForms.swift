package import Holdfast

/// The lanes of a journal and the routes of the process that uses it.
package struct StatusForm: Codable, Sendable {
    var lanes: [LaneForm]
    var routes: [RouteForm]
    /// Absent where none is.
    var pausedTags: [PausedTagForm]?
    /// What is wrong, the worst first; absent where the owner is of an older version.
    var conditions: [ConditionForm]?
    /// Places at which the blacklist is damaged; absent where it is not.
    var blacklistDamage: Int?
    /// Readers of outcomes that belong to the process; absent where there are none.
    var ownReaders: [ReaderForm]?
    /// Absent where there are none.
    var takenOver: [TakenOverForm]?
    /// Absent where no engine runs, or the owner is of an older version.
    var figures: FiguresForm?
    /// Absent where the owner is of an older version.
    var history: HistoryForm?

    package init(_ status: DeskStatus) {
        lanes = status.lanes.map(LaneForm.init)
        routes = status.routes.map { RouteForm($0, isNamed: true) }
        pausedTags = status.pausedTags.isEmpty ? nil : status.pausedTags.map(PausedTagForm.init)
        conditions = status.conditions.map { $0.map(ConditionForm.init) }
        blacklistDamage = status.blacklistDamage > 0 ? status.blacklistDamage : nil
        ownReaders = status.ownReaders.isEmpty ? nil : status.ownReaders.map(ReaderForm.init)
        takenOver = status.takenOver.isEmpty ? nil : status.takenOver.map(TakenOverForm.init)
        figures = status.figures.map(FiguresForm.init)
        history = status.history.map(HistoryForm.init)
    }

    func value() throws(ControlError) -> DeskStatus {
        var status = DeskStatus(lanes: [], routes: routes.map { $0.value() })
        for lane in lanes { status.lanes.append(try lane.value()) }
        status.pausedTags = (pausedTags ?? []).map { $0.value() }
        status.conditions = conditions.map { $0.map(\.value) }
        status.blacklistDamage = blacklistDamage ?? 0
        status.ownReaders = (ownReaders ?? []).map { $0.value() }
        status.takenOver = (takenOver ?? []).map(\.value)
        status.figures = figures?.value
        status.history = history?.value()
        return status
    }
}

/// A journal of a lost host that the process delivers beside its own.
package struct TakenOverForm: Codable, Hashable, Sendable {
    package var journal: String
    package var unconfirmed: Int

    package init(_ taken: EngineStatus.TakenOver) { (journal, unconfirmed) = (taken.name, taken.unconfirmed) }

    var value: EngineStatus.TakenOver { EngineStatus.TakenOver(name: journal, unconfirmed: unconfirmed) }
}

/// A reader of outcomes that belongs to the process, such as a webhook.
package struct ReaderForm: Codable, Hashable, Sendable {
    package var reader: String
    /// Outcomes behind its cursor.
    package var unread: Int
    /// What keeps it from going on. Absent while nothing does.
    package var trouble: String?
    /// Something to know that holds up nothing. Absent while there is nothing.
    package var notice: String?

    package init(_ reader: DeskStatus.Reader) {
        (self.reader, unread, trouble, notice) = (reader.name, reader.unread, reader.trouble, reader.notice)
    }

    func value() -> DeskStatus.Reader {
        DeskStatus.Reader(name: reader, unread: unread, trouble: trouble, notice: notice)
    }
}

/// A route of the process that uses a journal.
package struct RouteForm: Codable, Hashable, Sendable {
    /// Absent where its lane names it.
    package var route: String?
    package var endpoint: String
    /// `connected`, `connecting`, `idle`, or why there is no connection.
    package var connection: String
    package var isAway: Bool
    /// Of all lanes of the route: handed to a connection and not settled.
    package var inFlight: Int
    /// Of them, called bad and not judged yet.
    package var suspects: Int
    /// Why it hands out nothing for the moment.
    package var holding: String?
    /// Topics that the service refuses; absent where every topic goes.
    package var topics: [TopicForm]?
    /// Those that take entries. Absent where the owner does not say.
    package var connections: Int?
    package var connectionLimit: Int?

    package init(_ route: DeskStatus.Route, isNamed: Bool) {
        self.route = isNamed ? route.name : nil
        endpoint = route.endpoint
        connection = route.connection
        isAway = route.isAway
        inFlight = route.inFlight
        suspects = route.suspects
        holding = route.holding
        topics = route.topics.isEmpty ? nil : route.topics.map { TopicForm($0) }
        (connections, connectionLimit) = (route.connections, route.connectionLimit)
    }

    func value() -> DeskStatus.Route {
        var value = DeskStatus.Route(
            name: route ?? "", endpoint: endpoint, connection: connection, isAway: isAway, inFlight: inFlight,
            suspects: suspects, holding: holding, topics: (topics ?? []).map { $0.value() })
        (value.connections, value.connectionLimit) = (connections, connectionLimit)
        return value
    }
}

/// A topic that is set aside on a route.
package struct TopicForm: Codable, Hashable, Sendable {
    /// Absent where it stands in its route.
    package var route: String?
    package var topic: String
    /// The service's words.
    package var reason: String
    package var since: ExactTime
    /// When one entry of it is tried.
    package var nextProbe: ExactTime?
    /// Entries that wait for it; absent where they are not counted.
    package var waiting: Int?

    package init(_ topic: EngineStatus.Topic, route: String? = nil) {
        self.route = route
        self.topic = topic.topic
        reason = topic.reason
        since = ExactTime(topic.since)
        nextProbe = topic.nextProbeAt.map(ExactTime.init)
        waiting = topic.waiting
    }

    func value() -> EngineStatus.Topic {
        var value = EngineStatus.Topic(topic: topic, reason: reason, since: since.value, nextProbeAt: nextProbe?.value)
        value.waiting = waiting
        return value
    }
}

struct InsightsForm: Codable {
    var insights: [InsightForm]
}

struct InsightForm: Codable {
    var uid: UInt64
    var standing: String
    var since: ExactTime?
    var reason: String?
    var possiblySent: Bool?

    init(_ insight: EntryInsight) {
        uid = insight.uid.rawValue
        switch insight.standing {
        case .inFlight(let since): (standing, self.since) = ("inFlight", since.map(ExactTime.init))
        case .settling: standing = "settling"
        case .suspect(let reason): (standing, self.reason) = ("suspect", reason?.rawValue)
        case .requeued(let possiblySent): (standing, self.possiblySent) = ("requeued", possiblySent)
        case .possiblySentBefore: standing = "possiblySentBefore"
        }
    }

    /// `nil` for a standing that this version does not know; the entry is then left out.
    func value() -> EntryInsight? {
        let value: EntryInsight.Standing
        switch standing {
        case "inFlight": value = .inFlight(since: since?.value)
        case "settling": value = .settling
        case "suspect": value = .suspect(reason.map(Reason.init(rawValue:)))
        case "requeued": value = .requeued(possiblySent: possiblySent ?? true)
        case "possiblySentBefore": value = .possiblySentBefore
        default: return nil
        }
        return EntryInsight(uid: UID(uid), standing: value)
    }
}
