package import Holdfast

/// The story of an ended notification, in sentences for people: when it was accepted and sent, the answer, and its meaning. A
/// pure function of the outcome.
package struct OutcomeStory {
    private let outcome: Outcome
    private let guide: ReasonGuide?

    package init(_ outcome: Outcome) {
        self.outcome = outcome
        guide =
            switch outcome.terminal {
            case .rejected(let reason): ReasonGuide.of(reason, status: outcome.cause?.status)
            case .unknown: outcome.cause.map { ReasonGuide.of($0.reason) }
            default: nil
            }
    }

    /// The meaning of the outcome, in a sentence without its full stop.
    package var meaning: String { guide?.meaning ?? Self.meaning(of: outcome.terminal) }

    /// The advice, in a sentence without its full stop; nil if there is nothing to do.
    package var advice: String? { guide?.advice }

    /// The same of an outcome of which nothing else is known. Of a rejection see ``ReasonGuide``.
    package static func meaning(of terminal: TerminalOutcome) -> String {
        switch terminal {
        case .confirmed: "the push service took it; whether the device showed it, nobody says"
        case .rejected(let reason): ReasonGuide.of(reason).meaning
        case .expired: "its expiration came before it was taken"
        case .unknown:
            "it may have been sent, no answer came, and it is not sent again: nobody knows whether it was taken"
        case .withdrawn: "it was taken back before it was sent"
        case .superseded: "a newer notification took its place before it was sent, as was asked for"
        }
    }

    /// Each with its full stop, the first of them with the times.
    ///
    /// - Parameter time: how a time is said.
    package func sentences(time: (WallTime) -> String = Timestamp.format) -> [String] {
        var sentences = [course(time: time)]
        if let timestamp = outcome.cause?.timestamp {
            sentences.append("The service says so of its token since \(time(timestamp)).")
        }
        if let advice { sentences.append("What to do: \(advice).") }
        return sentences
    }

    /// The first of the sentences: the times, what was answered, and what that means.
    package func course(time: (WallTime) -> String = Timestamp.format) -> String {
        let history = outcome.history
        var course = "Accepted at \(time(history.acceptedAt))"
        if let sentAt = history.sentAt { course += ", sent at \(Timestamp.format(sentAt))" }
        if history.attempts > 1 { course += " (attempt \(history.attempts))" }
        return "\(course), and \(ending)."
    }

    /// The sentences in one line.
    package func text(time: (WallTime) -> String = Timestamp.format) -> String {
        sentences(time: time).joined(separator: " ")
    }

    /// `the service answered 410 Unregistered at 2026-11-26T00:10:02.120Z: the app is not on the device any more`
    private var ending: String {
        let time = Timestamp.format(outcome.settledAt)
        switch outcome.terminal {
        case .confirmed: return "the push service took it at \(time). \(Self.silence)"
        case .rejected(let reason):
            guard let status = outcome.cause?.status else { return "rejected with \(reason) at \(time): \(meaning)" }
            return "the service answered \(status) \(reason) at \(time): \(meaning)"
        case .expired where outcome.history.attempts > 0:
            return "expired at \(time): its expiration came before the push service took it"
        case .expired: return "expired at \(time): \(meaning)"
        case .unknown where outcome.cause?.reason == .withdrawn: return "taken back at \(time): \(meaning)"
        case .unknown: return "given up at \(time): \(meaning)"
        case .withdrawn: return "taken back at \(time): \(meaning)"
        case .superseded: return "superseded at \(time): \(meaning)"
        }
    }

    private static let silence = "Whether the device showed it, nobody says"
}
