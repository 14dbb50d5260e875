/// A message for Firebase Cloud Messaging, without its target: a typed property for everything in `Message` of Google's HTTP v1
/// interface (firebase.google.com: *REST Resource: projects.messages*).
///
///     var payload = FCMPayload(title: "Reservation", body: "Your table is ready")
///     payload.data["table"] = "12"
///     payload.android = .init(priority: .high, timeToLive: .seconds(3600))
///     let address = try ServiceAddress(.firebaseInstallation, fid)
///     try await producer.submit(PushNotification(address: address, project: "my-app-1a2b3", payload: payload))
///
/// Anyone on the way can read a message, and so can the finder of a lost phone: put neither secrets nor personal data into it.
public struct FCMPayload: Hashable, Sendable {
    /// The text that is shown on every platform. A platform's own part goes before it.
    public struct Notification: Hashable, Sendable {
        /// `title`
        public var title: String?
        /// `body`: the text.
        public var body: String?
        /// `image`: the URL of a picture that the device fetches. Android shows up to 1 MB.
        public var image: String?

        /// Creates a text that is shown as it is.
        public init(title: String? = nil, body: String? = nil, image: String? = nil) {
            self.title = title
            self.body = body
            self.image = image
        }
    }

    /// `notification`: what every platform shows. Default: nothing, and the app decides.
    public var notification: Notification?
    /// `data`: the app's own values. Google reserves the keys `from` and `message_type`, and all that begin with `google.` or
    /// `gcm.notification.`.
    public var data: [String: String] = [:]
    /// `android`, or `androidV2` where its ``Android/version2`` is set: for Android alone.
    public var android: Android?
    /// `apns`: for Apple's devices alone.
    public var apple: Apple?
    /// `webpush`: for browsers alone.
    public var webPush: WebPush?
    /// `fcmOptions.analyticsLabel`: 1 to 50 letters, digits and `-_.~%`.
    public var analyticsLabel: String?
    /// Members of the message without a property here, for later additions by Google. A member that has a property, or names
    /// the target, is refused.
    public var otherKeys: [String: JSONFragment] = [:]

    /// Creates a message; every other property starts at its default.
    ///
    /// - Parameter notification: what every platform shows; nil for a message of data alone.
    public init(notification: Notification? = nil, data: [String: String] = [:]) {
        self.notification = notification
        self.data = data
    }

    /// Creates a message that every platform shows.
    public init(title: String?, body: String?, image: String? = nil) {
        self.init(notification: Notification(title: title, body: body, image: image))
    }
}
