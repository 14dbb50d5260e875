/// When a request is answered: at once when its notification is on disk, or when its outcome is known.
enum AnswerMode: Hashable, Sendable {
    /// When it is on disk.
    case accepted
    /// When its outcome is on disk, or after this time at the latest.
    case wait(Duration)

    /// The longest wait, by configuration or header field.
    static let longestWait: Duration = .seconds(60)

    /// Reads the value of `holdfast-answer`: `accepted`, or `wait=` with a time such as `2s` or `500ms`.
    ///
    /// - Returns: nil for any other value.
    init?(header text: String) {
        if text == "accepted" {
            self = .accepted
            return
        }
        guard text.hasPrefix("wait="), let time = Self.duration(text.utf8.dropFirst(5)), time > .zero,
            time <= Self.longestWait
        else { return nil }
        self = .wait(time)
    }

    private static func duration(_ text: Substring.UTF8View) -> Duration? {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard (1...6).contains(digits.count), let number = Int(Substring(digits)) else { return nil }
        return switch String(Substring(text.dropFirst(digits.count))) {
        case "ms": .milliseconds(number)
        case "s": .seconds(number)
        default: nil
        }
    }
}
