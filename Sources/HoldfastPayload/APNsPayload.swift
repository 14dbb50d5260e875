public import Foundation

/// The payload of a notification: a typed property for everything that Apple documents in `aps` (*Generating a remote
/// notification*, *Starting and updating Live Activities with ActivityKit push notifications*), and any keys of the
/// app's own beside it.
///
///     var payload = APNsPayload(alert: "Your table is ready", sound: .default)
///     payload["table"] = 12
///     try await producer.submit(PushNotification(token: token, topic: "com.example.app", payload: payload))
///
/// Anyone on the way can read a payload, and so can the finder of a lost phone: put neither secrets nor personal data
/// into it. Send an identifier by which the app can fetch them, or encrypt them and set ``isMutableContent``.
public struct APNsPayload: Hashable, Sendable {
    /// The degree to which a notification may disturb. A level that Apple adds later can be given by its name.
    public struct InterruptionLevel: RawRepresentable, Hashable, Sendable {
        /// The value of `interruption-level`.
        public let rawValue: String
        /// Creates a level from Apple's name for it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Goes to the list, with neither light nor sound.
        public static let passive = InterruptionLevel(rawValue: "passive")
        /// Lights the screen and may sound: Apple's default.
        public static let active = InterruptionLevel(rawValue: "active")
        /// Breaks through a focus; needs an entitlement.
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        /// Sounds on a muted device; needs Apple's permission.
        public static let critical = InterruptionLevel(rawValue: "critical")
    }

    /// The change of a Live Activity. An event that Apple adds later can be given by its name.
    public struct LiveActivityEvent: RawRepresentable, Hashable, Sendable {
        /// The value of `event`.
        public let rawValue: String
        /// Creates an event from Apple's name for it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Starts a Live Activity on the device.
        public static let start = LiveActivityEvent(rawValue: "start")
        /// Updates a Live Activity.
        public static let update = LiveActivityEvent(rawValue: "update")
        /// Ends a Live Activity.
        public static let end = LiveActivityEvent(rawValue: "end")
    }

    // MARK: What is seen and heard

    /// `alert`: the text that is shown. Default: none.
    public var alert: Alert?
    /// `badge`: the number on the app's icon; nil leaves it unchanged, 0 removes it.
    public var badge: Int?
    /// `sound`: nil makes no sound.
    public var sound: Sound?
    /// `category`: the actions that are offered.
    public var category: String?
    /// `thread-id`: groups notifications.
    public var threadID: String?
    /// `target-content-id`: the window that is brought forward.
    public var targetContentID: String?
    /// `interruption-level`: nil is Apple's default, ``InterruptionLevel/active``.
    public var interruptionLevel: InterruptionLevel?
    /// `relevance-score`: 0 to 1 for the summary; any number for Live Activities, of which the greatest is shown first.
    public var relevanceScore: Double?
    /// `filter-criteria`: the focus that shows it.
    public var filterCriteria: String?
    /// `url-args`: the values that are put into the address of a Safari notification.
    public var urlArguments: [String]?

    // MARK: What the app does

    /// `content-available`: wakes the app in the background.
    public var isContentAvailable = false
    /// `mutable-content`: lets the app's extension change the notification before it is shown.
    public var isMutableContent = false
    /// `content-changed`: makes widgets and controls look for new content.
    public var isContentChanged = false

    // MARK: Live Activities

    /// `event`: the change of the Live Activity.
    public var event: LiveActivityEvent?
    /// `timestamp`: a device drops an update that is older than its last one.
    public var timestamp: Date?
    /// `content-state`: the app decodes it as its `ContentState`.
    public var contentState: JSONFragment?
    /// `attributes-type`: the name of the app's type, with ``LiveActivityEvent/start``.
    public var attributesType: String?
    /// `attributes`: the app decodes them as that type, with ``LiveActivityEvent/start``.
    public var attributes: JSONFragment?
    /// `stale-date`: the time from which the content shown is out of date.
    public var staleDate: Date?
    /// `dismissal-date`: the time at which the activity disappears, with ``LiveActivityEvent/end``.
    public var dismissalDate: Date?
    /// `input-push-channel`: the channel whose broadcasts update the activity, with ``LiveActivityEvent/start``.
    public var inputPushChannel: String?
    /// `input-push-token`: asks for a token that updates the activity, with ``LiveActivityEvent/start``.
    public var asksForPushToken = false

    // MARK: The rest

    /// `mdm`, beside `aps`: the PushMagic that the device gave its management server.
    public var mdm: String?
    /// Keys of `aps` without a property here, for later additions by Apple. A key that has a property is refused.
    public var otherKeys: [String: JSONFragment] = [:]
    /// The app's own keys, beside `aps`. Written in the order of their names.
    public var custom: [String: JSONFragment] = [:]

    /// Creates a payload; every other property starts at its default.
    public init(alert: Alert? = nil, badge: Int? = nil, sound: Sound? = nil) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
    }

    /// A payload that wakes the app and shows nothing.
    public static let background: APNsPayload = {
        var payload = APNsPayload()
        payload.isContentAvailable = true
        return payload
    }()

    /// Creates a payload that makes a managed device contact its server.
    ///
    /// - Parameter pushMagic: the value that the device gave when it checked in.
    public static func mdm(pushMagic: String) -> APNsPayload {
        var payload = APNsPayload()
        payload.mdm = pushMagic
        return payload
    }

    /// Creates the payload for one change of a Live Activity.
    ///
    /// - Parameters:
    /// - contentState: the app decodes it as its `ContentState`.
    /// - timestamp: a device drops an update that is older than its last one. Default: now.
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

    /// A key of the app's own, beside `aps`.
    public subscript(key: String) -> JSONFragment? {
        get { custom[key] }
        set { custom[key] = newValue }
    }
}
