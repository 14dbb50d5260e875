public import Foundation

extension FCMPayload {
    /// What Android shows: `AndroidNotification`, and `AndroidNotificationV2` in an ``Android`` part of version 2. Its title, body
    /// and image go before those of ``FCMPayload/Notification``.
    public struct AndroidNotification: Hashable, Sendable {
        /// `title`
        public var title: String?
        /// `body`: the text.
        public var body: String?
        /// `titleLocKey` and `titleLocArgs`: a title from the app's string resources.
        public var localizedTitle: LocalizedText?
        /// `bodyLocKey` and `bodyLocArgs`: a text from the app's string resources.
        public var localizedBody: LocalizedText?
        /// `image`: the URL of a picture that the device fetches, up to 1 MB.
        public var image: String?
        /// `icon`: a drawable resource of the app. Default: the launcher's icon.
        public var icon: String?
        /// `color`: of the icon, as `#rrggbb`.
        public var color: String?
        /// `sound`: `default`, or a file in the app's `/res/raw`.
        public var sound: String?
        /// `tag`: replaces the notification with the same tag (and ``id``) that is shown.
        public var tag: String?
        /// `id`: distinguishes notifications of one tag. In version 2 only.
        public var id: Int32?
        /// `clickAction`: starts the activity with this intent filter.
        public var clickAction: String?
        /// `channelId`: a notification channel that the app has made. Default: that of the app's manifest.
        public var channelID: String?
        /// `ticker`: the text for accessibility services.
        public var ticker: String?
        /// `sticky`: stays when the user taps it.
        public var isSticky = false
        /// `eventTime`: by which notifications are sorted. Years 1970 to 9999.
        public var eventTime: Date?
        /// `localOnly`: is not shown on another device, such as a watch.
        public var isLocalOnly = false
        /// `notificationPriority`: on Android 7.1 and older; later systems go by the channel.
        public var priority: Priority?
        /// `defaultSound`: the system's sound.
        public var hasDefaultSound = false
        /// `defaultVibrateTimings`: the system's pattern, in place of ``vibrateTimings``.
        public var hasDefaultVibration = false
        /// `defaultLightSettings`: the system's light, unless ``lightSettings`` are given.
        public var hasDefaultLight = false
        /// `vibrateTimings`: the wait before the vibrator is on, how long it is on, off, on again, and so forth. Not negative.
        public var vibrateTimings: [Duration]?
        /// `visibility`: on a locked screen. nil is Google's default, ``Visibility/private``.
        public var visibility: Visibility?
        /// `notificationCount`: the items that it stands for, for launchers with badges. 0 or more; 0 is the system's default.
        public var notificationCount: Int32?
        /// `lightSettings`: the device's LED.
        public var lightSettings: Light?
        /// `proxy`: whether Google Play services may show it for the app. Not in version 2.
        public var proxy: Proxy?
        /// `bypassProxyNotification`: the app shows it itself. Google calls it deprecated; not in version 2.
        public var bypassesProxy: Bool?
        /// Members without a property here, for later additions by Google. A member that has a property is refused.
        public var otherKeys: [String: JSONFragment] = [:]

        /// Creates a notification; every other property starts at its default.
        public init(title: String? = nil, body: String? = nil, image: String? = nil) {
            self.title = title
            self.body = body
            self.image = image
        }
    }
}

extension FCMPayload.AndroidNotification {
    /// A string resource of the app, with the arguments of its text.
    public struct LocalizedText: Hashable, Sendable {
        /// The name of the string resource.
        public var key: String
        /// The values that replace the placeholders of the text, in order.
        public var arguments: [String]

        /// Creates a reference to a string resource.
        public init(_ key: String, _ arguments: String...) { self.init(key, arguments: arguments) }

        /// Creates a reference to a string resource with its arguments in an array.
        public init(_ key: String, arguments: [String]) {
            self.key = key
            self.arguments = arguments
        }
    }

    /// The attention that it asks for. A priority that Google adds later can be given by its name.
    public struct Priority: RawRepresentable, Hashable, Sendable {
        /// The value of `notificationPriority`.
        public let rawValue: String
        /// Creates a priority from Google's name for it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// May be shown to nobody, but in a long list.
        public static let min = Priority(rawValue: "PRIORITY_MIN")
        /// Shown smaller, or further below.
        public static let low = Priority(rawValue: "PRIORITY_LOW")
        /// The app's default.
        public static let `default` = Priority(rawValue: "PRIORITY_DEFAULT")
        /// Shown larger, or further above.
        public static let high = Priority(rawValue: "PRIORITY_HIGH")
        /// For what needs the user at once.
        public static let max = Priority(rawValue: "PRIORITY_MAX")
    }

    /// What a locked screen shows. A visibility that Google adds later can be given by its name.
    public struct Visibility: RawRepresentable, Hashable, Sendable {
        /// The value of `visibility`.
        public let rawValue: String
        /// Creates a visibility from Google's name for it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// That there is one, and not its content.
        public static let `private` = Visibility(rawValue: "PRIVATE")
        /// All of it.
        public static let `public` = Visibility(rawValue: "PUBLIC")
        /// Nothing.
        public static let secret = Visibility(rawValue: "SECRET")
    }

    /// Whether Google Play services may show it for the app. A setting that Google adds later can be given by its name.
    public struct Proxy: RawRepresentable, Hashable, Sendable {
        /// The value of `proxy`.
        public let rawValue: String
        /// Creates a setting from Google's name for it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It may.
        public static let allow = Proxy(rawValue: "ALLOW")
        /// It may not.
        public static let deny = Proxy(rawValue: "DENY")
        /// It may where the device has lowered the message's priority: Google's default.
        public static let ifPriorityLowered = Proxy(rawValue: "IF_PRIORITY_LOWERED")
    }

    /// The device's LED.
    public struct Light: Hashable, Sendable {
        /// Parts of the colour, each 0 to 1.
        public var red, green, blue: Double
        /// The opacity, 0 to 1; nil is opaque.
        public var alpha: Double?
        /// How long it is on, and then off. Not negative.
        public var on, off: Duration

        /// Creates a light that blinks.
        public init(red: Double, green: Double, blue: Double, alpha: Double? = nil, on: Duration, off: Duration) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
            (self.on, self.off) = (on, off)
        }
    }
}
