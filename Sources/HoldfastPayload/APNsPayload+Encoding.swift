internal import Foundation

extension APNsPayload {
    /// The most bytes of a payload that APNs takes (Apple: *Sending notification requests to APNs*).
    public static let limit = 4096
    /// The most bytes of a payload of push type `voip`, and of a broadcast.
    public static let largeLimit = 5120

    /// Encodes the payload as JSON: `aps` first, its keys in the order of this type's properties, then the other keys
    /// by name. Equal payloads give equal bytes.
    ///
    /// - Parameter limit: the most bytes; nil for no limit. Default: ``limit``.
    /// - Throws: ``APNsPayloadError``: the payload is too large, or a part of it can't be JSON.
    public func encoded(limit: Int? = Self.limit) throws(APNsPayloadError) -> [UInt8] {
        var object = JSONObjectWriter()
        let aps = try encodedAPS()
        if !aps.isEmpty || mdm == nil { object.write("aps", JSONFragment(bytes: aps.finish())) }
        object.write("mdm", mdm)
        for key in custom.keys.sorted() {
            guard key != "aps", key != "mdm" || mdm == nil else {
                throw APNsPayloadError(.invalid, "the key \(key) has properties of its own")
            }
            object.write(key, custom[key])
        }
        let bytes = object.finish()
        if let limit, bytes.count > limit { throw .tooLarge(bytes.count, limit: limit) }
        return bytes
    }

    /// The number of bytes that ``encoded(limit:)`` gives.
    ///
    /// - Throws: ``APNsPayloadError`` when a part of it can't be JSON.
    public func byteCount() throws(APNsPayloadError) -> Int { try encoded(limit: nil).count }

    private func encodedAPS() throws(APNsPayloadError) -> JSONObjectWriter {
        var aps = JSONObjectWriter()
        let isForLiveActivity = isForLiveActivity
        aps.write(
            "alert",
            try alert.map { alert throws(APNsPayloadError) in
                try alert.fragment(isForLiveActivity: isForLiveActivity)
            })
        aps.write("badge", try checkedBadge())
        aps.write("sound", try sound.map { sound throws(APNsPayloadError) in try sound.fragment })
        aps.write("category", category)
        aps.write("thread-id", threadID)
        aps.write("target-content-id", targetContentID)
        aps.write("interruption-level", interruptionLevel?.rawValue)
        try aps.write("relevance-score", relevanceScore)
        aps.write("filter-criteria", filterCriteria)
        aps.write("url-args", urlArguments)
        aps.write("content-available", isContentAvailable ? 1 : nil)
        aps.write("mutable-content", isMutableContent ? 1 : nil)
        aps.write("content-changed", isContentChanged ? JSONFragment(true) : nil)
        aps.write("event", event?.rawValue)
        aps.write("timestamp", try Self.seconds(timestamp, "timestamp"))
        aps.write("content-state", contentState)
        aps.write("attributes-type", attributesType)
        aps.write("attributes", attributes)
        aps.write("stale-date", try Self.seconds(staleDate, "stale-date"))
        aps.write("dismissal-date", try Self.seconds(dismissalDate, "dismissal-date"))
        aps.write("input-push-channel", inputPushChannel)
        aps.write("input-push-token", asksForPushToken ? 1 : nil)
        for key in otherKeys.keys.sorted() {
            guard !Self.knownKeys.contains(key) else {
                throw APNsPayloadError(.invalid, "the key \(key) of aps has a property of its own")
            }
            aps.write(key, otherKeys[key])
        }
        return aps
    }

    private func checkedBadge() throws(APNsPayloadError) -> Int? {
        if let badge, badge < 0 {
            throw APNsPayloadError(.invalid, "a badge is 0, which removes it, or more; this one is \(badge)")
        }
        return badge
    }

    /// Unix seconds: the form of all of Apple's dates, except in an app's own types.
    private static func seconds(_ date: Date?, _ name: String) throws(APNsPayloadError) -> Int? {
        guard let date else { return nil }
        let seconds = date.timeIntervalSince1970.rounded(.down)
        // Until the year 9999.
        guard (0...253_402_300_799).contains(seconds) else {
            throw APNsPayloadError(.invalid, "\(name) is no date from 1970 to 9999")
        }
        return Int(seconds)
    }

    /// The keys of `aps` that have a property of their own.
    static let knownKeys: Set<String> = [
        "alert", "badge", "sound", "category", "thread-id", "target-content-id", "interruption-level",
        "relevance-score", "filter-criteria", "url-args", "content-available", "mutable-content", "content-changed",
        "event", "timestamp", "content-state", "attributes-type", "attributes", "stale-date", "dismissal-date",
        "input-push-channel", "input-push-token",
    ]
}
