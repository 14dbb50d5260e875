/// One notification for one device, or a broadcast to a channel, with Apple's own attributes. Other services take the
/// attributes that they have an equivalent for.
public struct PushNotification: Hashable, Sendable {
    /// The `apns-id`, or the `apns-request-id` of a broadcast. Default: a new one, assigned at submission.
    public var id: NotificationID?
    /// The device, channel or address that it goes to.
    public var recipient: Recipient
    /// The `apns-topic`: mostly the app's bundle identifier, and always for a broadcast. Never empty.
    public var topic: String
    /// The body as it goes to the service: a JSON object, at most 4096 bytes (5120 for `voip` and for broadcasts).
    public var payload: [UInt8]
    /// The form of ``payload``. Apple's services take ``PayloadKind/json`` alone.
    public var payloadKind: PayloadKind
    /// The `apns-push-type`. Default: none is sent, which Apple takes for `alert`.
    public var pushType: PushType?
    /// The `apns-priority`. Default: 5 if the payload of an `alert` has neither `alert`, `sound` nor `badge`; else none is
    /// sent, which Apple takes for 10 (5 for `background`).
    public var priority: Priority?
    /// How long the service stores the notification for an offline device, and Holdfast keeps trying.
    ///
    /// Default: the service is told none, and Holdfast tries for ``EngineConfiguration/defaultLifetime`` (24 hours) from
    /// acceptance: ``Expiration/unstated(until:)``. For a broadcast it is ``Expiration/unstored(until:)`` with the same time,
    /// since a channel without storage takes nothing else.
    public var expiration: Expiration?
    /// The `apns-collapse-id`, at most 64 bytes of UTF-8.
    public var collapseID: String?
    /// When the app last registered the token. It lifts older blacklist entries.
    public var tokenRegisteredAt: WallTime?
    /// Whether a notification is sent again that the service may have taken. Default: ``Guarantee/atLeastOnce``.
    public var guarantee: Guarantee
    /// The application's own bytes, at most 256, returned with the outcome. Meant for a label that many share, such as a
    /// campaign's; see ``context`` for data of one notification.
    public var tag: [UInt8]
    /// The application's own bytes, at most 4096, kept with the notification. Never sent.
    public var context: [UInt8]
    /// The time before which the notification is not sent: it is *scheduled*. `nil`, or a time that is past, sends it at once.
    ///
    /// The default ``expiration`` counts from this time.
    public var deliverAfter: WallTime?
    /// The hours of the day within which the notification may be sent. `nil` allows every hour.
    public var deliveryHours: DeliveryHours?
    /// Whether a newer notification with the same recipient, topic and collapse id supersedes this one while it waits. Needs a
    /// ``collapseID``.
    public var newestWins: Bool
    /// The trace that the notification belongs to, whose spans its own are children of. Kept by an engine with a tracer, and by
    /// no other. `nil`: the trace of the task that submits it, if there is one.
    public var trace: TraceContext?
    /// The environment whose route it goes to, if routes share its topic. Not stored: its lane tells the route. Default: the
    /// environment of the topic's only route; of two, ``EngineConfiguration/defaultEnvironment``.
    public var environment: PushEnvironment?
    /// The environment that a sender seems to mean, in place of the default. Not stored.
    package var preferredEnvironment: PushEnvironment?
    /// Whether a gateway assigned ``id``, and not the sender, so that no repeat is recognised by it. Not stored.
    package var hasAssignedID = false

    /// Creates a notification for one device. It is checked when it is submitted.
    public init(
        token: DeviceToken, topic: String, payload: [UInt8], pushType: PushType? = nil, priority: Priority? = nil,
        expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        tokenRegisteredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = [],
        context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil,
        newestWins: Bool = false
    ) {
        self.init(
            recipient: .device(token), topic: topic, payload: payload, pushType: pushType, priority: priority,
            expiration: expiration, collapseID: collapseID, id: id, tokenRegisteredAt: tokenRegisteredAt,
            guarantee: guarantee, tag: tag, context: context, deliverAfter: deliverAfter, deliveryHours: deliveryHours,
            newestWins: newestWins)
    }

    /// Creates a broadcast: an update of every Live Activity that follows the channel, with push type `liveactivity`.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, without `.push-type.liveactivity`.
    ///   - payload: at most 5120 bytes.
    ///   - expiration: ``Expiration/at(_:)`` only for a channel that stores its most recent message; the service refuses it
    ///     for others with `BadExpirationDate`.
    public init(
        channel: BroadcastChannel, topic: String, payload: [UInt8], priority: Priority? = nil,
        expiration: Expiration? = nil, id: NotificationID? = nil, guarantee: Guarantee = .atLeastOnce,
        tag: [UInt8] = [], context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil
    ) {
        self.init(
            recipient: .channel(channel), topic: topic, payload: payload, pushType: .liveactivity, priority: priority,
            expiration: expiration, id: id, guarantee: guarantee, tag: tag, context: context,
            deliverAfter: deliverAfter, deliveryHours: deliveryHours)
    }

    /// Creates a notification through a service other than Apple's.
    ///
    /// - Parameters:
    ///   - topic: selects the route, such as a project's id: 1 to 255 visible ASCII characters.
    ///   - payload: in the form that the service takes.
    ///   - collapseID: the key by which a newer notification replaces an older one, if the service has that.
    ///   - registeredAt: when the app last registered the address.
    public init(
        address: ServiceAddress, topic: String, payload: [UInt8], payloadKind: PayloadKind = .json,
        priority: Priority? = nil, expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        registeredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = [],
        context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil,
        newestWins: Bool = false
    ) {
        self.init(
            recipient: .service(address), topic: topic, payload: payload, payloadKind: payloadKind, priority: priority,
            expiration: expiration, collapseID: collapseID, id: id, tokenRegisteredAt: registeredAt,
            guarantee: guarantee, tag: tag, context: context, deliverAfter: deliverAfter, deliveryHours: deliveryHours,
            newestWins: newestWins)
    }

    package init(
        recipient: Recipient, topic: String, payload: [UInt8], payloadKind: PayloadKind = .json,
        pushType: PushType? = nil, priority: Priority? = nil,
        expiration: Expiration? = nil, collapseID: String? = nil, id: NotificationID? = nil,
        tokenRegisteredAt: WallTime? = nil, guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = [],
        context: [UInt8] = [], deliverAfter: WallTime? = nil, deliveryHours: DeliveryHours? = nil,
        newestWins: Bool = false
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
        self.context = context
        self.deliverAfter = deliverAfter
        self.deliveryHours = deliveryHours
        self.newestWins = newestWins
    }

    /// Creates a notification for one device from JSON text.
    public init(token: DeviceToken, topic: String, payload: String, pushType: PushType? = nil) {
        self.init(token: token, topic: topic, payload: Array(payload.utf8), pushType: pushType)
    }

    /// The device token; `nil` for a broadcast, and for services other than Apple's.
    public var token: DeviceToken? { recipient.token }

    /// Whether the recipient is a channel or a topic that devices follow, and not a device.
    public var isBroadcast: Bool { recipient.isBroadcast }
}

/// The `apns-push-type`. Apple adds types, but an unknown one is mostly a mistake, so `submit` refuses types that are not in
/// ``known``.
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

    /// The suffix of a Live Activity's topic after the app's bundle identifier. Topics of broadcasts have none.
    package static let liveActivityTopicEnding = ".push-type.liveactivity"

    /// The types that `submit` accepts, in the order of their codes in the packed form; append only.
    public static let known: [PushType] = [
        .alert, .background, .location, .voip, .complication, .fileprovider, .mdm, .liveactivity, .pushtotalk,
        .controls,
        .widgets,
    ]
}

/// The `apns-priority`. Apple has these three, so no case is added.
public enum Priority: UInt8, Hashable, Sendable {
    /// Deliver at once.
    case immediate = 10
    /// Deliver with regard to the device's battery.
    case considerate = 5
    /// Prefer the battery over everything else, and never wake the device.
    case low = 1
}

/// The `apns-expiration`, and how long Holdfast tries. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Expiration: Hashable, Sendable {
    /// One attempt, and nothing stored for an offline device (`apns-expiration: 0`).
    case once
    /// Both the service and Holdfast try until this time, in Unix seconds; greater than 0.
    case at(Int64)
    /// Nothing stored for an offline device (`apns-expiration: 0`). Holdfast tries until this time, in Unix seconds; greater
    /// than 0.
    case unstored(until: Int64)
    /// No `apns-expiration`: the service decides how long it stores the notification for an offline device. Holdfast tries
    /// until this time, in Unix seconds; greater than 0. The default of a notification without an expiration.
    case unstated(until: Int64)

    /// The value of `apns-expiration`; `nil` if none is sent.
    @inlinable public var unixSeconds: Int64? {
        switch self {
        case .once, .unstored: 0
        case .at(let seconds): seconds
        case .unstated: nil
        }
    }

    /// The time until which Holdfast tries, in Unix seconds; `nil` for one attempt.
    @inlinable public var deadline: Int64? {
        switch self {
        case .once: nil
        case .at(let seconds), .unstored(let seconds), .unstated(let seconds): seconds
        }
    }

    /// The same case with another time; ``once`` stays as it is.
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

    /// Restores an expiration from the value of `apns-expiration` and Holdfast's own deadline; `nil` if there is neither.
    package init?(unixSeconds: Int64?, ownDeadline: Int64?) {
        switch (unixSeconds, ownDeadline) {
        case (nil, nil): return nil
        case (let seconds?, nil): self.init(unixSeconds: seconds)
        case (nil, let deadline?): self = .unstated(until: deadline)
        case (_?, let deadline?): self = .unstored(until: deadline)
        }
    }

    /// The time until which Holdfast tries, if the service is told another; Unix seconds.
    package var ownDeadline: Int64? {
        switch self {
        case .once, .at: nil
        case .unstored(let deadline), .unstated(let deadline): deadline
        }
    }

    /// The meaning of a broadcast's `apns-expiration`: 0 only says that the channel stores nothing, so the expiration is left
    /// to acceptance (`nil`).
    package var ofBroadcast: Expiration? { self == .once ? nil : self }
}

/// Whether a notification is sent again that the service may have taken. It is or it isn't, so no case is added.
public enum Guarantee: UInt8, Hashable, Sendable, CaseIterable {
    /// It is sent again with the same `apns-id`, and counted as a possible duplicate.
    case atLeastOnce = 0
    /// It is not sent again; its outcome is *unknown*.
    case atMostOnce = 1
}

extension PushNotification {
    /// Its own expiration, or the one assigned at acceptance.
    func expiration(acceptedAt: WallTime, defaultLifetime: Duration) -> Expiration {
        // Of a channel the service has to be told one, and 0 is what each channel takes.
        let isToChannel = recipient.channel != nil
        if isToChannel, case .unstated(let deadline)? = expiration { return .unstored(until: deadline) }
        if let expiration { return expiration }
        let deadline = acceptedAt.advanced(by: defaultLifetime).seconds
        return isToChannel ? .unstored(until: deadline) : .unstated(until: deadline)
    }
}
