internal import Foundation
package import Holdfast

/// What a notification has beside its content, with Apple's own names where Apple has one.
package struct HeadersForm: Codable, Hashable, Sendable {
    package var id: String?
    /// One of the three.
    package var token: String?
    package var channel: String?
    /// Another service's, in its ``ServiceAddress/notation``.
    package var address: String?
    package var topic: String
    package var pushType: String?
    package var priority: UInt8?
    package var expiration: Int64?
    /// Until when it is tried where the service is to store nothing.
    package var tryUntil: ExactTime?
    package var collapseID: String?
    package var tokenRegisteredAt: ExactTime?

    enum CodingKeys: String, CodingKey {
        case token, channel, address
        case id = "apns-id"
        case topic = "apns-topic"
        case pushType = "apns-push-type"
        case priority = "apns-priority"
        case expiration = "apns-expiration"
        case tryUntil = "try-until"
        case collapseID = "apns-collapse-id"
        case tokenRegisteredAt = "token-registered-at"
    }

    /// - Parameter isWhole: whether the token is; it is shortened for those who only look.
    package init(_ notification: PushNotification, isWhole: Bool = true) {
        id = notification.id?.description
        token = notification.token.map { isWhole ? $0.hex : $0.shortened }
        channel = notification.recipient.channel?.id
        address = notification.recipient.serviceAddress.map { isWhole ? $0.notation : "\($0)" }
        topic = notification.topic
        pushType = notification.pushType?.rawValue
        priority = notification.priority?.rawValue
        expiration = notification.expiration?.unixSeconds
        tryUntil = notification.expiration?.ownDeadline.map { ExactTime(WallTime(seconds: $0)) }
        collapseID = notification.collapseID
        tokenRegisteredAt = notification.tokenRegisteredAt.map(ExactTime.init)
    }
}

/// A notification whole.
struct NotificationForm: Codable {
    var headers: HeadersForm
    var guarantee: String
    var payload: Data
    /// Absent for JSON.
    var payloadKind: UInt8?
    var tag: Data?

    enum CodingKeys: String, CodingKey {
        case guarantee
        // Bytes that come out as they went in, whatever they are.
        case payload = "payload-base64"
        case payloadKind = "payload-kind"
        case tag = "tag-base64"
    }

    init(_ notification: PushNotification) {
        headers = HeadersForm(notification)
        guarantee = notification.guarantee.name
        payload = Data(notification.payload)
        payloadKind = notification.payloadKind == .json ? nil : notification.payloadKind.rawValue
        tag = notification.tag.isEmpty ? nil : Data(notification.tag)
    }

    init(from decoder: any Decoder) throws {
        headers = try HeadersForm(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guarantee = try container.decodeIfPresent(String.self, forKey: .guarantee) ?? Guarantee.atLeastOnce.name
        payload = try container.decode(Data.self, forKey: .payload)
        payloadKind = try container.decodeIfPresent(UInt8.self, forKey: .payloadKind)
        tag = try container.decodeIfPresent(Data.self, forKey: .tag)
    }

    func encode(to encoder: any Encoder) throws {
        try headers.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(guarantee, forKey: .guarantee)
        try container.encode(payload, forKey: .payload)
        try container.encodeIfPresent(payloadKind, forKey: .payloadKind)
        try container.encodeIfPresent(tag, forKey: .tag)
    }

    func value() throws(ControlError) -> PushNotification {
        var parsed: NotificationID?
        if let id = headers.id {
            parsed = NotificationID(id)
            guard parsed != nil else { throw .malformed("an apns-id is a UUID") }
        }
        var urgency: Priority?
        if let priority = headers.priority {
            urgency = Priority(rawValue: priority)
            guard urgency != nil else { throw .malformed("there is no priority \(priority)") }
        }
        return PushNotification(
            recipient: try headers.recipient(), topic: headers.topic, payload: Array(payload),
            payloadKind: payloadKind.map(PayloadKind.init(rawValue:)) ?? .json,
            pushType: headers.pushType.map(PushType.init(rawValue:)), priority: urgency,
            expiration: Expiration(unixSeconds: headers.expiration, ownDeadline: headers.tryUntil?.value.seconds),
            collapseID: headers.collapseID, id: parsed,
            tokenRegisteredAt: headers.tokenRegisteredAt?.value,
            guarantee: try Guarantee.read(guarantee), tag: tag.map { Array($0) } ?? [])
    }
}

extension HeadersForm {
    fileprivate func recipient() throws(ControlError) -> Recipient {
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

struct NotificationsForm: Codable {
    var notifications: [NotificationForm]

    init(_ notifications: [PushNotification]) { self.notifications = notifications.map(NotificationForm.init) }

    func value() throws(ControlError) -> [PushNotification] {
        try OperatorDeskLimits.check(notifications.count)
        var values: [PushNotification] = []
        for notification in notifications { values.append(try notification.value()) }
        return values
    }
}
