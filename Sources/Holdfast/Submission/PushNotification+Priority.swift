extension PushNotification {
    /// The priority implied by the payload of a notification without one: 5 if it has no alert, sound or badge, since a device
    /// may then take its time. `nil` leaves it to Apple's default.
    ///
    /// By Apple's *Generating a remote notification*, priority 10 is for notifications that trigger an alert, sound or badge.
    /// Push types other than `alert` have meanings of their own, and other services have priorities in their payloads.
    var impliedPriority: Priority? {
        guard recipient.serviceAddress == nil, pushType == nil || pushType == .alert else { return nil }
        do throws(JSONFault) {
            return try Self.isSeen(payload.span) ? nil : .considerate
        } catch {
            // Not JSON, which is refused elsewhere.
            return nil
        }
    }

    /// Whether `aps` has something for the user. Goes into `aps` where it meets it, and no further than it must.
    private static func isSeen(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard var aps = try JSONMembers.aps(of: bytes, in: 0..<bytes.count) else { return false }
        while let name = try aps.nextName(bytes) {
            if JSONScanner.isNoticed(bytes, in: name) { return true }
        }
        return false
    }
}
