/// What a ``MockBehavior`` has the server do with one request.
public struct MockAnswer: Sendable {
    public enum Content: Sendable {
        /// What the server would do without a behavior: validate, then 200 or a rejection.
        case validated
        /// 200, without a look at the request. In the ledger.
        case accepted
        /// Taken, and in the ledger, but never answered: what a sender sees when a connection dies at the wrong moment.
        case acceptedInSilence
        case rejected(MockRejection)
        /// Anything. Field names in lower case. Not in the ledger, whatever the status.
        case response(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [])
        /// RST_STREAM with a code of RFC 9113 section 7. Not taken.
        case reset(code: UInt32)
        /// Not taken, never answered.
        case silence
    }

    /// What happens to the connection once this answer has gone out.
    public enum Ending: Sendable {
        /// It is closed. Answers that are still being delayed are not given.
        case close
        /// GOAWAY, then it is closed, as with ``close``.
        case goAwayAndClose(MockGoAway)
        /// GOAWAY; what came before it is still answered, what comes after is ignored, and when nothing is left to be
        /// answered the connection is closed.
        case goAwayAndDrain(MockGoAway)

        /// The same, its GOAWAY naming the stream at which the connection was ended where it names no other: the client
        /// may have opened more since, which nobody has looked at.
        func from(_ streamID: UInt32) -> Ending {
            switch self {
            case .close: self
            case .goAwayAndClose(let goAway): .goAwayAndClose(goAway.from(streamID))
            case .goAwayAndDrain(let goAway): .goAwayAndDrain(goAway.from(streamID))
            }
        }
    }

    public var content: Content
    /// How much later than the server's own ``MockAPNsConfiguration/delay`` it is given; in whole milliseconds.
    public var delay: Duration
    /// The most bytes of the body in one DATA frame. Default: as many as fit.
    public var bodyFrameByteCount: Int?
    /// Announced to the client right behind this answer, as SETTINGS_MAX_CONCURRENT_STREAMS. Default: no change.
    public var maxConcurrentStreams: Int?
    /// Later requests on this connection are not looked at. Default: the connection stays.
    public var ending: Ending?

    public init(
        _ content: Content = .validated, delay: Duration = .zero, bodyFrameByteCount: Int? = nil,
        maxConcurrentStreams: Int? = nil, ending: Ending? = nil
    ) {
        self.content = content
        self.delay = delay
        self.bodyFrameByteCount = bodyFrameByteCount
        self.maxConcurrentStreams = maxConcurrentStreams
        self.ending = ending
    }
}

/// What a GOAWAY says.
public struct MockGoAway: Sendable {
    /// A code of RFC 9113 section 7; 0 is NO_ERROR.
    public var code: UInt32
    /// What it claims to be the last stream processed. Default: the truth.
    public var lastStreamID: UInt32?
    /// Apple writes `{"reason":"…"}` here.
    public var debugData: String

    public init(code: UInt32 = 0, lastStreamID: UInt32? = nil, debugData: String = "") {
        self.code = code
        self.lastStreamID = lastStreamID
        self.debugData = debugData
    }

    fileprivate func from(_ streamID: UInt32) -> MockGoAway {
        var copy = self
        copy.lastStreamID = lastStreamID ?? streamID
        return copy
    }

    /// With one of Apple's reasons as it writes them there.
    public init(reason: String) {
        self.init(debugData: #"{"reason":"\#(reason)"}"#)
    }
}
