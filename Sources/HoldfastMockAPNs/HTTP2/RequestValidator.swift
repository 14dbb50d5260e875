import HoldfastMocking

/// Judges requests as the push service does, and refuses them in its words.
///
/// The checks have a fixed order, so that a request with two faults always gets the same answer.
struct RequestValidator: Sendable {
    static let payloadLimit = 4096
    static let voipPayloadLimit = 5120
    static let collapseIDLimit = 64
    static let topicLimit = 255

    static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "controls", "widgets",
    ]

    let topics: Set<String>?
    private let tokenTopics: [String: String]
    private let requiresPushType: Bool
    private let tokenDigits: ClosedRange<Int>
    private let rejections: [String: MockRejection]
    private let channelRejections: [String: MockRejection]

    init(_ configuration: MockAPNsConfiguration) {
        topics = configuration.topics
        tokenDigits = configuration.tokenByteCounts.lowerBound * 2...configuration.tokenByteCounts.upperBound * 2
        requiresPushType = configuration.requiresPushType
        tokenTopics = Dictionary(
            configuration.tokenTopics.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        rejections = Dictionary(
            configuration.rejections.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        channelRejections = configuration.channelRejections
    }

    /// Checks method and path, except for the device token in it.
    ///
    /// - Parameter isManagement: whether it came to the address for channel management.
    func rejection(ofRoute fields: RequestFields, _ target: RequestTarget, isManagement: Bool) -> MockRejection? {
        if case .nothing = target { return isManagement || fields.method == "POST" ? "BadPath" : "MethodNotAllowed" }
        return target.knows(method: fields.method) ? nil : "MethodNotAllowed"
    }

    /// Checks everything except method, path and provider token.
    ///
    /// - Parameter hasKnownAttributes: whether the attributes equal those of a valid request; then they are not
    ///   checked.
    /// - Returns: nil for a valid request.
    func rejection(of fields: RequestFields, bodyByteCount: Int, hasKnownAttributes: Bool) -> MockRejection? {
        if let rejection = rejection(ofTokenIn: fields.path ?? "") { return rejection }
        if fields.id != nil, !fields.hasWellFormedID { return "BadMessageId" }
        if !hasKnownAttributes, let rejection = rejection(ofAttributes: fields) { return rejection }
        guard bodyByteCount > 0 else { return "PayloadEmpty" }
        if bodyByteCount > Self.payloadLimit {
            guard fields.pushType == "voip", bodyByteCount <= Self.voipPayloadLimit else { return "PayloadTooLarge" }
        }
        return fields.hasDuplicates ? "DuplicateHeaders" : nil
    }

    private func rejection(ofAttributes fields: RequestFields) -> MockRejection? {
        if let priority = fields.priority {
            guard Self.isPriority(priority) else { return "BadPriority" }
            if fields.pushType == "background", priority == "10" { return "BadPriority" }
        }
        if let expiration = fields.expiration, !Self.isExpiration(expiration) { return "BadExpirationDate" }
        if let rejection = rejection(ofTopic: fields.topic ?? "") { return rejection }
        if let collapseID = fields.collapseID, collapseID.utf8.count > Self.collapseIDLimit { return "BadCollapseId" }
        if requiresPushType, fields.pushType == nil { return "MissingPushType" }
        if let pushType = fields.pushType, !Self.pushTypes.contains(pushType) { return "InvalidPushType" }
        return nil
    }

    /// The configured refusal of this token; checked last.
    func rejection(ofToken token: String, topic: String?) -> MockRejection? {
        let token = token.lowercased()
        if let rejection = rejections[token] { return rejection }
        if let its = tokenTopics[token], its != topic { return "DeviceTokenNotForTopic" }
        return nil
    }

    /// The configured refusal of this channel; checked last.
    func rejection(ofChannel channel: String) -> MockRejection? { channelRejections[channel] }

    var rejectsTokens: Bool { !rejections.isEmpty || !tokenTopics.isEmpty }

    private func rejection(ofTokenIn path: String) -> MockRejection? {
        let bytes = path.utf8Span.span
        let prefix = RequestFields.pathPrefix.utf8
        guard bytes.count >= prefix.count else { return "BadPath" }
        let count = bytes.count - prefix.count
        guard count > 0 else { return "MissingDeviceToken" }
        guard tokenDigits.contains(count), count.isMultiple(of: 2),
            ASCII.areHexDigits(bytes.extracting(droppingFirst: prefix.count))
        else { return "BadDeviceToken" }
        return nil
    }

    private func rejection(ofTopic topic: String) -> MockRejection? {
        guard !topic.isEmpty else { return "MissingTopic" }
        if let topics { return topics.contains(topic) ? nil : "TopicDisallowed" }
        return Self.isTopic(topic) ? nil : "BadTopic"
    }

    /// Whether the text has the form of a topic or a bundle id.
    static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= topicLimit && text.utf8.allSatisfy(isTopicByte)
    }

    static func isPriority(_ text: String) -> Bool { text == "10" || text == "5" || text == "1" }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: ASCII.isDigit(byte)
        }
    }

    /// Whether the text is like `123e4567-e89b-12d3-a456-4266554400a0`, in either case.
    static func isNotificationID(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        guard bytes.count == NotificationIDText.byteCount, bytes[8] == UInt8(ascii: "-"),
            bytes[13] == UInt8(ascii: "-"), bytes[18] == UInt8(ascii: "-"), bytes[23] == UInt8(ascii: "-")
        else { return false }
        return ASCII.areHexDigits(bytes.extracting(0..<8)) && ASCII.areHexDigits(bytes.extracting(9..<13))
            && ASCII.areHexDigits(bytes.extracting(14..<18)) && ASCII.areHexDigits(bytes.extracting(19..<23))
            && ASCII.areHexDigits(bytes.extracting(24..<36))
    }

    /// Whether the text is Unix seconds, 0 included.
    static func isExpiration(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) && Int64(text) != nil
    }
}
