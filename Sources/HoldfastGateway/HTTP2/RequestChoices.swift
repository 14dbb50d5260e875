internal import Holdfast

/// The header fields of Holdfast's own that few requests have: a label and data of the sender's, its name, and when the
/// notification may go.
enum RequestChoices {
    /// Reads them in a fixed order, so that a request with two faults always gets the same answer.
    static func read(_ fields: RequestFields, into notification: inout PushNotification) throws(Refusal) {
        if let tag = fields.tag {
            notification.tag = try bytes(
                of: tag, atMost: NotificationValidator.maximumTagByteCount, .badTag, "holdfast-tag")
        }
        if let name = fields.producer { try checkProducer(name) }
        if let text = fields.deliverAfter {
            guard let time = time(text) else {
                throw Refusal(
                    .badDeliverAfter,
                    "holdfast-deliver-after is neither Unix seconds nor RFC 3339, such as 2026-11-21T01:24:38Z")
            }
            notification.deliverAfter = time
        }
        if let text = fields.deliverWithin {
            do throws(Refusal) {
                notification.deliveryHours = try DeliveryHours(text)
            } catch {
                throw Refusal(.badDeliverWithin, "holdfast-deliver-within: \(error.detail)")
            }
        }
        if let context = fields.context {
            notification.context = try bytes(
                of: context, atMost: PackedNotification.maximumContextByteCount, .badContext, "holdfast-context")
            guard !context.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
                throw Refusal(.badContext, "holdfast-context is visible text, without control characters")
            }
        }
        if let choice = fields.newestWins { notification.newestWins = try flag(choice) }
    }

    /// Unix seconds, or RFC 3339.
    static func time(_ text: String) -> WallTime? {
        if let seconds = RequestReader.unixSeconds(text) { return WallTime(seconds: seconds) }
        return Timestamp.parse(text)
    }

    /// Bytes that are no UTF-8 have been replaced when the field was read: the sender would get back others than it gave.
    private static func bytes(
        of text: String, atMost limit: Int, _ reason: Reason, _ name: String
    ) throws(Refusal) -> [UInt8] {
        guard text.utf8.count <= limit, !text.isEmpty, !text.unicodeScalars.contains("\u{FFFD}") else {
            throw Refusal(
                reason, "\(name) has 1 to \(limit) bytes of UTF-8, not \(text.utf8.count) or other bytes")
        }
        return Array(text.utf8)
    }

    private static func checkProducer(_ name: String) throws(Refusal) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Refusal(.badProducer, "holdfast-producer has 1 to 64 visible ASCII characters")
        }
        // Another listener's senders submit under such a name.
        guard !name.hasPrefix("gateway-") || name == HTTP2Ingress.producerName else {
            throw Refusal(.badProducer, "holdfast-producer is a name of another listener")
        }
    }

    private static func flag(_ text: String) throws(Refusal) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default: throw Refusal(.badNewestWins, "holdfast-newest-wins is neither true nor false")
        }
    }
}

/// Each says which header field has no such value.
extension Reason {
    static let badTag = Reason(rawValue: "BadHoldfastTag")
    static let badProducer = Reason(rawValue: "BadHoldfastProducer")
    static let badDeliverAfter = Reason(rawValue: "BadHoldfastDeliverAfter")
    static let badDeliverWithin = Reason(rawValue: "BadHoldfastDeliverWithin")
    static let badContext = Reason(rawValue: "BadHoldfastContext")
    static let badNewestWins = Reason(rawValue: "BadHoldfastNewestWins")
}
