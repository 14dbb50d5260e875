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
        /// The same, of what was taken and is in the ledger all the same.
        case acceptedAndReset(code: UInt32)
        /// Not taken, never answered.
        case silence
    }

    /// What happens to the connection once this answer has gone out: the usual ones of ``then``.
    public enum Ending: Sendable {
        /// It is closed. Answers that are still being delayed are not given.
        case close
        /// It ends with a TCP reset, in which what was written last may be lost.
        case reset
        /// GOAWAY, then it is closed, as with ``close``.
        case goAwayAndClose(MockGoAway)
        /// GOAWAY; what came before it is still answered, what comes after is ignored, and when nothing is left to be
        /// answered the connection is closed.
        case goAwayAndDrain(MockGoAway)

        var effects: [MockEffect] {
            switch self {
            case .close: [.close]
            case .reset: [.reset]
            case .goAwayAndClose(let goAway): [.goAway(goAway), .close]
            case .goAwayAndDrain(let goAway): [.goAway(goAway)]
            }
        }
    }

    public var content: Content
    /// How much later than the server's own ``MockAPNsConfiguration/delay`` it is given; in whole milliseconds.
    public var delay: Duration
    /// The most bytes of the body in one DATA frame. Default: as many as fit.
    public var bodyFrameByteCount: Int?
    /// How long before each DATA frame; in whole milliseconds.
    public var bodyPause: Duration
    /// Announced to the client right behind this answer, as SETTINGS_MAX_CONCURRENT_STREAMS. Default: no change.
    public var maxConcurrentStreams: Int?
    /// Later requests on this connection are not looked at. Default: the connection stays.
    public var ending: Ending?
    /// What else happens to the connection behind this answer, in order. Default: nothing. Behind one that takes place at once
    /// and ends the connection, or says GOAWAY, later requests are not looked at.
    public var then: [MockEffect]

    public init(
        _ content: Content = .validated, delay: Duration = .zero, bodyFrameByteCount: Int? = nil,
        bodyPause: Duration = .zero, maxConcurrentStreams: Int? = nil, ending: Ending? = nil, then: [MockEffect] = []
    ) {
        self.content = content
        self.delay = delay
        self.bodyFrameByteCount = bodyFrameByteCount
        self.bodyPause = bodyPause
        self.maxConcurrentStreams = maxConcurrentStreams
        self.ending = ending
        self.then = then
    }

    /// All that happens to the connection, behind the answer on this stream.
    func effects(behind streamID: UInt32) -> [MockEffect] {
        let streams = maxConcurrentStreams.map { [MockEffect.streams($0)] } ?? []
        return (streams + then + (ending?.effects ?? [])).map { $0.from(streamID) }
    }
}

/// What a GOAWAY says.
public struct MockGoAway: Sendable {
    /// A code of RFC 9113 section 7; 0 is NO_ERROR.
    public var code: UInt32
    /// What it claims to be the last stream processed. Default: the truth. 2^31-1 announces another GOAWAY.
    public var lastStreamID: UInt32?
    /// Where ``lastStreamID`` is nil and it is sent behind an answer: claims the stream that is so many requests behind that
    /// answer's, or before it where negative. Requests beyond it that were taken all the same are a lie of the server's.
    public var offset: Int
    /// Apple writes `{"reason":"…"}` here.
    public var debugData: String

    public init(code: UInt32 = 0, lastStreamID: UInt32? = nil, offset: Int = 0, debugData: String = "") {
        self.code = code
        self.lastStreamID = lastStreamID
        self.offset = offset
        self.debugData = debugData
    }

    /// Announces that another GOAWAY will follow (RFC 9113 section 6.8).
    public static let warning = MockGoAway(lastStreamID: 0x7FFF_FFFF)

    var isWarning: Bool { lastStreamID == 0x7FFF_FFFF }

    func from(_ streamID: UInt32) -> MockGoAway {
        var copy = self
        copy.lastStreamID = lastStreamID ?? UInt32(clamping: Int(streamID) + 2 * offset)
        return copy
    }

    /// With one of Apple's reasons as it writes them there.
    public init(reason: String) {
        self.init(debugData: #"{"reason":"\#(reason)"}"#)
    }
}
