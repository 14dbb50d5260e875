internal import Holdfast

/// The value of `holdfast-outcome` in an answer: how far the answer speaks for the push service.
enum OutcomeWord: String, Sendable, CaseIterable {
    /// On disk; the outcome is not known yet.
    case accepted
    /// Taken by the push service.
    case confirmed
    /// Accepted, and then rejected: status and reason are the push service's, or Holdfast's own.
    case rejected
    /// Not accepted: nothing of it is on disk.
    case refused
    /// Accepted, and expired before it could be sent.
    case expired
    /// Accepted, possibly sent, and not to be sent again.
    case unknown
    /// Accepted, and taken back by an operator before it was sent.
    case withdrawn
    /// Accepted, and a newer one has taken its place before it was sent.
    case superseded

    init(_ terminal: TerminalOutcome) {
        self =
            switch terminal {
            case .confirmed: .confirmed
            case .rejected: .rejected
            case .expired: .expired
            case .unknown: .unknown
            case .withdrawn: .withdrawn
            case .superseded: .superseded
            }
    }
}
