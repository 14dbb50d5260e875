internal import Foundation
package import Holdfast

/// The headers of a notification, with Apple's own names where Apple has one.
package struct HeadersForm: Codable, Hashable, Sendable {
    package var id: String?
    package var recipient: RecipientForm
    package var topic: String
    package var pushType: String?
    package var priority: UInt8?
    package var expiration: Int64?
    /// The end of its attempts, where the service is to store nothing.
    package var tryUntil: ExactTime?
    package var collapseID: String?
    package var tokenRegisteredAt: ExactTime?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id = "apns-id"
        case topic = "apns-topic"
        case pushType = "apns-push-type"
        case priority = "apns-priority"
        case expiration = "apns-expiration"
        case tryUntil = "try-until"
        case collapseID = "apns-collapse-id"
        case tokenRegisteredAt = "token-registered-at"
    }

    /// - Parameter isWhole: whether to give the token whole, or shortened for display.
    package init(_ notification: PushNotification, isWhole: Bool = true) {
        id = notification.id?.description
        recipient = RecipientForm(notification.recipient, isWhole: isWhole)
        topic = notification.topic
        pushType = notification.pushType?.rawValue
        priority = notification.priority?.rawValue
        expiration = notification.expiration?.unixSeconds
        tryUntil = notification.expiration?.ownDeadline.map { ExactTime(WallTime(seconds: $0)) }
        collapseID = notification.collapseID
        tokenRegisteredAt = notification.tokenRegisteredAt.map(ExactTime.init)
    }

    package init(from decoder: any Decoder) throws {
        recipient = try RecipientForm(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decodeIfPresent(String.self, forKey: .id)
        topic = try container.decode(String.self, forKey: .topic)
        pushType = try container.decodeIfPresent(String.self, forKey: .pushType)
        priority = try container.decodeIfPresent(UInt8.self, forKey: .priority)
        expiration = try container.decodeIfPresent(Int64.self, forKey: .expiration)
        tryUntil = try container.decodeIfPresent(ExactTime.self, forKey: .tryUntil)
        collapseID = try container.decodeIfPresent(String.self, forKey: .collapseID)
        tokenRegisteredAt = try container.decodeIfPresent(ExactTime.self, forKey: .tokenRegisteredAt)
    }

    /// In one object.
    package func encode(to encoder: any Encoder) throws {
        try recipient.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(id, forKey: .id)
        try container.encode(topic, forKey: .topic)
        try container.encodeIfPresent(pushType, forKey: .pushType)
        try container.encodeIfPresent(priority, forKey: .priority)
        try container.encodeIfPresent(expiration, forKey: .expiration)
        try container.encodeIfPresent(tryUntil, forKey: .tryUntil)
        try container.encodeIfPresent(collapseID, forKey: .collapseID)
        try container.encodeIfPresent(tokenRegisteredAt, forKey: .tokenRegisteredAt)
    }
}

/// A whole notification.
struct NotificationForm: Codable {
    var headers: HeadersForm
    var guarantee: String
    var payload: Data
    /// Absent for JSON.
    var payloadKind: UInt8?
    var tag: Data?
    /// Absent for none.
    var environment: String?

    enum CodingKeys: String, CodingKey {
        case guarantee, environment
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
        environment = notification.environment?.rawValue
    }

    init(from decoder: any Decoder) throws {
        headers = try HeadersForm(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guarantee = try container.decodeIfPresent(String.self, forKey: .guarantee) ?? Guarantee.atLeastOnce.name
        payload = try container.decode(Data.self, forKey: .payload)
        payloadKind = try container.decodeIfPresent(UInt8.self, forKey: .payloadKind)
        tag = try container.decodeIfPresent(Data.self, forKey: .tag)
        environment = try container.decodeIfPresent(String.self, forKey: .environment)
    }

    func encode(to encoder: any Encoder) throws {
        try headers.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(guarantee, forKey: .guarantee)
        try container.encode(payload, forKey: .payload)
        try container.encodeIfPresent(payloadKind, forKey: .payloadKind)
        try container.encodeIfPresent(tag, forKey: .tag)
        try container.encodeIfPresent(environment, forKey: .environment)
    }

    func value() throws(ControlError) -> PushNotification {
        var parsed: NotificationID?
        if let id = headers.id {
            parsed = NotificationID(id)
            guard parsed != nil else {
                throw .malformed(
                    "apns-id \(id.prefix(200).debugDescription) is no UUID: give one of 36 characters, or none")
            }
        }
        var urgency: Priority?
        if let priority = headers.priority {
            urgency = Priority(rawValue: priority)
            guard urgency != nil else {
                throw .malformed("there is no apns-priority \(priority): give 10, 5 or 1, or none")
            }
        }
        var notification = PushNotification(
            recipient: try headers.recipient.value(), topic: headers.topic, payload: Array(payload),
            payloadKind: payloadKind.map(PayloadKind.init(rawValue:)) ?? .json,
            pushType: headers.pushType.map(PushType.init(rawValue:)), priority: urgency,
            expiration: Expiration(unixSeconds: headers.expiration, ownDeadline: headers.tryUntil?.value.seconds),
            collapseID: headers.collapseID, id: parsed,
            tokenRegisteredAt: headers.tokenRegisteredAt?.value,
            guarantee: try Guarantee.read(guarantee), tag: tag.map { Array($0) } ?? [])
        if let environment {
            notification.environment = PushEnvironment(rawValue: environment)
            guard notification.environment != nil else {
                throw .malformed(
                    "there is no environment \(environment.prefix(200).debugDescription): give production or sandbox, or none"
                )
            }
        }
        return notification
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
