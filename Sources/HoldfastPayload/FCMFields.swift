internal import Foundation
internal import Holdfast

/// The forms of single fields in Google's JSON, each checked as Google checks it.
enum FCMFields {
    /// - Throws: ``FCMPayloadError`` for a key that Google keeps to itself (*Message.data*).
    static func data(_ data: [String: String], _ field: String) throws(FCMPayloadError) -> JSONFragment {
        for key in data.keys.sorted()
        where key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.notification.") {
            throw .invalid(field, "has the key \(key), which Google reserves")
        }
        return object(data)
    }

    /// nil where there is none.
    static func texts(_ texts: [String: String]) -> JSONFragment? { texts.isEmpty ? nil : object(texts) }

    private static func object(_ texts: [String: String]) -> JSONFragment {
        var object = JSONObjectWriter()
        for key in texts.keys.sorted() { object.write(key, texts[key]) }
        return JSONFragment(bytes: object.finish())
    }

    /// The options of an SDK: the label, and one more; nil where there is neither.
    ///
    /// - Throws: ``FCMPayloadError`` for a label that is not 1 to 50 of the characters that Google takes.
    static func options(
        _ label: String?, _ field: String, _ other: (name: String, text: String?)? = nil
    ) throws(FCMPayloadError) -> JSONFragment? {
        if let label {
            let isLabel = label.utf8.allSatisfy { $0.isLetterOrDigit || "-_.~%".utf8.contains($0) }
            guard isLabel, (1...50).contains(label.utf8.count) else {
                throw .invalid("\(field).analyticsLabel", "is 1 to 50 letters, digits and -_.~%")
            }
        }
        var object = JSONObjectWriter()
        if let other { object.write(other.name, other.text) }
        object.write("analyticsLabel", label)
        return object.isEmpty ? nil : JSONFragment(bytes: object.finish())
    }

    /// The longest time to live: four weeks.
    static let greatestTimeToLive = Duration.seconds(28 * 86_400)

    /// Whole seconds.
    static func timeToLive(_ time: Duration?, _ field: String) throws(FCMPayloadError) -> String? {
        guard let time else { return nil }
        guard (.zero...greatestTimeToLive).contains(time) else {
            throw .invalid(field, "is 0 to 28 days; this one is \(time)")
        }
        return "\(time.components.seconds)s"
    }

    /// A google.protobuf.Duration that is not negative: `3s`, `0.25s`.
    static func duration(_ time: Duration, _ field: String) throws(FCMPayloadError) -> String {
        guard time >= .zero else { throw .invalid(field, "has no negative durations; this one is \(time)") }
        let (seconds, attoseconds) = time.components
        let nanoseconds = attoseconds / 1_000_000_000
        guard nanoseconds > 0 else { return "\(seconds)s" }
        var fraction = String(repeating: "0", count: 9 - "\(nanoseconds)".count) + "\(nanoseconds)"
        while fraction.last == "0" { fraction.removeLast() }
        return "\(seconds).\(fraction)s"
    }

    /// A google.protobuf.Timestamp: RFC 3339 in UTC, to the millisecond.
    static func time(_ date: Date?, _ field: String) throws(FCMPayloadError) -> String? {
        guard let date else { return nil }
        let seconds = date.timeIntervalSince1970
        // Until the year 9999.
        guard (0..<253_402_300_800).contains(seconds) else {
            throw .invalid(field, "is no date from 1970 to 9999")
        }
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: seconds != seconds.rounded()))
    }
}

extension JSONObjectWriter {
    /// Members that this program does not know.
    ///
    /// - Throws: ``FCMPayloadError`` for one that it knows.
    mutating func write(
        others: [String: JSONFragment], besides known: Set<String>, of field: String
    ) throws(FCMPayloadError) {
        for key in others.keys.sorted() {
            guard !known.contains(key) else { throw .invalid("\(field).\(key)", "has a property of its own") }
            write(key, others[key])
        }
    }
}
