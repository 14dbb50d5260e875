/// How a notification ended. Every accepted one ends in exactly one of these ways.
public enum TerminalOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The service took it. (It does not say whether it was delivered.)
    case confirmed
    /// The service or Holdfast refused it for good.
    case rejected(Reason)
    /// It expired before it could be sent.
    case expired
    /// It may have been sent, and is not sent again.
    case unknown
    /// An operator or the application took it back before it was sent.
    case withdrawn
    /// A newer notification took its place before it was sent, as its sender, its route or the configuration chose.
    case superseded

    /// The outcome in a word, with the reason of a rejection.
    public var description: String {
        switch self {
        case .confirmed: "confirmed"
        case .rejected(let reason): "rejected (\(reason))"
        case .expired: "expired"
        case .unknown: "unknown"
        case .withdrawn: "withdrawn"
        case .superseded: "superseded"
        }
    }

    /// The outcome in one word, without a reason.
    public var word: String {
        if case .rejected = self { "rejected" } else { description }
    }
}
