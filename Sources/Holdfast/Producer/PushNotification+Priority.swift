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

    /// Whether `aps` has something for the user.
    private static func isSeen(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        var members = try JSONMembers(bytes, in: 0..<bytes.count)
        while let member = try members.next(bytes) {
            guard member.value.kind == .object, JSONScanner.isString(bytes, in: member.name, equalTo: "aps") else {
                continue
            }
            var keys = try JSONMembers(bytes, in: member.value.range)
            while let key = try keys.next(bytes) {
                for word in ["alert", "sound", "badge"] where JSONScanner.isString(bytes, in: key.name, equalTo: word) {
                    return true
                }
            }
            return false
        }
        return false
    }
}
