internal import Holdfast
internal import HoldfastService

/// A lane as it is listed. The names of its properties are those of the JSON.
struct LaneRow: Encodable, Equatable {
    /// What the process that uses the journal says of the lane's route.
    struct Route: Encodable, Equatable {
        var endpoint: String
        /// `connected`, `connecting`, `idle`, or why there is no connection.
        var connection: String
        var isAway: Bool
        /// Of all lanes of the route: handed to a connection and not settled.
        var inFlight: Int
        /// Of them, called bad and not judged yet.
        var suspects: Int
        /// Why it hands out nothing for the moment.
        var holding: String?
        /// Topics that the service refuses; absent where every topic goes.
        var topics: [Topic]?
    }

    /// A topic that is set aside on a route.
    struct Topic: Encodable, Equatable {
        var topic: String
        /// The service's words.
        var reason: String
        var since: String
        /// When one entry of it is tried.
        var nextProbe: String?

        init(_ topic: EngineStatus.Topic) {
            self.topic = topic.topic
            reason = topic.reason
            since = Timestamp.format(topic.since)
            nextProbe = topic.nextProbeAt.map(Timestamp.format)
        }
    }

    var lane: String
    /// `running`, `paused` or `stopped`.
    var state: String
    var reason: String?
    var since: String?
    /// When a lane that stopped by itself tries one entry.
    var nextProbe: String?
    var unconfirmed: Int
    var deferred: Int
    /// The send mark.
    var mark: UInt64
    /// Whether a route of the living process serves it; absent when no process says so.
    var isServed: Bool?
    var route: Route?

    /// - Parameter topicsAtRest: which topics its entries wait for, where no process says so.
    init(_ lane: JournalStatus.Lane, _ desk: DeskStatus?, topicsAtRest: String? = nil) {
        let live = desk?.lanes.first { $0.key == lane.key }
        self.lane = lane.key.description
        (state, reason, since) = Self.words(live?.state ?? lane.state)
        reason = reason ?? topicsAtRest
        unconfirmed = live?.unconfirmed ?? lane.unconfirmed
        deferred = live?.deferred ?? lane.deferred
        mark = lane.mark.rawValue
        isServed = live?.isServed
        nextProbe = live?.nextProbeAt.map(Timestamp.format)
        guard let served = live, served.isServed, let route = desk?.routes.first(where: { $0.name == lane.key.route })
        else { return }
        self.route = Route(
            endpoint: route.endpoint, connection: route.connection, isAway: route.isAway, inFlight: route.inFlight,
            suspects: route.suspects, holding: route.holding,
            topics: route.topics.isEmpty ? nil : route.topics.map(Topic.init))
    }

    /// What a lane's state is in a listing.
    static func words(_ state: LaneState) -> (state: String, reason: String?, since: String?) {
        switch state {
        case .running: ("running", nil, nil)
        case .paused(let reason, let since): ("paused", reason.isEmpty ? nil : reason, Timestamp.format(since))
        case .stopped(let reason, let since): ("stopped", reason.isEmpty ? nil : reason, Timestamp.format(since))
        }
    }

    static func table(_ rows: [LaneRow]) -> String {
        let cells = rows.map { row in
            [
                row.lane.printable(maximumLength: 320), row.state, Format.count(row.unconfirmed),
                Format.count(row.deferred), row.remarks,
            ]
        }
        return Columns.text([["LANE", "STATE", "UNCONFIRMED", "DEFERRED", ""]] + cells, right: [2, 3])
    }

    private var remarks: String {
        var parts: [String] = []
        if let since { parts.append("since \(since)") }
        if let reason { parts.append("because: \(reason.printable(maximumLength: 512))") }
        if let nextProbe { parts.append("tries one entry at \(nextProbe)") }
        if isServed == false { parts.append("no route of the process that uses the journal serves it") }
        if let route {
            parts.append("\(Format.count(route.inFlight)) in flight on its route")
            if route.suspects > 0 { parts.append("\(Format.count(route.suspects)) of them suspect") }
            parts.append(
                "\(route.endpoint.printable(maximumLength: 256)): \(route.connection.printable(maximumLength: 512))")
            if let holding = route.holding { parts.append("holding: \(holding.printable(maximumLength: 512))") }
            for topic in route.topics ?? [] { parts.append(topic.remark) }
        }
        return parts.joined(separator: "; ")
    }
}

extension LaneRow.Topic {
    fileprivate var remark: String {
        let probe = nextProbe.map { "; one entry of it is tried at \($0)" } ?? ""
        return "topic \(topic.printable(maximumLength: 256)) is set aside since \(since), because: "
            + "\(reason.printable(maximumLength: 512))\(probe)"
    }
}
