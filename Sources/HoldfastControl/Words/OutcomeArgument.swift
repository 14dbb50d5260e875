package import Holdfast

/// The texts of a question for outcomes: of a query behind a `?`, and of the tool's flags.
package enum OutcomeArgument {
    /// Why a text is none: a sentence with its full stop, for people.
    package struct Fault: Error, Hashable {
        package let message: String

        package init(message: String) { self.message = message }
    }

    /// The words for how a notification ends.
    package static let endings = ["confirmed", "rejected", "expired", "unknown", "withdrawn", "superseded"]

    package static func cursor(_ text: String) throws(Fault) -> OutcomeCursor {
        guard let number = number(text) else {
            throw Fault(
                message: "\(quoted(text)) is no cursor: a whole number, as outcomes have it, or 0 for the beginning.")
        }
        return OutcomeCursor(number)
    }

    package static func uid(_ text: String) throws(Fault) -> UID {
        guard let number = number(text), number > 0 else {
            throw Fault(message: "\(quoted(text)) is no UID: a whole number from 1 on.")
        }
        return UID(number)
    }

    package static func id(_ text: String) throws(Fault) -> NotificationID {
        guard let id = NotificationID(text) else { throw Fault(message: "\(quoted(text)) is no UUID.") }
        return id
    }

    package static func token(_ text: String) throws(Fault) -> Recipient {
        do throws(Refusal) { return .device(try DeviceToken(text)) } catch { throw Fault(message: "\(error.detail).") }
    }

    package static func channel(_ text: String) throws(Fault) -> Recipient {
        do throws(Refusal) { return .channel(try BroadcastChannel(text)) } catch {
            throw Fault(message: "\(error.detail).")
        }
    }

    package static func address(_ text: String) throws(Fault) -> Recipient {
        do throws(Refusal) {
            return .service(try ServiceAddress(notation: text))
        } catch {
            throw Fault(message: "\(error.detail).")
        }
    }

    /// The name of a Producer, as the journal has it.
    package static func producer(_ text: String) throws(Fault) -> String {
        try name(text, "the name of a producer", in: 1...64)
    }

    package static func topic(_ text: String) throws(Fault) -> String {
        try name(text, "a topic", in: 1...NotificationValidator.maximumTopicByteCount)
    }

    package static func tag(_ text: String) throws(Fault) -> [UInt8] {
        Array(try name(text, "a tag", in: 1...NotificationValidator.maximumTagByteCount).utf8)
    }

    private static func name(_ text: String, _ what: String, in lengths: ClosedRange<Int>) throws(Fault) -> String {
        let count = text.utf8.count
        guard !lengths.contains(count) else { return text }
        throw Fault(
            message: count == 0
                ? "it is empty: \(what) has \(lengths.lowerBound) to \(lengths.upperBound) bytes; leave it out for any."
                : "\(what) has \(lengths.lowerBound) to \(lengths.upperBound) bytes, and this has \(count).")
    }

    package static func ending(_ text: String) throws(Fault) -> String {
        guard endings.contains(text) else {
            throw Fault(message: "\(quoted(text)) is no outcome: one of \(endings.joined(separator: ", ")).")
        }
        return text
    }

    /// RFC 3339, Unix seconds, or how long ago: `2026-11-21T12:00:00Z`, `1795262400`, `10m`.
    package static func time(_ text: String, now: WallTime) throws(Fault) -> WallTime {
        if let time = Timestamp.parse(text) { return time }
        if let seconds = number(text), seconds <= 253_402_300_799 { return WallTime(seconds: Int64(seconds)) }
        guard let ago = DurationText.value(text) else {
            throw Fault(
                message:
                    "\(quoted(text)) is no time: RFC 3339 (2026-11-21T12:00:00Z), Unix seconds (1795262400), or how long "
                    + "ago (30s, 10m, 1h, 7d).")
        }
        return now.advanced(by: .zero - ago)
    }

    package static func count(_ text: String, in range: ClosedRange<Int>) throws(Fault) -> Int {
        guard let number = number(text).flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw Fault(message: "\(quoted(text)) is no whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    private static func number(_ text: String) -> UInt64? {
        let isPlain = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isPlain ? UInt64(text) : nil
    }

    private static func quoted(_ text: String) -> String {
        text.utf8.count <= 100 ? text.debugDescription : "a text of \(text.utf8.count) bytes"
    }
}
