internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastLegacyAPNs

/// Translates from the binary protocol to HTTP/2, and adds the fields that the binary protocol lacked and Apple demands
/// now.
///
/// A pure function of the request, its topic and the time.
struct BinaryTranslation: Sendable {
    /// The fault of a request, as an error response says it.
    struct Fault: Error, Hashable, Sendable {
        let status: BinaryStatus
        init(_ status: BinaryStatus) { self.status = status }
    }

    let topic: String
    /// The lifetime of an expiration of 0; zero is one attempt.
    let unstoredLifetime: Duration
    /// Where they go, if routes share the topic. Nil for the default.
    var environment: PushEnvironment?
    /// Where they go only if there is a choice.
    var preferredEnvironment: PushEnvironment?

    /// Checks in Apple's order: the token, the payload, and the rest.
    ///
    /// - Parameter now: an expiration that is not later had passed when it came: one attempt, as Apple made of it.
    func notification(_ request: BinaryRequest, now: WallTime) throws(Fault) -> PushNotification {
        guard let bytes = request.token, !bytes.isEmpty else { throw Fault(.missingToken) }
        guard let token = DeviceToken(bytes: bytes) else { throw Fault(.invalidTokenSize) }
        guard let payload = request.payload, !payload.isEmpty else { throw Fault(.missingPayload) }
        let type = pushType(of: payload)
        var notification = PushNotification(
            token: token, topic: topic, payload: payload, pushType: type,
            priority: Self.priority(request.priority, type: type),
            expiration: expiration(request.expiration, now: now))
        (notification.environment, notification.preferredEnvironment) = (environment, preferredEnvironment)
        return notification
    }

    /// No expiration (command 0, or an item left out) is the engine's default lifetime; a past one is one attempt.
    private func expiration(_ seconds: UInt32?, now: WallTime) -> Expiration? {
        guard let seconds = seconds.map(Int64.init) else { return nil }
        if seconds == 0 { return .unstored(for: unstoredLifetime, from: now) }
        return seconds > now.seconds ? .at(seconds) : .once
    }

    /// Background notifications have priority 5, whatever their client asked for: with 10 Apple refuses them. An
    /// invalid number counts as none.
    private static func priority(_ rawValue: UInt8?, type: PushType) -> Priority? {
        type == .background ? .considerate : rawValue.flatMap { Priority(rawValue: $0) }
    }

    // MARK: The push type

    /// The push type of a topic's suffix (Apple: *Sending notification requests to APNs*, `apns-topic`).
    private static let typesByEnding: [(ending: String, type: PushType)] = [
        (".voip", .voip), (".complication", .complication), (".pushkit.fileprovider", .fileprovider),
        (".location-query", .location), (".voip-ptt", .pushtotalk),
        (PushType.liveActivityTopicEnding, .liveactivity),
    ]

    /// The prefix of the topics of certificates for device management.
    private static let managementTopics = "com.apple.mgmt."

    /// Clients of the binary protocol had no push type. The topic tells it, or the payload: `mdm` wakes a managed
    /// device, and `content-available` with nothing for the user to notice is a background notification.
    private func pushType(of payload: [UInt8]) -> PushType {
        if let type = Self.typesByEnding.first(where: { topic.hasSuffix($0.ending) })?.type { return type }
        if topic.hasPrefix(Self.managementTopics) { return .mdm }
        do throws(JSONFault) {
            return try Self.type(payload.span)
        } catch {
            // Not JSON: refused elsewhere.
            return .alert
        }
    }

    private static func type(_ bytes: Span<UInt8>) throws(JSONFault) -> PushType {
        let all = 0..<bytes.count
        if var aps = try JSONMembers.aps(of: bytes, in: all) {
            return try isBackground(bytes, &aps) ? .background : .alert
        }
        var members = try JSONMembers(bytes, in: all)
        while let name = try members.nextName(bytes) {
            if JSONScanner.isString(bytes, in: name, equalTo: "mdm") { return .mdm }
        }
        return .alert
    }

    /// Whether `aps` is only for the app.
    private static func isBackground(_ bytes: Span<UInt8>, _ aps: inout JSONMembers) throws(JSONFault) -> Bool {
        var isForApp = false
        while let name = try aps.nextName(bytes) {
            if JSONScanner.isNoticed(bytes, in: name) { return false }
            guard JSONScanner.isString(bytes, in: name, equalTo: "content-available") else { continue }
            // Apple writes the number 1; clients in the wild wrote true, too.
            let value = try aps.value(bytes).range
            let first = bytes[value.lowerBound]
            isForApp = value.count == 1 && first == UInt8(ascii: "1") || first == UInt8(ascii: "t")
        }
        return isForApp
    }
}

extension BinaryStatus {
    /// The status that answers a refusal of the engine.
    ///
    /// A payload that is not JSON has no status of its own; 7 makes a client give up the payload and keep the token. A
    /// fault of our own configuration (no route serves the topic) is 1: it is worth a retry.
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .blacklisted: self = .invalidToken
        case .badDeviceToken: self = .invalidTokenSize
        case .missingDeviceToken: self = .missingToken
        case .missingTopic: self = .missingTopic
        case .badTopic: self = .invalidTopicSize
        case .payloadEmpty: self = .missingPayload
        case .payloadTooLarge, .payloadNotJSON: self = .invalidPayloadSize
        default: self = .processingError
        }
    }

    /// The engine's name for the status.
    var word: String {
        self == .shutdown
            ? Reason.shutdown.rawValue : SendResult(binaryStatus: rawValue).reason?.rawValue ?? "Status\(rawValue)"
    }
}
