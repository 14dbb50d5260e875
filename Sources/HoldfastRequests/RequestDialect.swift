package import Holdfast
package import HoldfastHTTP2
package import HoldfastTransport

/// The part of an HTTP/2 service that is its own: how a request is authorized and written, and what an answer means.
///
/// Everything else is the same for all of them and lives in ``RequestSession``, which calls its dialect. A dialect reads no
/// clock and does no I/O. It may ask an authority that connections share for a token (`authorize`), because what the answer
/// to one request means depends on the token that all of them show.
package protocol RequestDialect: SendableMetatype {
    /// Requests that are handed over in one piece.
    associatedtype Batch: TicketBatch
    /// The result of a request that is not simply confirmed.
    associatedtype Result: RequestResult

    /// Whether a connection starts with one request at a time, until one has been taken.
    var startsAlone: Bool { get }

    /// Has an authorization of the right age at hand for the requests that are written next. Called before requests are
    /// started, and once a second.
    ///
    /// - Throws: why there is none; the connection ends with it.
    mutating func authorize(at now: Moment) throws(ConnectError)

    /// The peer allows its dynamic table of header fields this many bytes from now on.
    mutating func setHeaderTableSize(_ size: Int)

    /// Writes requests as long as `writer` takes them.
    ///
    /// - Parameter first: the first item of the batch that has not been written.
    /// - Returns: the first item that `writer` has not taken, or the batch's count.
    mutating func write(_ batch: borrowing Batch, from first: Int, to writer: inout RequestWriter) -> Int

    /// These were answered with status 200 and no body.
    mutating func confirmed(_ tickets: [Ticket])

    /// - Parameter isRetired: the connection's credentials have been replaced by others meanwhile.
    mutating func judge(
        _ response: HTTP2Response, to ticket: Ticket, at now: Moment, isRetired: Bool
    ) -> AnswerVerdict<Result>

    /// The service takes no more requests on this connection.
    mutating func judge(_ goAway: HTTP2GoAway, at now: Moment, isRetired: Bool) -> GoAwayVerdict<Result>

    /// All answers of one read have been judged.
    ///
    /// - Parameter open: the requests that are open yet. It looks at every stream: for rare events.
    mutating func finishReading(open: () -> [Ticket])
}

/// The result of one request, for the callers of its service.
package protocol RequestResult: Sendable {
    /// The service may have processed it.
    static func unknown(_ detail: String) -> Self
    /// The service has not processed it.
    static func notSent(_ detail: String) -> Self
    /// The service has not processed it, and this connection takes no more.
    static func notSentHere(_ detail: String) -> Self
}

extension SendResult: RequestResult {
    package static func notSentHere(_ detail: String) -> SendResult {
        SendResult(.neverProcessed(.newConnection), detail: detail)
    }

    /// Changes a refusal of old credentials, which says nothing about the new ones.
    package mutating func excuse(isRetired: Bool) {
        if isRetired, case .laneStopped = verdict { verdict = .neverProcessed(.newConnection) }
    }
}

/// The meaning of one answer.
package struct AnswerVerdict<Result: RequestResult>: Sendable {
    package var result: Result
    /// The meaning for the connection: see ``AnswerRecord``.
    package var standing: AnswerRecord.Standing
    /// The service has taken a request that was authorized as all others are: more than one may be open.
    package var isProof = false
    /// The reason why the connection should take nothing more; `nil` when it may.
    package var farewell: String?

    package init(_ result: Result, _ standing: AnswerRecord.Standing) {
        self.result = result
        self.standing = standing
    }
}

/// The meaning of a GOAWAY.
package struct GoAwayVerdict<Result: RequestResult>: Sendable {
    /// The result of requests that the service has not processed.
    package var result: Result
    /// The reason for the connection's end, for people.
    package var cause: String
    /// Whether the service has given a reason. Then ``result`` stands for all requests.
    package var hasReason: Bool
    /// The kind of failure, where the connection was not open yet.
    package var kind = ConnectError.Kind.temporary

    package init(_ result: Result, cause: String, hasReason: Bool) {
        self.result = result
        self.cause = cause
        self.hasReason = hasReason
    }
}
