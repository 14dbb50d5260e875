/// One notification for one device, or for all that follow a channel, with Apple's own attributes. Other services take those
/// of them that they have words for.
public struct PushNotification: Hashable, Sendable {
    /// The `apns-id`, or the `apns-request-id` of a broadcast. Default: a new one, given at submission.
    public var id: NotificationID?
    /// The device, channel or address that it goes to.
    public var recipient: Recipient
    /// The `apns-topic`, mostly the app's bundle identifier; of a broadcast always that. Never empty.
    public var topic: String
    /// The body as it goes to the service: a JSON object, at most 4096 bytes (5120 for `voip` and for broadcasts).
    public var payload: [UInt8]
    /// The form of ``payload``. Apple's services take ``PayloadKind/json`` alone.
    public var payloadKind: PayloadKind
    /// The `apns-push-type`. Default: none is sent, which Apple takes for `alert`.
    public var pushType: PushType?
    /// The `apns-priority`. Default: 5 where the payload of an `alert` has neither `alert`, `sound` nor `badge`; else none is
    /// sent, which Apple takes for 10 (5 for `background`).
    public var priority: Priority?
    /// Until when the service stores the notification for a device that is offline, and Holdfast keeps trying.
    /// Default: the service is told none, and Holdfast tries for the engine's default lifetime (24 hours) from acceptance on
    /// (``Expiration/unstated(until:)``); of a broadcast ``Expiration/unstored(until:)`` with that, since a channel without
    /// storage takes nothing else.
    public var expiration: Expiration?
    /// The `apns-collapse-id`, at most 64 bytes of UTF-8.
    public var collapseID: String?
    /// When the app last registered the token. A blacklist entry that is older than this does not hold any more.
    public var tokenRegisteredAt: WallTime?
    /// What happens to a notification that may or may not have been taken. Default: it goes again.
    public var guarantee: Guarantee
    /// Bytes of the application's own, at most 256, returned with the outcome.
    public var tag: [UInt8]
    /// Whether ``id`` was made on the way, by a gateway that must name it in its answer, and not by the sender: no repeat is
    /// recognised by it. Not kept.
    package var hasAssignedID = false

    /// Creates a notification for one device. It is checked when it is submitted.
    public init(
        token: DeviceToken, topic: String, payload: [UInt8], pushType: PushType? = nil, priority: Priority? = nil,
        expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        tokenRegisteredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = []
    ) {
        self.init(
            recipient: .device(token), topic: topic, payload: payload, pushType: pushType, priority: priority,
            expiration: expiration, collapseID: collapseID, id: id, tokenRegisteredAt: tokenRegisteredAt,
            guarantee: guarantee, tag: tag)
    }

    /// A broadcast: an update of every Live Activity that follows the channel, with push type `liveactivity`.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, without `.push-type.liveactivity`.
    ///   - payload: at most 5120 bytes.
    ///   - expiration: ``Expiration/at(_:)`` only for a channel that stores its most recent message; the service refuses it
    ///     for others with `BadExpirationDate`.
    public init(
        channel: BroadcastChannel, topic: String, payload: [UInt8], priority: Priority? = nil,
        expiration: Expiration? = nil, id: NotificationID? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = []
    ) {
        self.init(
            recipient: .channel(channel), topic: topic, payload: payload, pushType: .liveactivity, priority: priority,
            expiration: expiration, id: id, guarantee: guarantee, tag: tag)
    }

    /// A notification by another service than Apple's.
    ///
    /// - Parameters:
    ///   - topic: the key of its route, as a project's id: 1 to 255 visible ASCII characters.
    ///   - payload: in the form that the service takes.
    ///   - collapseID: the service's word under which a newer one replaces an older one, where it has that.
    ///   - registeredAt: when the app last registered the address.
    public init(
        address: ServiceAddress, topic: String, payload: [UInt8], payloadKind: PayloadKind = .json,
        priority: Priority? = nil, expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        registeredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = []
    ) {
        self.init(
            recipient: .service(address), topic: topic, payload: payload, payloadKind: payloadKind, priority: priority,
            expiration: expiration, collapseID: collapseID, id: id, tokenRegisteredAt: registeredAt,
            guarantee: guarantee, tag: tag)
    }

    package init(
        recipient: Recipient, topic: String, payload: [UInt8], payloadKind: PayloadKind = .json,
        pushType: PushType? = nil, priority: Priority? = nil,
        expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        tokenRegisteredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = []
    ) {
        self.id = id
        self.recipient = recipient
        self.topic = topic
        self.payload = payload
        self.payloadKind = payloadKind
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.tokenRegisteredAt = tokenRegisteredAt
        self.guarantee = guarantee
        self.tag = tag
    }

    /// - Parameter payload: JSON text.
    public init(token: DeviceToken, topic: String, payload: String, pushType: PushType? = nil) {
        self.init(token: token, topic: topic, payload: Array(payload.utf8), pushType: pushType)
    }

    /// Whose device it is for; nil for a broadcast, and for other services than Apple's.
    public var token: DeviceToken? { recipient.token }

    /// Whether it is for all that follow a channel or a topic.
    public var isBroadcast: Bool { recipient.isBroadcast }
}

/// The `apns-push-type`. Apple adds types; an unknown one is a mistake more often than news, so `submit` refuses those
/// that are not in ``known``.
public struct PushType: RawRepresentable, Hashable, Sendable {
    /// The value of the header.
    public let rawValue: String
    /// Creates a push type from the value of the header.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A visible alert, a sound or a badge.
    public static let alert = PushType(rawValue: "alert")
    /// A background update, without anything visible.
    public static let background = PushType(rawValue: "background")
    /// A request for the user's location.
    public static let location = PushType(rawValue: "location")
    /// An incoming VoIP call.
    public static let voip = PushType(rawValue: "voip")
    /// An update of a watchOS complication.
    public static let complication = PushType(rawValue: "complication")
    /// A change for a File Provider extension.
    public static let fileprovider = PushType(rawValue: "fileprovider")
    /// A request to contact the device's management server.
    public static let mdm = PushType(rawValue: "mdm")
    /// The start, an update or the end of a Live Activity.
    public static let liveactivity = PushType(rawValue: "liveactivity")
    /// An update of a Push to Talk session.
    public static let pushtotalk = PushType(rawValue: "pushtotalk")
    /// A reload of a control.
    public static let controls = PushType(rawValue: "controls")
    /// A reload of widgets.
    public static let widgets = PushType(rawValue: "widgets")

    /// What topics of Live Activities on devices have behind the app's bundle identifier, which a broadcast has alone.
    package static let liveActivityTopicEnding = ".push-type.liveactivity"

    /// In the order of their codes in the packed form; append only.
    public static let known: [PushType] = [
        .alert, .background, .location, .voip, .complication, .fileprovider, .mdm, .liveactivity, .pushtotalk,
        .controls,
        .widgets,
    ]
}

/// The `apns-priority`.
public enum Priority: UInt8, Hashable, Sendable {
    /// Send at once.
    case immediate = 10
    /// Send with regard to the device's battery.
    case considerate = 5
    /// Put the battery before everything else, and never wake the device.
    case low = 1
}

/// The `apns-expiration`, and for how long Holdfast tries.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Expiration: Hashable, Sendable {
    /// One attempt, and nothing stored for a device that is offline (`apns-expiration: 0`).
    case once
    /// Unix seconds; greater than 0.
    case at(Int64)
    /// Nothing stored for a device that is offline (`apns-expiration: 0`), and Holdfast tries until then: Unix seconds,
    /// greater than 0.
    case unstored(until: Int64)
    /// The service is told nothing (no `apns-expiration`), and keeps it for a device that is offline for as long as it
    /// pleases; Holdfast tries until then: Unix seconds, greater than 0. What acceptance makes of none at all.
    case unstated(until: Int64)

    /// The number that goes to the service; nil for none.
    @inlinable public var unixSeconds: Int64? {
        switch self {
        case .once, .unstored: 0
        case .at(let seconds): seconds
        case .unstated: nil
        }
    }

    /// Until when Holdfast tries, in Unix seconds; nil for one attempt.
    @inlinable public var deadline: Int64? {
        switch self {
        case .once: nil
        case .at(let seconds), .unstored(let seconds), .unstated(let seconds): seconds
        }
    }

    /// The same kind, with another time; one attempt stays one.
    package func moved(to deadline: Int64) -> Expiration {
        switch self {
        case .once: .once
        case .at: .at(deadline)
        case .unstored: .unstored(until: deadline)
        case .unstated: .unstated(until: deadline)
        }
    }

    /// Reads an `apns-expiration`: 0 is one attempt, any other number a time in Unix seconds.
    @inlinable public init(unixSeconds: Int64) { self = unixSeconds == 0 ? .once : .at(unixSeconds) }

    /// From what goes to the service, and until when Holdfast tries where that is another time; nil where nothing is said.
    package init?(unixSeconds: Int64?, ownDeadline: Int64?) {
        switch (unixSeconds, ownDeadline) {
        case (nil, nil): return nil
        case (let seconds?, nil): self.init(unixSeconds: seconds)
        case (nil, let deadline?): self = .unstated(until: deadline)
        case (_?, let deadline?): self = .unstored(until: deadline)
        }
    }

    /// Until when Holdfast tries, where the service is not told the same; Unix seconds.
    package var ownDeadline: Int64? {
        switch self {
        case .once, .at: nil
        case .unstored(let deadline), .unstated(let deadline): deadline
        }
    }

    /// What an `apns-expiration` asks for where it is a broadcast's: 0 says what the channel stores, not how often we may
    /// try, and so leaves that to acceptance (nil).
    package var ofBroadcast: Expiration? { self == .once ? nil : self }
}

/// What to do with a notification of which nobody can say whether the service took it.
public enum Guarantee: UInt8, Hashable, Sendable, CaseIterable {
    /// Send it again, with the same apns-id, and count it as a possible duplicate.
    case atLeastOnce = 0
    /// Do not send it again; its outcome is *unknown*.
    case atMostOnce = 1
}

extension PushNotification {
    /// Its own expiration, or the one that acceptance gives it.
    func expiration(acceptedAt: WallTime, defaultLifetime: Duration) -> Expiration {
        // Of a channel the service has to be told one, and 0 is what each channel takes.
        let isToChannel = recipient.channel != nil
        if isToChannel, case .unstated(let deadline)? = expiration { return .unstored(until: deadline) }
        if let expiration { return expiration }
        let deadline = acceptedAt.advanced(by: defaultLifetime).seconds
        return isToChannel ? .unstored(until: deadline) : .unstated(until: deadline)
    }
}
