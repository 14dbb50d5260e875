/// The sizes, recipients and topics that a push service takes.
public struct NotificationLimits: Hashable, Sendable {
    /// The most bytes of a payload.
    public var payload: Int
    /// The most bytes of a payload with push type `voip`.
    public var voipPayload: Int
    /// The most bytes of a broadcast's payload; `nil` if broadcasts are refused.
    public var broadcastPayload: Int?
    /// The length of a device token in bytes.
    public var tokens: ClosedRange<Int>
    /// The most bytes of a collapse id, in UTF-8.
    public var collapseID: Int
    /// The topics that the connector's credentials are valid for; `nil` if unknown.
    public var topics: Set<String>?
    /// The addresses and payloads of a service other than Apple's; `nil` for Apple's.
    public private(set) var service: ServiceLimits?

    /// Creates limits of a service that takes device tokens, and broadcasts where `broadcastPayload` is given. All sizes in
    /// bytes.
    public init(
        payload: Int, voipPayload: Int, broadcastPayload: Int? = nil, tokens: ClosedRange<Int>, collapseID: Int,
        topics: Set<String>? = nil
    ) {
        self.payload = payload
        self.voipPayload = voipPayload
        self.broadcastPayload = broadcastPayload
        self.tokens = tokens
        self.collapseID = collapseID
        self.topics = topics
    }

    /// Apple's limits for HTTP/2, with broadcasts.
    public static let http2 = NotificationLimits(
        payload: 4096, voipPayload: 5120, broadcastPayload: 5120, tokens: 1...100, collapseID: 64)

    /// Apple's limits for HTTP/2 without broadcasts, for a sender that knows tokens only.
    public static let devices = {
        var limits = http2
        limits.broadcastPayload = nil
        return limits
    }()

    /// Limits of a service other than Apple's. It takes neither device tokens nor channels.
    ///
    /// - Parameters:
    ///   - payload: the most bytes of a payload, at most ``PackedNotification/maximumPayloadByteCount``.
    ///   - collapseID: the most bytes of a collapse id in UTF-8, at most
    ///     ``PackedNotification/maximumCollapseIDByteCount``; 0 for a service without.
    public static func service(
        _ service: ServiceLimits, payload: Int, collapseID: Int, topics: Set<String>? = nil
    ) -> NotificationLimits {
        var limits = NotificationLimits(
            payload: payload, voipPayload: payload, tokens: 1...DeviceToken.maximumByteCount, collapseID: collapseID,
            topics: topics)
        limits.service = service
        return limits
    }

    /// Whether the service takes recipients of the entry's kind.
    func takes(_ fields: PackedNotification.Fields) -> Bool {
        guard let service else { return fields.service == nil }
        return fields.service.map(service.kinds.contains) ?? false
    }

    /// The most bytes of this notification's payload.
    func payloadByteCount(of notification: PushNotification) -> Int {
        if notification.isBroadcast, let broadcastPayload { return broadcastPayload }
        return notification.pushType == .voip ? voipPayload : payload
    }
}
