extension FCMPayload {
    /// The part for Apple's devices: `apns` (`ApnsConfig`).
    public struct Apple: Hashable, Sendable {
        /// `payload`: what Apple's service is given. Goes before title and body of ``FCMPayload/Notification``.
        public var payload: APNsPayload?
        /// `headers`: of Apple's service, such as `apns-priority`. Google's defaults: `apns-expiration` in 30 days, `apns-priority`
        /// 10. A message of data alone must have `apns-priority` 5.
        public var headers: [String: String] = [:]
        /// `liveActivityToken`: the Live Activity that the ``payload`` starts, updates or ends.
        public var liveActivityToken: String?
        /// `fcmOptions.image`: the URL of a picture, before that of ``FCMPayload/Notification``.
        public var image: String?
        /// `fcmOptions.analyticsLabel`: 1 to 50 letters, digits and `-_.~%`.
        public var analyticsLabel: String?
        /// Members without a property here, for later additions by Google. A member that has a property is refused.
        public var otherKeys: [String: JSONFragment] = [:]

        /// Creates the part; every other property starts at its default.
        public init(payload: APNsPayload? = nil, headers: [String: String] = [:]) {
            self.payload = payload
            self.headers = headers
        }

        /// - Throws: ``FCMPayloadError``, also for a fault of the ``payload``.
        func fragment() throws(FCMPayloadError) -> JSONFragment {
            var object = JSONObjectWriter()
            object.write("headers", FCMFields.texts(headers))
            if let payload {
                do throws(APNsPayloadError) {
                    object.write("payload", JSONFragment(bytes: try payload.encoded(limit: nil)))
                } catch {
                    let kind: FCMPayloadError.Kind = error.kind == .notJSON ? .notJSON : .invalid
                    throw FCMPayloadError(kind, "apns.payload: \(error.message)")
                }
            }
            object.write("liveActivityToken", liveActivityToken)
            object.write("fcmOptions", try FCMFields.options(analyticsLabel, "apns.fcmOptions", ("image", image)))
            try object.write(others: otherKeys, besides: Self.knownKeys, of: "apns")
            return JSONFragment(bytes: object.finish())
        }

        /// The members that have a property.
        static let knownKeys: Set<String> = ["headers", "payload", "liveActivityToken", "fcmOptions"]
    }
}
