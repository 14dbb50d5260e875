internal import Holdfast

/// When a request is answered: at once when its notification is on disk, or when its outcome is known.
enum AnswerMode: Hashable, Sendable {
    /// When it is on disk.
    case accepted
    /// When its outcome is on disk, or after this time at the latest.
    case wait(Duration)

    /// The longest wait, by configuration or header field.
    static let longestWait: Duration = .seconds(60)

    /// Reads the value of `holdfast-answer`: `accepted`, or `wait=` with a time as in the configuration: `2s`, `500ms`, `1m`.
    ///
    /// - Returns: nil for any other value.
    init?(header text: String) {
        if text == "accepted" {
            self = .accepted
            return
        }
        guard text.hasPrefix("wait="), let time = DurationText.value(String(text.dropFirst(5))), time > .zero,
            time <= Self.longestWait
        else { return nil }
        self = .wait(time)
    }
}
