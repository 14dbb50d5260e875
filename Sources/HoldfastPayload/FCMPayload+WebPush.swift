extension FCMPayload {
    /// The part for browsers: `webpush` (`WebpushConfig`).
    public struct WebPush: Hashable, Sendable {
        /// `headers`: of the Web Push protocol (RFC 8030, section 5), such as `TTL` and `Urgency`.
        public var headers: [String: String] = [:]
        /// `data`: in place of ``FCMPayload/data``; nil leaves that.
        public var data: [String: String]?
        /// `notification`: the options of the browser's `Notification`, by their names in the Web Notification API, such as `icon`
        /// and `requireInteraction`. Its `title` and `body` go before those of ``FCMPayload/Notification``.
        public var notification: [String: JSONFragment] = [:]
        /// `fcmOptions.link`: opens when the user clicks. An `https://` URL.
        public var link: String?
        /// `fcmOptions.analyticsLabel`: 1 to 50 letters, digits and `-_.~%`.
        public var analyticsLabel: String?
        /// Members without a property here, for later additions by Google. A member that has a property is refused.
        public var otherKeys: [String: JSONFragment] = [:]

        /// Creates the part; every other property starts at its default.
        public init(notification: [String: JSONFragment] = [:], link: String? = nil) {
            self.notification = notification
            self.link = link
        }

        /// - Throws: ``FCMPayloadError`` for a value that Google refuses.
        func fragment() throws(FCMPayloadError) -> JSONFragment {
            if let link, !link.lowercased().hasPrefix("https://") {
                throw .invalid("webpush.fcmOptions.link", "begins with https://: Google takes no other")
            }
            var object = JSONObjectWriter()
            object.write("headers", FCMFields.texts(headers))
            object.write(
                "data", try data.map { data throws(FCMPayloadError) in try FCMFields.data(data, "webpush.data") })
            if !notification.isEmpty {
                var options = JSONObjectWriter()
                for key in notification.keys.sorted() { options.write(key, notification[key]) }
                object.write("notification", JSONFragment(bytes: options.finish()))
            }
            object.write("fcmOptions", try FCMFields.options(analyticsLabel, "webpush.fcmOptions", ("link", link)))
            try object.write(others: otherKeys, besides: Self.knownKeys, of: "webpush")
            return JSONFragment(bytes: object.finish())
        }

        /// The members that have a property.
        static let knownKeys: Set<String> = ["headers", "data", "notification", "fcmOptions"]
    }
}
