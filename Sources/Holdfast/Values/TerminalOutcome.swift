/// How a notification ended. Every accepted one ends in exactly one of these ways.
public enum TerminalOutcome: Hashable, Sendable, CustomStringConvertible {
    /// Taken by the service. (Not "delivered": nobody says that.)
    case confirmed
    /// Refused for good, by the service or by us.
    case rejected(Reason)
    /// Its expiration came before it could be sent.
    case expired
    /// Possibly sent, and never to be sent again.
    case unknown
    /// Taken back by an operator or by the application.
    case withdrawn

    /// The outcome in a word, with the reason of a rejection.
    public var description: String {
        switch self {
        case .confirmed: "confirmed"
        case .rejected(let reason): "rejected (\(reason))"
        case .expired: "expired"
        case .unknown: "unknown"
        case .withdrawn: "withdrawn"
        }
    }
}
