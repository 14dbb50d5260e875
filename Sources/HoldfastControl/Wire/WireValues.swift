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
    static func recipient(_ notation: String) throws(ControlError) -> Recipient {
        do throws(Refusal) {
            return try Recipient(notation: notation)
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
        token = key.recipient.notation
        scope = key.scope.map(WireScope.init)
    }

    func value() throws(ControlError) -> BlacklistKey {
        BlacklistKey(try WireToken.recipient(token), scope.map { $0.value() })
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
    var expiresAt: Int64?

    init(_ entry: BlacklistEntry) {
        token = entry.recipient.notation
        reason = entry.reason.rawValue
        since = entry.since.milliseconds
        learntAt = entry.learntAt.milliseconds
        route = entry.route
        topic = entry.topic
        endpoint = entry.endpoint
        status = entry.status
        expiresAt = entry.expiresAt?.milliseconds
    }

    func value() throws(ControlError) -> BlacklistEntry {
        BlacklistEntry(
            recipient: try WireToken.recipient(token), reason: Reason(rawValue: reason),
            since: WallTime(milliseconds: since), learntAt: WallTime(milliseconds: learntAt), route: route,
            topic: topic,
            endpoint: endpoint, status: status, expiresAt: expiresAt.map(WallTime.init(milliseconds:)))
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
    /// One of the three.
    var token: String?
    var channel: String?
    /// Another service's, in its ``ServiceAddress/notation``.
    var address: String?
    /// Absent for JSON.
    var payloadKind: UInt8?
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
        address = notification.recipient.serviceAddress?.notation
        payloadKind = notification.payloadKind == .json ? nil : notification.payloadKind.rawValue
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
            payloadKind: payloadKind.map(PayloadKind.init(rawValue:)) ?? .json,
            pushType: pushType.map(PushType.init(rawValue:)), priority: urgency,
            expiration: Expiration(unixSeconds: expiration, ownDeadline: tryUntil),
            collapseID: collapseID, id: parsed,
            tokenRegisteredAt: registeredAt.map(WallTime.init(milliseconds:)),
            guarantee: try WireLane.guarantee(guarantee), tag: tag.map { Array($0) } ?? [])
    }

    private func recipient() throws(ControlError) -> Recipient {
        do throws(Refusal) {
            switch (token, channel, address) {
            case (let token?, nil, nil): return .device(try DeviceToken(token))
            case (nil, let channel?, nil): return .channel(try BroadcastChannel(channel))
            case (nil, nil, let address?): return .service(try ServiceAddress(notation: address))
            default: break
            }
        } catch {
            throw .malformed(error.detail)
        }
        throw .malformed("a notification has a token, a channel or an address")
    }
}

extension ControlError {
    static func malformed(_ what: String) -> ControlError { ControlError(.malformed, what) }
}
