public import Holdfast

extension PushNotification {
    /// Creates a notification with a built payload.
    ///
    /// - Parameters:
    ///   - pushType: nil for the payload's own: ``HoldfastPayload/APNsPayload/pushType``.
    ///   - priority: nil for the payload's own: ``HoldfastPayload/APNsPayload/priority``.
    /// - Throws: ``HoldfastPayload/APNsPayloadError``: the payload exceeds the limit of its push type, or a part of it can't
    ///   be JSON.
    public init(
        token: DeviceToken, topic: String, payload: APNsPayload, pushType: PushType? = nil, priority: Priority? = nil,
        expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        tokenRegisteredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = [],
        context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil,
        newestWins: Bool = false
    ) throws(APNsPayloadError) {
        let type = pushType ?? payload.pushType
        let limit = type == .voip ? APNsPayload.largeLimit : APNsPayload.limit
        self.init(
            token: token, topic: topic, payload: try payload.encoded(limit: limit), pushType: type,
            priority: priority ?? payload.priority(as: type), expiration: expiration, collapseID: collapseID, id: id,
            tokenRegisteredAt: tokenRegisteredAt, guarantee: guarantee, tag: tag, context: context,
            deliverAfter: deliverAfter, deliveryHours: deliveryHours, newestWins: newestWins)
    }

    /// Creates a broadcast with a built payload: an update of every Live Activity that follows the channel.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, without `.push-type.liveactivity`.
    ///   - priority: nil for the payload's own.
    ///   - expiration: see `PushNotification(channel:topic:payload:)` without a built payload.
    /// - Throws: ``HoldfastPayload/APNsPayloadError``: the payload exceeds ``HoldfastPayload/APNsPayload/largeLimit``, or a
    ///   part of it can't be JSON.
    public init(
        channel: BroadcastChannel, topic: String, payload: APNsPayload, priority: Priority? = nil,
        expiration: Expiration? = nil, id: NotificationID? = nil, guarantee: Guarantee = .atLeastOnce,
        tag: [UInt8] = [], context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil
    ) throws(APNsPayloadError) {
        self.init(
            channel: channel, topic: topic, payload: try payload.encoded(limit: APNsPayload.largeLimit),
            priority: priority ?? payload.priority(as: .liveactivity), expiration: expiration, id: id,
            guarantee: guarantee, tag: tag, context: context, deliverAfter: deliverAfter, deliveryHours: deliveryHours)
    }
}

extension APNsPayload {
    /// Whether the payload shows, sounds or counts anything.
    private var isSeen: Bool { alert != nil || sound != nil || badge != nil }

    var isForLiveActivity: Bool { event != nil || contentState != nil || attributes != nil }

    /// The push type that the payload is for: `mdm` and `liveactivity` by their keys, `widgets` where content has
    /// changed, `background` where there is only work for the app, otherwise `alert`. A payload can't tell `voip`,
    /// `controls` and the other types.
    public var pushType: PushType {
        if mdm != nil { return .mdm }
        if isForLiveActivity { return .liveactivity }
        if isContentChanged { return .widgets }
        return isContentAvailable && !isSeen ? .background : .alert
    }

    /// The priority for ``pushType``: 5 where nothing is shown, heard or counted, because a device may then save power;
    /// nil leaves it to Apple's default, 10.
    public var priority: Priority? { priority(as: pushType) }

    func priority(as type: PushType) -> Priority? {
        switch type {
        case .background: .considerate
        case .alert, .liveactivity, .widgets, .controls: isSeen ? nil : .considerate
        // Notifications of the other types must not wait.
        default: nil
        }
    }
}
