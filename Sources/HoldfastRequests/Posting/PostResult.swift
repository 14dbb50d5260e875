/// What became of one request.
package enum PostResult: Hashable, Sendable {
    /// Answered with a status from 200 to 299: the receiver has it.
    case taken(status: Int)
    /// Answered with another status.
    case refused(status: Int, retryAfter: Duration?)
    /// Sent, at least in part, and not answered in full: the receiver may have it. For people.
    case unclear(String)
    /// No byte of it was sent. For people.
    case notSent(String)

    /// The status of the answer; nil without one.
    package var status: Int? {
        switch self {
        case .taken(let status), .refused(let status, _): status
        case .unclear, .notSent: nil
        }
    }
}
