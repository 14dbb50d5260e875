extension FCMPayload {
    /// The part for Android: `android` (`AndroidConfig`), or `androidV2` (`AndroidConfigV2`) where ``version2`` is set.
    public struct Android: Hashable, Sendable {
        /// When Google delivers. A priority that Google adds later can be given by its name.
        public struct Priority: RawRepresentable, Hashable, Sendable {
            /// The value of `priority`.
            public let rawValue: String
            /// Creates a priority from Google's name for it.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// A sleeping device may wait. Google's default for messages of data alone.
            public static let normal = Priority(rawValue: "NORMAL")
            /// Wakes a sleeping device. Google's default for messages that are shown.
            public static let high = Priority(rawValue: "HIGH")
        }

        /// The form of `androidV2`, which Google takes in place of `android`. Closed: these are the two kinds that Google has.
        public enum Version2: Hashable, Sendable {
            /// `remoteNotification`: shown at once, without delay by the battery's care. ``Android/notification`` is what is shown.
            ///
            /// - Parameters:
            ///   - isMutable: the app may change it on the device before it is shown.
            ///   - isDataForVersion1: apps with an older SDK get a message of data.
            case remoteNotification(isMutable: Bool = false, isDataForVersion1: Bool = false)
            /// `backgroundSync`: not urgent; may be delayed and bundled. Shows nothing.
            case backgroundSync
        }

        /// `collapseKey`: of several messages that wait for a device, only the last is delivered. At most four keys a device.
        public var collapseKey: String?
        /// `priority`: nil is Google's default. With ``version2`` its kind says it.
        public var priority: Priority?
        /// `ttl`: how long Google keeps it for a device that is away, 0 to 28 days; 0 is now or never. Rounded down to seconds.
        /// Default: 28 days.
        public var timeToLive: Duration?
        /// `restrictedPackageName`: the only app that takes it.
        public var restrictedPackageName: String?
        /// `data`: in place of ``FCMPayload/data``; nil leaves that.
        public var data: [String: String]?
        /// `notification`: what Android shows, before ``FCMPayload/notification``.
        public var notification: AndroidNotification?
        /// `fcmOptions.analyticsLabel`: 1 to 50 letters, digits and `-_.~%`.
        public var analyticsLabel: String?
        /// `directBootOk`: also before the user has unlocked a device that has started.
        public var isAllowedInDirectBoot = false
        /// `bandwidthConstrainedOk`: also over a network that has little bandwidth.
        public var isAllowedOverConstrainedBandwidth = false
        /// `restrictedSatelliteOk`: also over a restricted satellite network.
        public var isAllowedOverRestrictedSatellite = false
        /// Makes the part `androidV2`. Default: nil, `android`.
        public var version2: Version2?
        /// Members without a property here, for later additions by Google. A member that has a property is refused.
        public var otherKeys: [String: JSONFragment] = [:]

        /// Creates the part; every other property starts at its default.
        public init(
            priority: Priority? = nil, timeToLive: Duration? = nil, notification: AndroidNotification? = nil
        ) {
            self.priority = priority
            self.timeToLive = timeToLive
            self.notification = notification
        }
    }
}

extension FCMPayload.Android {
    /// The name of the part, and its value.
    ///
    /// - Throws: ``FCMPayloadError`` for a value that Google refuses.
    func member() throws(FCMPayloadError) -> (name: String, value: JSONFragment) {
        let name = version2 == nil ? "android" : "androidV2"
        var object = JSONObjectWriter()
        object.write("collapseKey", collapseKey)
        if version2 != nil, priority != nil {
            throw .invalid(
                "androidV2.priority", "does not exist: a notification is urgent, and a background sync is not")
        }
        object.write("priority", priority?.rawValue)
        object.write("ttl", try FCMFields.timeToLive(timeToLive, "\(name).ttl"))
        object.write("restrictedPackageName", restrictedPackageName)
        object.write("data", try data.map { data throws(FCMPayloadError) in try FCMFields.data(data, "\(name).data") })
        object.write("fcmOptions", try FCMFields.options(analyticsLabel, "\(name).fcmOptions"))
        object.write("directBootOk", isAllowedInDirectBoot ? JSONFragment(true) : nil)
        object.write("bandwidthConstrainedOk", isAllowedOverConstrainedBandwidth ? JSONFragment(true) : nil)
        object.write("restrictedSatelliteOk", isAllowedOverRestrictedSatellite ? JSONFragment(true) : nil)
        try writeContent(to: &object)
        try object.write(others: otherKeys, besides: version2 == nil ? Self.knownKeys : Self.knownKeysV2, of: name)
        return (name, JSONFragment(bytes: object.finish()))
    }

    private func writeContent(to object: inout JSONObjectWriter) throws(FCMPayloadError) {
        switch version2 {
        case nil:
            object.write("notification", try fragment(of: notification, in: "android.notification", isVersion2: false))
        case .remoteNotification(let isMutable, let isDataForVersion1)?:
            var remote = JSONObjectWriter()
            remote.write("mutableContent", isMutable ? JSONFragment(true) : nil)
            remote.write("useAsV1DataMessage", isDataForVersion1 ? JSONFragment(true) : nil)
            let field = "androidV2.remoteNotification.notification"
            remote.write("notification", try fragment(of: notification, in: field, isVersion2: true))
            object.write("remoteNotification", JSONFragment(bytes: remote.finish()))
        case .backgroundSync?:
            guard notification == nil else {
                throw .invalid("androidV2.backgroundSync", "shows nothing, and the part has a notification")
            }
            object.write("backgroundSync", [:] as JSONFragment)
        }
    }

    private func fragment(
        of notification: FCMPayload.AndroidNotification?, in field: String, isVersion2: Bool
    ) throws(FCMPayloadError) -> JSONFragment? {
        guard let notification else { return nil }
        return try notification.fragment(field, isVersion2: isVersion2)
    }

    /// The members of `android` that have a property.
    static let knownKeys: Set<String> = [
        "collapseKey", "priority", "ttl", "restrictedPackageName", "data", "notification", "fcmOptions", "directBootOk",
        "bandwidthConstrainedOk", "restrictedSatelliteOk",
    ]
    /// The members of `androidV2` that have a property.
    static let knownKeysV2: Set<String> = knownKeys.subtracting(["priority", "notification"])
        .union(["remoteNotification", "backgroundSync"])
}
