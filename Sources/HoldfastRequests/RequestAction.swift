package import Holdfast

/// An action that a ``RequestSession`` asks for. Bytes to write are not among them: see ``RequestSession/hasOutput``.
package enum RequestAction<Result: RequestResult>: Sendable {
    /// The service's SETTINGS have come: up to `capacity` requests may be handed over, and `streams` are under way at a time.
    case opened(capacity: Int, streams: Int)
    /// The service's SETTINGS have changed, or more than a first request may be under way now.
    case roomChanged(capacity: Int, streams: Int)
    /// Answered with status 200 and no body.
    case confirmed([Ticket])
    /// Answered otherwise, or given up.
    case results([(ticket: Ticket, result: Result)])
    /// The service has said something that stands for all requests, and there is none to tell it by.
    case told(Result)
    /// Nothing new goes out. What is open may still be answered.
    case draining
    /// The address at the other end is faulty. A text for people, to append to its name.
    case stalled(String)
    /// Write what there is, and close the channel.
    case close
    /// It is over before it was opened.
    case failed(ConnectError)
    /// It is over. Requests that were not answered and are not among these were not sent, those included that were on their
    /// way to the session. No cause is an end that was asked for.
    case ended(possiblySent: [Ticket], cause: String?)
}
