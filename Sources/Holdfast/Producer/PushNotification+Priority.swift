extension PushNotification {
    /// The priority that the payload asks for where none was given: 5 for what shows, sounds and counts nothing, since a
    /// device may then take its time. Nil leaves it to Apple's own default.
    ///
    /// Apple (*Generating a remote notification*): priority 10 is for what triggers an alert, sound or badge. Push types
    /// other than `alert` have meanings of their own.
    var impliedPriority: Priority? {
        guard pushType == nil || pushType == .alert else { return nil }
        do throws(JSONFault) {
            return try Self.isSeen(payload.span) ? nil : .considerate
        } catch {
            // Not JSON, which is refused elsewhere.
            return nil
        }
    }

    /// Whether `aps` has something for the user. Goes into `aps` where it meets it, and no further than it must.
    private static func isSeen(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        var cursor = JSONCursor(0..<bytes.count)
        guard cursor.enterObject(bytes) else { return false }
        while try cursor.findsMember(bytes) {
            let name = try cursor.skipName(bytes)
            cursor.skipSpace(bytes)
            guard JSONScanner.isString(bytes, in: name, equalTo: "aps"), cursor.enterObject(bytes) else {
                try cursor.skipValue(bytes, depth: 1)
                continue
            }
            while try cursor.findsMember(bytes) {
                let key = try cursor.skipName(bytes)
                if JSONScanner.isString(bytes, in: key, equalTo: "alert")
                    || JSONScanner.isString(bytes, in: key, equalTo: "sound")
                    || JSONScanner.isString(bytes, in: key, equalTo: "badge")
                {
                    return true
                }
                try cursor.skipValue(bytes, depth: 2)
            }
            return false
        }
        return false
    }
}
