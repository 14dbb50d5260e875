internal import Foundation
internal import Holdfast

// The hub's values as the wire has them. Unknown keys are passed over, so that a newer peer may say more; times are
// milliseconds since 1970, tokens hex digits, bytes base64.

struct WireLane: Codable, Hashable {
    var route: String
    var urgency: String
    var guarantee: String

    init(_ key: LaneKey) {
        route = key.route
        urgency = key.urgency.name
        guarantee = key.guarantee.name
    }

    func value() throws(ControlError) -> LaneKey {
        guard let urgency = Urgency.allCases.first(where: { $0.name == urgency }) else {
            throw .malformed("there is no urgency \(urgency.debugDescription)")
        }
        return LaneKey(route: route, urgency: urgency, guarantee: try Self.guarantee(guarantee))
    }

    static func guarantee(_ name: String) throws(ControlError) -> Guarantee {
        guard let guarantee = Guarantee.allCases.first(where: { $0.name == name }) else {
            throw .malformed("there is no guarantee \(name.debugDescription)")
        }
        return guarantee
    }
}

struct WireUID: Codable, Hashable {
    var uid: UInt64

    init(_ uid: UID) { self.uid = uid.rawValue }

    func value() -> UID { UID(uid) }
}

enum WireToken {
    static func token(_ hex: String) throws(ControlError) -> DeviceToken {
        do throws(Refusal) {
            return try DeviceToken(hex)
        } catch {
            throw .malformed(error.detail)
        }
    }
}

struct WireScope: Codable, Hashable {
    var topic: String?
    var endpoint: String?

    init(_ scope: BlacklistScope) { (topic, endpoint) = (scope.topic, scope.endpoint) }

    func value() -> BlacklistScope { BlacklistScope(topic: topic, endpoint: endpoint) }
}

struct WireBlacklistKey: Codable, Hashable {
    var token: String
    /// Absent for all entries of the token.
    var scope: WireScope?

    init(_ key: BlacklistKey) {
        token = key.token.hex
        scope = key.scope.map(WireScope.init)
    }

    func value() throws(ControlError) -> BlacklistKey {
        BlacklistKey(try WireToken.token(token), scope.map { $0.value() })
    }
}

/// Without the notification that was answered: its UID is that of the owner's journal, and for nobody else to say.
struct WireBlacklistEntry: Codable, Hashable {
    var token: String
    var reason: String
    var since: Int64
    var learntAt: Int64
    var route: String
    var topic: String?
    var endpoint: String?
    var status: Int?

    init(_ entry: BlacklistEntry) {
        token = entry.token.hex
        reason = entry.reason.rawValue
        since = entry.since.milliseconds
        learntAt = entry.learntAt.milliseconds
        route = entry.route
        topic = entry.topic
        endpoint = entry.endpoint
        status = entry.status
    }

    func value() throws(ControlError) -> BlacklistEntry {
        BlacklistEntry(
            token: try WireToken.token(token), reason: Reason(rawValue: reason), since: WallTime(milliseconds: since),
            learntAt: WallTime(milliseconds: learntAt), route: route, topic: topic, endpoint: endpoint, status: status)
    }
}

struct WireCause: Codable, Hashable {
    var reason: String
    var status: Int?
    var timestamp: Int64?
    var rejectedAt: Int64

    init(_ cause: RejectionCause) {
        reason = cause.reason.rawValue
        status = cause.status
        timestamp = cause.timestamp?.milliseconds
        rejectedAt = cause.rejectedAt.milliseconds
    }

    func value() -> RejectionCause {
        RejectionCause(
            reason: Reason(rawValue: reason), status: status, timestamp: timestamp.map(WallTime.init(milliseconds:)),
            rejectedAt: WallTime(milliseconds: rejectedAt))
    }
}

struct WireNotification: Codable, Hashable {
    var id: String?
    /// One of the two.
    var token: String?
    var channel: String?
    var topic: String
    var payload: Data
    var pushType: String?
    var priority: UInt8?
    var expiration: Int64?
    /// Until when it is tried where the service is to store nothing.
    var tryUntil: Int64?
    var collapseID: String?
    var registeredAt: Int64?
    var guarantee: String
    var tag: Data?

    init(_ notification: PushNotification) {
        id = notification.id?.description
        token = notification.token?.hex
        channel = notification.recipient.channel?.id
        topic = notification.topic
        payload = Data(notification.payload)
        pushType = notification.pushType?.rawValue
        priority = notification.priority?.rawValue
        expiration = notification.expiration?.unixSeconds
        tryUntil = notification.expiration?.ownDeadline
        collapseID = notification.collapseID
        registeredAt = notification.tokenRegisteredAt?.milliseconds
        guarantee = notification.guarantee.name
        tag = notification.tag.isEmpty ? nil : Data(notification.tag)
    }

    func value() throws(ControlError) -> PushNotification {
        var parsed: NotificationID?
        if let id {
            parsed = NotificationID(id)
            guard parsed != nil else { throw .malformed("an apns-id is a UUID") }
        }
        var urgency: Priority?
        if let priority {
            urgency = Priority(rawValue: priority)
            guard urgency != nil else { throw .malformed("there is no priority \(priority)") }
        }
        return PushNotification(
            recipient: try recipient(), topic: topic, payload: Array(payload),
            pushType: pushType.map(PushType.init(rawValue:)), priority: urgency,
            expiration: Expiration(unixSeconds: expiration, ownDeadline: tryUntil),
            collapseID: collapseID, id: parsed,
            tokenRegisteredAt: registeredAt.map(WallTime.init(milliseconds:)),
            guarantee: try WireLane.guarantee(guarantee), tag: tag.map { Array($0) } ?? [])
    }

    private func recipient() throws(ControlError) -> Recipient {
        switch (token, channel) {
        case (let token?, nil): return .device(try WireToken.token(token))
        case (nil, let channel?):
            do throws(Refusal) {
                return .channel(try BroadcastChannel(channel))
            } catch {
                throw .malformed(error.detail)
            }
        case (nil, nil), (_?, _?): throw .malformed("a notification has a token or a channel")
        }
    }
}

extension ControlError {
    static func malformed(_ what: String) -> ControlError { ControlError(.malformed, what) }
}
