/// The checks of `submit` before anything is journaled. A pure function.
///
/// It refuses what Apple would refuse, with Apple's reasons, because every refusal by APNs slows a sender down. Notifications
/// for other services are checked by their limits: see ``ServiceLimits``.
package struct NotificationValidator: Hashable, Sendable {
    /// Bytes of UTF-8.
    package static let maximumTopicByteCount = 255
    package static let maximumTagByteCount = 256

    package var limits: NotificationLimits

    package init(limits: NotificationLimits = .http2) { self.limits = limits }

    /// - Throws: the ``Refusal`` that Apple would answer with, or one of ours for what only Holdfast knows.
    package func validate(_ notification: borrowing PushNotification, now: WallTime) throws(Refusal) {
        if let service = limits.service {
            try validate(notification, for: service)
        } else {
            try validateForApple(notification)
        }
        try validateExpiration(notification.expiration, now: now)
        try validateTopic(notification.topic)
        try validateCredentials(for: notification.topic)
        try validateCollapseID(notification.collapseID)
        if let type = notification.pushType, !PushType.known.contains(type) {
            throw Refusal(.invalidPushType, "the push type \(type.rawValue.prefix(64).debugDescription) is not known")
        }
        try validatePayload(notification)
        if notification.tag.count > Self.maximumTagByteCount {
            throw Refusal(.tagTooLong, "a tag has at most 256 bytes; this one has \(notification.tag.count)")
        }
        try validateAdditions(notification, now: now)
    }

    private func validateForApple(_ notification: borrowing PushNotification) throws(Refusal) {
        switch notification.recipient {
        case .device(let token): try validateToken(token)
        case .channel: try validateBroadcast(notification)
        case .service(let address):
            throw Refusal(
                .recipientUnsupported,
                "the route of the topic \(notification.topic) sends to Apple's devices, not to \(address.kind.name)")
        }
        guard notification.payloadKind == .json else {
            throw Refusal(.payloadUnsupported, "Apple's services take a JSON object")
        }
    }

    private func validateToken(_ token: DeviceToken) throws(Refusal) {
        let (least, most) = (limits.tokens.lowerBound, limits.tokens.upperBound)
        guard limits.tokens.contains(token.bytes.count) else {
            let range = least == most ? "\(most)" : "\(least) to \(most)"
            throw Refusal(.badDeviceToken, "a device token has \(range) bytes here; this one has \(token.bytes.count)")
        }
    }

    /// Apple: *Sending broadcast push notification requests to APNs*.
    private func validateBroadcast(_ notification: borrowing PushNotification) throws(Refusal) {
        guard limits.broadcastPayload != nil else {
            throw Refusal(.broadcastUnsupported, "the route of the topic \(notification.topic) can't send broadcasts")
        }
        guard notification.pushType == .liveactivity else {
            throw Refusal(.invalidPushType, "a broadcast has push type liveactivity")
        }
        // It stands in the path. (What is empty is refused with all others of that kind.)
        let topic = notification.topic
        guard topic.isEmpty || topic.isBundleID && !topic.hasSuffix(PushType.liveActivityTopicEnding) else {
            throw Refusal(.badTopic, "the topic of a broadcast is the app's bundle identifier, and nothing behind it")
        }
        guard notification.collapseID == nil else {
            throw Refusal(.badCollapseID, "a broadcast has no collapse id")
        }
    }

    private func validateExpiration(_ expiration: Expiration?, now: WallTime) throws(Refusal) {
        guard let seconds = expiration?.deadline else { return }
        guard seconds > now.seconds else {
            let time = "\(seconds) (\(Timestamp.format(WallTime(seconds: seconds))))"
            guard case .at = expiration else {
                throw Refusal(.badExpirationDate, "the time until which it is tried, \(time), is past")
            }
            throw Refusal(.badExpirationDate, "the expiration \(time) is past; 0 means one attempt")
        }
    }

    private func validateTopic(_ topic: String) throws(Refusal) {
        if topic.isEmpty { throw Refusal(.missingTopic, "the topic is empty") }
        guard topic.utf8.count <= Self.maximumTopicByteCount, topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Refusal(.badTopic, "a topic has 1 to 255 visible ASCII characters")
        }
    }

    private func validateCredentials(for topic: String) throws(Refusal) {
        guard let topics = limits.topics, !topics.contains(topic) else { return }
        let known = topics.sorted().prefix(5).joined(separator: ", ") + (topics.count > 5 ? ", …" : "")
        throw Refusal(
            .topicDisallowed, "the certificate of this route is not for the topic \(topic); it is for \(known)")
    }

    private func validateCollapseID(_ collapseID: String?) throws(Refusal) {
        guard let collapseID else { return }
        let count = collapseID.utf8.count
        let limit = min(limits.collapseID, PackedNotification.maximumCollapseIDByteCount)
        guard count <= limit else {
            throw Refusal(.badCollapseID, "a collapse id has at most \(limit) bytes; this one has \(count)")
        }
        // It travels as a header field: RFC 9113 section 8.2.1.
        let padded = collapseID.utf8.first == 0x20 || collapseID.utf8.last == 0x20
        guard count > 0, !padded, collapseID.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Refusal(
                .badCollapseID, "a collapse id is not empty, and has no control characters and no space at its ends")
        }
    }

    private func validatePayload(_ notification: borrowing PushNotification) throws(Refusal) {
        let payload = notification.payload
        if notification.payloadKind == .none {
            guard payload.isEmpty else {
                throw Refusal(.payloadUnsupported, "a notification without a payload has one")
            }
            return
        }
        if payload.isEmpty { throw Refusal(.payloadEmpty, "the payload is empty") }
        let limit = min(limits.payloadByteCount(of: notification), PackedNotification.maximumPayloadByteCount)
        guard payload.count <= limit else {
            throw Refusal(.payloadTooLarge, "the payload has \(payload.count) bytes; \(limit) is the limit")
        }
        guard notification.payloadKind == .json else { return }
        do throws(JSONFault) {
            try JSONScanner.checkObject(payload)
        } catch {
            throw Refusal(.payloadNotJSON, "the payload is not a JSON object: \(error)")
        }
    }
}

extension String {
    /// Whether the text can be a bundle identifier, and part of a path unchanged: letters, digits, hyphens, periods and, in
    /// some, underscores; not empty.
    package var isBundleID: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
