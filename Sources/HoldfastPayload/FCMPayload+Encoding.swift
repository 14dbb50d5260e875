extension FCMPayload {
    /// The most bytes of a message without its target that Holdfast takes (firebase.google.com: *About FCM messages*).
    public static let limit = 4096

    /// Encodes the message as JSON, with the names of Google's reference: its members in the order of this type's properties,
    /// then the others by name. Equal messages give equal bytes.
    ///
    /// - Parameter limit: the most bytes; nil for no limit. Default: ``limit``.
    /// - Throws: ``FCMPayloadError``: the message is too large, or Google would refuse one of its fields.
    public func encoded(limit: Int? = Self.limit) throws(FCMPayloadError) -> [UInt8] {
        var object = JSONObjectWriter()
        object.write("notification", notification.map(\.fragment))
        if !data.isEmpty { object.write("data", try FCMFields.data(data, "data")) }
        if let android {
            let part = try android.member()
            object.write(part.name, part.value)
        }
        if let apple { object.write("apns", try apple.fragment()) }
        if let webPush { object.write("webpush", try webPush.fragment()) }
        object.write("fcmOptions", try FCMFields.options(analyticsLabel, "fcmOptions"))
        for key in otherKeys.keys where Self.targets.contains(key) {
            throw .invalid(key, "is no part of the payload: give the target as the notification's address")
        }
        try object.write(others: otherKeys, besides: Self.knownKeys, of: "message")
        let bytes = object.finish()
        if let limit, bytes.count > limit { throw .tooLarge(bytes.count, limit: limit) }
        return bytes
    }

    /// The number of bytes that ``encoded(limit:)`` gives.
    ///
    /// - Throws: ``FCMPayloadError`` when Google would refuse one of its fields.
    public func byteCount() throws(FCMPayloadError) -> Int { try encoded(limit: nil).count }

    /// Shortens the body of ``notification``, at a character boundary, until the message fits. Nothing else is shortened.
    ///
    /// - Parameters:
    ///   - limit: bytes of the whole message, without its target.
    ///   - ending: replaces the text that was cut off. Default: `…`.
    /// - Throws: ``FCMPayloadError`` of kind `tooLarge` when the message does not fit even without this body, or has none.
    public func shortened(to limit: Int = Self.limit, ending: String = "…") throws(FCMPayloadError) -> FCMPayload {
        let count = try byteCount()
        guard count > limit else { return self }
        guard let body = notification?.body, !body.isEmpty else {
            throw .tooLarge(count, limit: limit, ", and it has no body to shorten")
        }
        guard let short = JSONText.shortened(body, ending: ending, of: count, to: limit) else {
            throw .tooLarge(count, limit: limit, ", and it is more than its notification's body that is too much")
        }
        var shortened = self
        shortened.notification?.body = short
        return shortened
    }

    private static let targets: Set<String> = ["name", "fid", "token", "topic", "condition"]
    /// The members of a message, but its target, that have a property.
    static let knownKeys: Set<String> = [
        "notification", "data", "android", "androidV2", "apns", "webpush", "fcmOptions",
    ]
}

extension FCMPayload.Notification {
    var fragment: JSONFragment {
        var object = JSONObjectWriter()
        object.write("title", title)
        object.write("body", body)
        object.write("image", image)
        return JSONFragment(bytes: object.finish())
    }
}
