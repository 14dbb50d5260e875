extension FCMPayload.AndroidNotification {
    /// - Parameter field: the place in the message, for errors.
    /// - Throws: ``FCMPayloadError`` for a value that Google refuses.
    func fragment(_ field: String, isVersion2: Bool) throws(FCMPayloadError) -> JSONFragment {
        var object = JSONObjectWriter()
        writeTexts(to: &object)
        try writeLooks(to: &object, field)
        try writeBehaviour(to: &object, field)
        try writeVersion(to: &object, field, isVersion2: isVersion2)
        let known = isVersion2 ? Self.knownKeysV2 : Self.knownKeys
        try object.write(others: otherKeys, besides: known, of: field)
        return JSONFragment(bytes: object.finish())
    }

    private func writeTexts(to object: inout JSONObjectWriter) {
        object.write("title", title)
        object.write("body", body)
        object.write("titleLocKey", localizedTitle?.key)
        object.write("titleLocArgs", localizedTitle.flatMap { $0.arguments.isEmpty ? nil : $0.arguments })
        object.write("bodyLocKey", localizedBody?.key)
        object.write("bodyLocArgs", localizedBody.flatMap { $0.arguments.isEmpty ? nil : $0.arguments })
        object.write("ticker", ticker)
    }

    private func writeLooks(to object: inout JSONObjectWriter, _ field: String) throws(FCMPayloadError) {
        object.write("image", image)
        object.write("icon", icon)
        if let color {
            guard color.utf8.count == 7, color.hasPrefix("#"), color.dropFirst().allSatisfy({ $0.isHexDigit }) else {
                throw .invalid("\(field).color", "is # and six hex digits, as in #00ff7f")
            }
        }
        object.write("color", color)
        object.write("visibility", visibility?.rawValue)
        if let notificationCount, notificationCount < 0 {
            throw .invalid("\(field).notificationCount", "is 0 or more; this one is \(notificationCount)")
        }
        object.write("notificationCount", notificationCount.map(Int.init))
        object.write("defaultLightSettings", hasDefaultLight ? JSONFragment(true) : nil)
        object.write("lightSettings", try light("\(field).lightSettings"))
    }

    private func writeBehaviour(to object: inout JSONObjectWriter, _ field: String) throws(FCMPayloadError) {
        object.write("sound", sound)
        object.write("defaultSound", hasDefaultSound ? JSONFragment(true) : nil)
        object.write("tag", tag)
        object.write("clickAction", clickAction)
        object.write("channelId", channelID)
        object.write("sticky", isSticky ? JSONFragment(true) : nil)
        object.write("eventTime", try FCMFields.time(eventTime, "\(field).eventTime"))
        object.write("localOnly", isLocalOnly ? JSONFragment(true) : nil)
        object.write("notificationPriority", priority?.rawValue)
        object.write("defaultVibrateTimings", hasDefaultVibration ? JSONFragment(true) : nil)
        guard let vibrateTimings else { return }
        var texts: [String] = []
        for timing in vibrateTimings { texts.append(try FCMFields.duration(timing, "\(field).vibrateTimings")) }
        object.write("vibrateTimings", texts)
    }

    /// Writes the members that one of the two versions has alone.
    private func writeVersion(
        to object: inout JSONObjectWriter, _ field: String, isVersion2: Bool
    ) throws(FCMPayloadError) {
        if isVersion2 {
            guard proxy == nil else { throw .invalid("\(field).proxy", "does not exist in version 2") }
            guard bypassesProxy == nil else {
                throw .invalid("\(field).bypassProxyNotification", "does not exist in version 2")
            }
        } else if id != nil {
            throw .invalid("\(field).id", "exists in version 2 only: set version2 of the android part")
        }
        object.write("id", id.map(Int.init))
        object.write("proxy", proxy?.rawValue)
        object.write("bypassProxyNotification", bypassesProxy.map { JSONFragment($0) })
    }

    private func light(_ field: String) throws(FCMPayloadError) -> JSONFragment? {
        guard let light = lightSettings else { return nil }
        var color = JSONObjectWriter()
        for (name, part) in [("red", light.red), ("green", light.green), ("blue", light.blue), ("alpha", light.alpha)] {
            guard let part else { continue }
            guard (0...1).contains(part) else {
                throw .invalid("\(field).color.\(name)", "is 0 to 1; this one is \(part)")
            }
            color.write(name, JSONFragment(bytes: Array("\(part)".utf8)))
        }
        var object = JSONObjectWriter()
        object.write("color", JSONFragment(bytes: color.finish()))
        object.write("lightOnDuration", try FCMFields.duration(light.on, "\(field).lightOnDuration"))
        object.write("lightOffDuration", try FCMFields.duration(light.off, "\(field).lightOffDuration"))
        return JSONFragment(bytes: object.finish())
    }

    private static let knownKeysOfBoth: Set<String> = [
        "title", "body", "titleLocKey", "titleLocArgs", "bodyLocKey", "bodyLocArgs", "ticker", "image", "icon", "color",
        "visibility", "notificationCount", "defaultLightSettings", "lightSettings", "sound", "defaultSound", "tag",
        "clickAction", "channelId", "sticky", "eventTime", "localOnly", "notificationPriority", "defaultVibrateTimings",
        "vibrateTimings",
    ]
    /// The members of `AndroidNotification` that have a property.
    static let knownKeys = knownKeysOfBoth.union(["proxy", "bypassProxyNotification"])
    /// The members of `AndroidNotificationV2` that have a property.
    static let knownKeysV2 = knownKeysOfBoth.union(["id"])
}
