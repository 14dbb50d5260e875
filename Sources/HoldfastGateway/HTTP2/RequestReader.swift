internal import Holdfast
internal import HoldfastAPNsAnswers

/// Turns a request into a notification, or into Apple's refusal.
///
/// Checks everything that a ``PushNotification`` can't hold. `submit` checks the rest behind it (the topic's route, and
/// then ``NotificationValidator``: past expirations, collapse id, push type, payload). The order is fixed, so that a
/// request with two faults always gets the same answer: see Docs/Guide/Gateway.md. Keeps the attributes of the last
/// valid request, which the next ones usually share.
struct RequestReader {
    /// The meaning of all header fields except path, id and registration.
    private struct Attributes {
        let topic: String
        let pushType: PushType?
        let priority: Priority?
        let expiration: Expiration?
        let collapseID: String?
        let environment: (stated: PushEnvironment?, preferred: PushEnvironment?)
    }

    /// The topic of requests without one; nil where there is no telling.
    var onlyTopic: String? { didSet { knownAttributes = nil } }
    /// What the host that a client addresses says of the environment.
    var environments: HostEnvironments { didSet { knownAttributes = nil } }
    /// Whether anybody asks for the traces that requests belong to.
    var readsTraces = false
    // Two, not one pair: a pair would be copied, with every string in it, to be looked at.
    private var knownFields = RequestFields()
    private var knownAttributes: Attributes?

    init(onlyTopic: String?, environments: HostEnvironments = HostEnvironments([:])) {
        self.onlyTopic = onlyTopic
        self.environments = environments
    }

    /// Method and path, but for the device token or the bundle identifier in it.
    static func checkRoute(_ fields: RequestFields) throws(Refusal) {
        guard fields.isPost else { throw Refusal(.methodNotAllowed, "the method is not POST") }
        let beginning = fields.isBroadcast ? RequestFields.broadcastPath : RequestFields.devicePath
        guard fields.pathBegins(with: beginning) else {
            throw Refusal(.badPath, "the path begins neither with /3/device/ nor with /4/broadcasts/apps/")
        }
    }

    /// - Parameters:
    ///   - id: the fields' ``RequestFields/ownID``; nil for none, and for one that is not well-formed.
    ///   - body: the payload; of an oversized one only the beginning, which exceeds the limit, too.
    /// - Precondition: ``checkRoute(_:)`` has passed.
    mutating func notification(
        _ fields: RequestFields, id: NotificationID?, body: ArraySlice<UInt8>
    ) throws(Refusal) -> PushNotification {
        if fields.isBroadcast {
            var notification = try Self.broadcast(fields, id: id, body: body)
            (notification.environment, notification.preferredEnvironment) = try environment(fields)
            try readOwnFields(fields, into: &notification)
            return notification
        }
        let token = try fields.withPath(Self.token)
        guard id != nil || fields.ownID == nil else { throw Refusal(.badMessageID, "apns-id is not a UUID") }
        let attributes = try attributes(of: fields)
        var notification = PushNotification(
            recipient: .device(token), topic: attributes.topic, payload: Array(body), pushType: attributes.pushType,
            priority: attributes.priority, expiration: attributes.expiration, collapseID: attributes.collapseID, id: id)
        (notification.environment, notification.preferredEnvironment) = attributes.environment
        try Self.readRegistration(fields, into: &notification)
        try readOwnFields(fields, into: &notification)
        return notification
    }

    /// Apple: *Sending broadcast push notification requests to APNs*. A missing required field is refused at once.
    private static func broadcast(
        _ fields: RequestFields, id: NotificationID?, body: ArraySlice<UInt8>
    ) throws(Refusal) -> PushNotification {
        let topic = (fields.path ?? "").utf8.dropFirst(RequestFields.broadcastPath.count)
        guard !topic.isEmpty else { throw Refusal(.badPath, "the path ends where the bundle identifier belongs") }
        guard let channel = fields.channelID else { throw Refusal(.missingChannelID, "there is no apns-channel-id") }
        var notification = PushNotification(
            channel: try BroadcastChannel(channel), topic: String(decoding: topic, as: UTF8.self), payload: [])
        guard id != nil || fields.ownID == nil else {
            throw Refusal(.badMessageID, "apns-request-id is not a UUID")
        }
        notification.id = id
        guard let type = fields.pushType else { throw Refusal(.missingPushType, "there is no apns-push-type") }
        notification.pushType = PushType(rawValue: type)
        guard let expiration = try expiration(fields) else {
            throw Refusal(
                .badExpirationDate, "there is no apns-expiration, which a broadcast must have; 0 stores nothing")
        }
        notification.expiration = expiration.ofBroadcast
        notification.priority = try priority(fields)
        notification.payload = Array(body)
        return notification
    }

    // MARK: Parts

    static func readRegistration(
        _ fields: RequestFields, into notification: inout PushNotification
    ) throws(Refusal) {
        guard let text = fields.registeredAt else { return }
        guard let time = RequestChoices.time(text) else {
            throw Refusal(.badRegistrationTime, "holdfast-token-registered-at is neither Unix seconds nor RFC 3339")
        }
        notification.tokenRegisteredAt = time
    }

    /// Reads the header fields of Holdfast's that all notifications share, and checks that no field is there twice.
    func readOwnFields(
        _ fields: RequestFields, into notification: inout PushNotification
    ) throws(Refusal) {
        notification.guarantee = try Self.guarantee(fields)
        if fields.hasChoices {
            try RequestChoices.read(fields, into: &notification)
            if readsTraces { notification.trace = fields.trace }
            if fields.messageID != nil, fields.purpose != .message {
                throw Refusal(.unknownOwnField, "holdfast-id is for messages of Google's form; here the id is apns-id")
            }
        }
        if let name = fields.unknownOwn {
            throw Refusal(
                .unknownOwnField,
                "\(name.prefix(64)) is no header field of Holdfast's, which are \(RequestFields.ownNames.joined(separator: ", "))"
            )
        }
        guard !fields.hasDuplicates else { throw Refusal(.duplicateHeaders, "a header field is there twice") }
    }

    private static func token(in bytes: Span<UInt8>) throws(Refusal) -> DeviceToken {
        let start = RequestFields.devicePath.count
        let count = bytes.count - start
        guard count > 0 else { throw Refusal(.missingDeviceToken, "the path ends where the device token belongs") }
        guard count <= 2 * DeviceToken.maximumByteCount,
            let token = Hex.bytes(bytes.extracting(start..<bytes.count)).flatMap(DeviceToken.init(bytes:))
        else { throw badToken }
        return token
    }

    private static let badToken = Refusal(.badDeviceToken, "a device token has an even number of hex digits, 2 to 200")

    private mutating func attributes(of fields: RequestFields) throws(Refusal) -> Attributes {
        if let knownAttributes, knownFields.hasAttributes(of: fields) { return knownAttributes }
        let pushType = fields.pushType.map { text in
            PushType.known.first { $0.rawValue == text } ?? PushType(rawValue: text)
        }
        let attributes = Attributes(
            topic: try topic(of: fields), pushType: pushType, priority: try Self.priority(fields),
            expiration: try Self.expiration(fields), collapseID: try Self.collapseID(fields),
            environment: try environment(fields))
        (knownFields, knownAttributes) = (fields.kept(), attributes)
        return attributes
    }

    private func topic(of fields: RequestFields) throws(Refusal) -> String {
        if let topic = fields.topic, !topic.isEmpty { return topic }
        // Priority and expiration are checked before the topic.
        _ = try Self.priority(fields)
        _ = try Self.expiration(fields)
        if let onlyTopic { return onlyTopic }
        throw Refusal(.missingTopic, "there is no apns-topic, and more than one that it could be")
    }

    private static func priority(_ fields: RequestFields) throws(Refusal) -> Priority? {
        switch fields.priority {
        case nil: nil
        case "10": .immediate
        case "5": .considerate
        case "1": .low
        default: throw Refusal(.badPriority, "apns-priority is none of 10, 5 and 1")
        }
    }

    /// Bytes that are no UTF-8 have been replaced when the field was read: two different ids would be one.
    private static func collapseID(_ fields: RequestFields) throws(Refusal) -> String? {
        guard let id = fields.collapseID, id.unicodeScalars.contains("\u{FFFD}") else { return fields.collapseID }
        throw Refusal(.badCollapseID, "apns-collapse-id is not UTF-8")
    }

    /// Unix seconds, 0 included.
    private static func expiration(_ fields: RequestFields) throws(Refusal) -> Expiration? {
        guard let text = fields.expiration else { return nil }
        guard let seconds = unixSeconds(text) else {
            throw Refusal(.badExpirationDate, "apns-expiration is not Unix seconds")
        }
        return Expiration(unixSeconds: seconds)
    }

    private static func guarantee(_ fields: RequestFields) throws(Refusal) -> Guarantee {
        switch fields.guarantee {
        case nil, "at-least-once": .atLeastOnce
        case "at-most-once": .atMostOnce
        default: throw Refusal(.badGuarantee, "holdfast-guarantee is neither at-least-once nor at-most-once")
        }
    }

    /// The field goes before the host.
    private func environment(
        _ fields: RequestFields
    ) throws(Refusal) -> (stated: PushEnvironment?, preferred: PushEnvironment?) {
        guard let text = fields.environment else { return environments.environment(of: fields.authority) }
        guard let environment = PushEnvironment(rawValue: text) else {
            throw Refusal(.badEnvironment, "holdfast-environment is neither production nor sandbox")
        }
        return (environment, nil)
    }

    /// When the request is to be answered.
    ///
    /// - Parameter standard: for requests that do not say it.
    static func answering(_ fields: RequestFields, orElse standard: AnswerMode?) throws(Refusal) -> AnswerMode? {
        guard let text = fields.answer else { return standard }
        guard let mode = AnswerMode(header: text) else {
            throw Refusal(
                .badAnswerMode,
                "holdfast-answer is neither accepted nor wait= with a time of up to 60s, such as wait=2s, wait=500ms or wait=1m"
            )
        }
        return mode
    }

    static func unixSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}

extension Reason {
    /// `holdfast-guarantee`, a header field of ours, has no such value.
    static let badGuarantee = Reason(rawValue: "BadGuarantee")
    /// `holdfast-answer`, another one, has no such value.
    static let badAnswerMode = Reason(rawValue: "BadHoldfastAnswer")
    /// A header field that begins with `holdfast-` and is none of ours.
    static let unknownOwnField = Reason(rawValue: "UnknownHoldfastHeader")
    /// `holdfast-environment`, the same.
    static let badEnvironment = Reason(rawValue: "BadEnvironment")
}
