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
    package var deliverAfter: ExactTime?
    /// As ``DeliveryHours`` writes them.
    package var deliverWithin: String?
    /// Absent for false.
    package var newestWins: Bool?

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case id = "apns-id"
        case topic = "apns-topic"
        case pushType = "apns-push-type"
        case priority = "apns-priority"
        case expiration = "apns-expiration"
        case tryUntil = "try-until"
        case collapseID = "apns-collapse-id"
        case tokenRegisteredAt = "token-registered-at"
        case deliverAfter = "deliver-after"
        case deliverWithin = "deliver-within"
        case newestWins = "newest-wins"
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
        deliverAfter = notification.deliverAfter.map(ExactTime.init)
        deliverWithin = notification.deliveryHours?.description
        newestWins = notification.newestWins ? true : nil
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
        deliverAfter = try container.decodeIfPresent(ExactTime.self, forKey: .deliverAfter)
        deliverWithin = try container.decodeIfPresent(String.self, forKey: .deliverWithin)
        newestWins = try container.decodeIfPresent(Bool.self, forKey: .newestWins)
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
        try container.encodeIfPresent(deliverAfter, forKey: .deliverAfter)
        try container.encodeIfPresent(deliverWithin, forKey: .deliverWithin)
        try container.encodeIfPresent(newestWins, forKey: .newestWins)
    }
}

extension HeadersForm {
    func deliveryHours() throws(ControlError) -> DeliveryHours? {
        guard let deliverWithin else { return nil }
        do throws(Refusal) {
            return try DeliveryHours(deliverWithin)
        } catch {
            throw .malformed("deliver-within: \(error.detail)")
        }
    }
}

/// A whole notification.
package struct NotificationForm: Codable, Sendable {
    var headers: HeadersForm
    var guarantee: String
    var payload: Data
    /// Absent for JSON.
    var payloadKind: UInt8?
    var tag: Data?
    var context: Data?
    /// Absent for none.
    var environment: String?
    /// Absent for none.
    var traceparent: String?
    var tracestate: String?
    /// Whether the tool has made up the apns-id, so that it need not be remembered. Absent for false.
    var hasAssignedID: Bool?

    enum CodingKeys: String, CodingKey {
        case guarantee, environment, traceparent, tracestate
        case hasAssignedID = "apns-id-is-assigned"
        // Bytes that come out as they went in, whatever they are.
        case payload = "payload-base64"
        case payloadKind = "payload-kind"
        case tag = "tag-base64"
        case context = "context-base64"
    }

    package init(_ notification: PushNotification) {
        headers = HeadersForm(notification)
        guarantee = notification.guarantee.name
        payload = Data(notification.payload)
        payloadKind = notification.payloadKind == .json ? nil : notification.payloadKind.rawValue
        tag = notification.tag.isEmpty ? nil : Data(notification.tag)
        context = notification.context.isEmpty ? nil : Data(notification.context)
        environment = notification.environment?.rawValue
        hasAssignedID = notification.hasAssignedID ? true : nil
        traceparent = notification.trace?.traceparent
        tracestate = notification.trace.flatMap { $0.tracestate.isEmpty ? nil : $0.tracestate }
    }

    package init(from decoder: any Decoder) throws {
        headers = try HeadersForm(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guarantee = try container.decodeIfPresent(String.self, forKey: .guarantee) ?? Guarantee.atLeastOnce.name
        payload = try container.decode(Data.self, forKey: .payload)
        payloadKind = try container.decodeIfPresent(UInt8.self, forKey: .payloadKind)
        tag = try container.decodeIfPresent(Data.self, forKey: .tag)
        context = try container.decodeIfPresent(Data.self, forKey: .context)
        environment = try container.decodeIfPresent(String.self, forKey: .environment)
        hasAssignedID = try container.decodeIfPresent(Bool.self, forKey: .hasAssignedID)
        traceparent = try container.decodeIfPresent(String.self, forKey: .traceparent)
        tracestate = try container.decodeIfPresent(String.self, forKey: .tracestate)
    }

    package func encode(to encoder: any Encoder) throws {
        try headers.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(guarantee, forKey: .guarantee)
        try container.encode(payload, forKey: .payload)
        try container.encodeIfPresent(payloadKind, forKey: .payloadKind)
        try container.encodeIfPresent(tag, forKey: .tag)
        try container.encodeIfPresent(context, forKey: .context)
        try container.encodeIfPresent(environment, forKey: .environment)
        try container.encodeIfPresent(hasAssignedID, forKey: .hasAssignedID)
        try container.encodeIfPresent(traceparent, forKey: .traceparent)
        try container.encodeIfPresent(tracestate, forKey: .tracestate)
    }

    /// - Throws: ``ControlError`` with code `malformed`.
    package func value() throws(ControlError) -> PushNotification {
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
            guarantee: try Guarantee.read(guarantee), tag: tag.map { Array($0) } ?? [],
            context: try readContext(), deliverAfter: headers.deliverAfter?.value,
            deliveryHours: try headers.deliveryHours(), newestWins: headers.newestWins ?? false)
        notification.environment = try readEnvironment()
        notification.hasAssignedID = hasAssignedID ?? false
        notification.trace = traceparent.flatMap { TraceContext(traceparent: $0, tracestate: tracestate) }
        return notification
    }

    private func readEnvironment() throws(ControlError) -> PushEnvironment? {
        guard let environment else { return nil }
        guard let known = PushEnvironment(rawValue: environment) else {
            throw .malformed(
                "there is no environment \(environment.prefix(200).debugDescription): give production or sandbox, or none"
            )
        }
        return known
    }

    /// No record holds more.
    private func readContext() throws(ControlError) -> [UInt8] {
        let most = PackedNotification.maximumContextByteCount
        guard let context else { return [] }
        guard context.count <= most else {
            throw .malformed("context-base64 has \(context.count) bytes: at most \(most) are kept")
        }
        return Array(context)
    }
}

/// Lines of a file, and the note of how far it was taken.
struct LinesForm: Codable {
    var notifications: [NotificationForm]
    /// Absent for the standard one.
    var producer: String?
    /// Absent for what comes from no file.
    var note: RestoreForm.Note?

    init(_ notifications: [PushNotification], _ producer: String?, _ note: RestoreNote?) {
        self.notifications = notifications.map(NotificationForm.init)
        self.producer = producer
        self.note = note.map(RestoreForm.Note.init)
    }

    func value() throws(ControlError) -> [PushNotification] { try NotificationsForm(notifications).value() }
}

struct NotificationsForm: Codable {
    var notifications: [NotificationForm]

    init(_ notifications: [PushNotification]) { self.notifications = notifications.map(NotificationForm.init) }

    init(_ notifications: [NotificationForm]) { self.notifications = notifications }

    func value() throws(ControlError) -> [PushNotification] {
        try OperatorDeskLimits.check(notifications.count)
        var values: [PushNotification] = []
        for notification in notifications { values.append(try notification.value()) }
        return values
    }
}
