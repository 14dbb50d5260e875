internal import Holdfast

struct WireLaneState: Codable, Hashable {
    var state: String
    var reason: String?
    var since: Int64?

    init(_ state: LaneState) {
        switch state {
        case .running: self.state = "running"
        case .paused(let reason, let since):
            (self.state, self.reason, self.since) = ("paused", reason, since.milliseconds)
        case .stopped(let reason, let since):
            (self.state, self.reason, self.since) = ("stopped", reason, since.milliseconds)
        }
    }

    func value() throws(ControlError) -> LaneState {
        let since = WallTime(milliseconds: since ?? 0)
        switch state {
        case "running": return .running
        case "paused": return .paused(reason: reason ?? "", since: since)
        case "stopped": return .stopped(reason: reason ?? "", since: since)
        default: throw .malformed("there is no state of a lane \(state.debugDescription)")
        }
    }
}

/// One lane, or one route, or the damage, of the answer to `status`.
struct WireStatusItem: Codable, Hashable {
    struct Lane: Codable, Hashable {
        var key: WireLane
        var state: WireLaneState
        var unconfirmed: Int
        var deferred: Int
        var isServed: Bool
        var nextProbeAt: Int64?
    }

    struct Route: Codable, Hashable {
        var name: String
        var endpoint: String
        var connection: String
        var isAway: Bool
        var inFlight: Int
        var suspects: Int
        var holding: String?
        /// Absent where every topic goes.
        var topics: [WireTopic]?
    }

    var lane: Lane?
    var route: Route?
    /// In an item of its own, where there is damage.
    var blacklistDamage: Int?

    static func items(_ status: DeskStatus) -> [WireStatusItem] {
        status.lanes.map { lane in
            WireStatusItem(
                lane: Lane(
                    key: WireLane(lane.key), state: WireLaneState(lane.state), unconfirmed: lane.unconfirmed,
                    deferred: lane.deferred, isServed: lane.isServed, nextProbeAt: lane.nextProbeAt?.milliseconds))
        }
            + status.routes.map { route in
                WireStatusItem(
                    route: Route(
                        name: route.name, endpoint: route.endpoint, connection: route.connection, isAway: route.isAway,
                        inFlight: route.inFlight, suspects: route.suspects, holding: route.holding,
                        topics: route.topics.isEmpty ? nil : route.topics.map(WireTopic.init)))
            }
            + (status.blacklistDamage > 0 ? [WireStatusItem(blacklistDamage: status.blacklistDamage)] : [])
    }

    static func status(_ items: [WireStatusItem]) throws(ControlError) -> DeskStatus {
        var status = DeskStatus(lanes: [], routes: [])
        for item in items {
            if let lane = item.lane {
                status.lanes.append(
                    DeskStatus.Lane(
                        key: try lane.key.value(), state: try lane.state.value(), unconfirmed: lane.unconfirmed,
                        deferred: lane.deferred, isServed: lane.isServed,
                        nextProbeAt: lane.nextProbeAt.map(WallTime.init(milliseconds:))))
            }
            if let route = item.route {
                status.routes.append(
                    DeskStatus.Route(
                        name: route.name, endpoint: route.endpoint, connection: route.connection, isAway: route.isAway,
                        inFlight: route.inFlight, suspects: route.suspects, holding: route.holding,
                        topics: (route.topics ?? []).map { $0.value() }))
            }
            if let damage = item.blacklistDamage { status.blacklistDamage = damage }
        }
        return status
    }
}

/// A topic that is set aside on a route.
struct WireTopic: Codable, Hashable {
    var topic: String
    var reason: String
    var since: Int64
    var nextProbeAt: Int64?

    init(_ topic: EngineStatus.Topic) {
        self.topic = topic.topic
        reason = topic.reason
        since = topic.since.milliseconds
        nextProbeAt = topic.nextProbeAt?.milliseconds
    }

    func value() -> EngineStatus.Topic {
        EngineStatus.Topic(
            topic: topic, reason: reason, since: WallTime(milliseconds: since),
            nextProbeAt: nextProbeAt.map(WallTime.init(milliseconds:)))
    }
}

struct WireInsight: Codable, Hashable {
    var uid: UInt64
    var standing: String
    var since: Int64?
    var reason: String?
    var possiblySent: Bool?

    init(_ insight: EntryInsight) {
        uid = insight.uid.rawValue
        switch insight.standing {
        case .inFlight(let since): (standing, self.since) = ("inFlight", since?.milliseconds)
        case .settling: standing = "settling"
        case .suspect(let reason): (standing, self.reason) = ("suspect", reason?.rawValue)
        case .requeued(let possiblySent): (standing, self.possiblySent) = ("requeued", possiblySent)
        case .possiblySentBefore: standing = "possiblySentBefore"
        }
    }

    /// Nil for a standing that this side does not know: nothing is said of the entry then.
    func value() -> EntryInsight? {
        let value: EntryInsight.Standing
        switch standing {
        case "inFlight": value = .inFlight(since: since.map(WallTime.init(milliseconds:)))
        case "settling": value = .settling
        case "suspect": value = .suspect(reason.map(Reason.init(rawValue:)))
        case "requeued": value = .requeued(possiblySent: possiblySent ?? true)
        case "possiblySentBefore": value = .possiblySentBefore
        default: return nil
        }
        return EntryInsight(uid: UID(uid), standing: value)
    }
}
