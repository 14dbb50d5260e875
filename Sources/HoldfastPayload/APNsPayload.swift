public import Foundation

/// What a notification carries, with a name and a type for everything that Apple documents in `aps`
/// (*Generating a remote notification*, *Starting and updating Live Activities with ActivityKit push notifications*), and
/// whatever an app wants beside it.
///
///     var payload = APNsPayload(alert: "Your table is ready", sound: .default)
///     payload["table"] = 12
///     try await producer.submit(PushNotification(payload: payload, token: token, topic: "com.example.app"))
///
/// Anyone on the way can read a payload, and so can whoever finds the phone: put neither secrets nor personal data into
/// it. Send what the app can fetch them by, or encrypt them and set ``isMutableContent``.
public struct APNsPayload: Hashable, Sendable {
    /// How much a notification may disturb. One that Apple adds can be said by its name.
    public struct InterruptionLevel: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Goes to the list, with neither light nor sound.
        public static let passive = InterruptionLevel(rawValue: "passive")
        /// Lights the screen and may sound: what Apple takes where nothing is said.
        public static let active = InterruptionLevel(rawValue: "active")
        /// Breaks through a focus; needs an entitlement.
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        /// Sounds on a muted device; needs Apple's permission.
        public static let critical = InterruptionLevel(rawValue: "critical")
    }

    /// What becomes of a Live Activity. One that Apple adds can be said by its name.
    public struct LiveActivityEvent: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let start = LiveActivityEvent(rawValue: "start")
        public static let update = LiveActivityEvent(rawValue: "update")
        public static let end = LiveActivityEvent(rawValue: "end")
    }

    // MARK: What is seen and heard

    /// `alert`
    public var alert: Alert?
    /// `badge`: nil leaves it as it is, 0 removes it.
    public var badge: Int?
    /// `sound`
    public var sound: Sound?
    /// `category`: which actions it offers.
    public var category: String?
    /// `thread-id`: what groups notifications.
    public var threadID: String?
    /// `target-content-id`: the window that is brought forward.
    public var targetContentID: String?
    /// `interruption-level`
    public var interruptionLevel: InterruptionLevel?
    /// `relevance-score`: 0 to 1 for the summary; any for Live Activities, among which the greatest goes first.
    public var relevanceScore: Double?
    /// `filter-criteria`: which focus shows it.
    public var filterCriteria: String?
    /// `url-args`: what is put into the address of a Safari notification.
    public var urlArguments: [String]?

    // MARK: What the app does

    /// `content-available`: wakes the app in the background.
    public var isContentAvailable = false
    /// `mutable-content`: lets the app's extension change it before it is shown.
    public var isMutableContent = false
    /// `content-changed`: widgets and controls look for new content.
    public var isContentChanged = false

    // MARK: Live Activities

    /// `event`
    public var event: LiveActivityEvent?
    /// `timestamp`: a device drops what is older than what it has.
    public var timestamp: Date?
    /// `content-state`: what the app decodes as its `ContentState`.
    public var contentState: JSONFragment?
    /// `attributes-type`: with ``LiveActivityEvent/start``, the name of the app's type.
    public var attributesType: String?
    /// `attributes`: with ``LiveActivityEvent/start``, what the app decodes as that type.
    public var attributes: JSONFragment?
    /// `stale-date`: from when on what is shown is out of date.
    public var staleDate: Date?
    /// `dismissal-date`: with ``LiveActivityEvent/end``, when it goes.
    public var dismissalDate: Date?
    /// `input-push-channel`: with ``LiveActivityEvent/start``, the channel whose broadcasts update it.
    public var inputPushChannel: String?
    /// `input-push-token`: with ``LiveActivityEvent/start``, asks for a token that updates it.
    public var asksForPushToken = false

    // MARK: The rest

    /// `mdm`, beside `aps`: the PushMagic that a device gave its management server.
    public var mdm: String?
    /// Keys of `aps` that have no property here, for what Apple thinks of later. A key that has one is refused.
    public var otherKeys: [String: JSONFragment] = [:]
    /// Keys beside `aps`, for the app. Written in the order of their names.
    public var custom: [String: JSONFragment] = [:]

    public init(alert: Alert? = nil, badge: Int? = nil, sound: Sound? = nil) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
    }

    /// Wakes the app, and shows nothing.
    public static let background: APNsPayload = {
        var payload = APNsPayload()
        payload.isContentAvailable = true
        return payload
    }()

    /// Asks a managed device to ask its server.
    ///
    /// - Parameter pushMagic: what the device gave when it checked in.
    public static func mdm(pushMagic: String) -> APNsPayload {
        var payload = APNsPayload()
        payload.mdm = pushMagic
        return payload
    }

    /// One change of a Live Activity.
    ///
    /// - Parameters:
    ///   - contentState: what the app decodes as its `ContentState`.
    ///   - timestamp: a device drops what is older than what it has.
    /// - Throws: ``APNsPayloadError`` when the state can't be JSON.
    public static func liveActivity(
        _ event: LiveActivityEvent, contentState: some Encodable, timestamp: Date = Date()
    ) throws(APNsPayloadError) -> APNsPayload {
        var payload = APNsPayload()
        payload.event = event
        payload.timestamp = timestamp
        payload.contentState = try .encoding(contentState)
        return payload
    }

    /// A key beside `aps`.
    public subscript(key: String) -> JSONFragment? {
        get { custom[key] }
        set { custom[key] = newValue }
    }
}
