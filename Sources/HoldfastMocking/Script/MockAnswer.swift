/// The handling of one request that a ``MockBehavior`` or a ``MockScript`` asks for.
public struct MockAnswer: Sendable {
    /// The answer itself. Later versions may have more forms.
    public struct Content: Sendable {
        package enum Kind: Sendable {
            case validated, accepted, acceptedInSilence, silence
            case rejected(MockRejection)
            case acceptedAndRejected(MockRejection)
            case response(status: Int, headers: [(name: String, value: String)], body: [UInt8])
            case reset(code: UInt32)
            case acceptedAndReset(code: UInt32)
        }

        package let kind: Kind

        /// The mock's own answer: validates, then 200 or a refusal.
        public static let validated = Content(kind: .validated)
        /// 200 without validation. In the ledger.
        public static let accepted = Content(kind: .accepted)
        /// Accepted, in the ledger and never answered: what a sender sees when a connection dies at the wrong moment.
        public static let acceptedInSilence = Content(kind: .acceptedInSilence)
        /// Not accepted, never answered.
        public static let silence = Content(kind: .silence)

        /// Refused with a reason.
        public static func rejected(_ rejection: MockRejection) -> Content { Content(kind: .rejected(rejection)) }

        /// Accepted and in the ledger, and yet refused with a reason: what a service says that fails behind its work.
        public static func acceptedAndRejected(_ rejection: MockRejection) -> Content {
            Content(kind: .acceptedAndRejected(rejection))
        }

        /// Any response. Field names in lower case. Not in the ledger, whatever the status.
        public static func response(
            status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
        ) -> Content {
            Content(kind: .response(status: status, headers: headers, body: body))
        }

        /// RST_STREAM with a code of RFC 9113 section 7. Not accepted.
        public static func reset(code: UInt32) -> Content { Content(kind: .reset(code: code)) }

        /// RST_STREAM of a request that was accepted and is in the ledger.
        public static func acceptedAndReset(code: UInt32) -> Content { Content(kind: .acceptedAndReset(code: code)) }
    }

    /// The end of the connection behind an answer: the usual forms of ``then``.
    public struct Ending: Sendable {
        package let effects: [MockEffect]

        /// Closes. Delayed answers are not given.
        public static let close = Ending(effects: [.close])
        /// Sends RST, which may lose the last bytes written.
        public static let reset = Ending(effects: [.reset])

        /// Sends GOAWAY, then closes as ``close`` does.
        public static func goAwayAndClose(_ goAway: MockGoAway) -> Ending {
            Ending(effects: [.goAway(goAway), .close])
        }

        /// Sends GOAWAY. Requests before it are still answered, later ones ignored; the connection is closed when no
        /// answer is left.
        public static func goAwayAndDrain(_ goAway: MockGoAway) -> Ending { Ending(effects: [.goAway(goAway)]) }
    }

    /// The answer itself. Default: ``Content/validated``.
    public var content: Content
    /// The delay, beyond the delay of all answers; in whole milliseconds. Default: none.
    public var delay: Duration
    /// The most bytes of the body in one DATA frame. Default: as many as fit.
    public var bodyFrameByteCount: Int?
    /// The pause before each DATA frame, in whole milliseconds. Default: none.
    public var bodyPause: Duration
    /// Announced right behind this answer as SETTINGS_MAX_CONCURRENT_STREAMS. Default: no change.
    public var maxConcurrentStreams: Int?
    /// The end of the connection behind this answer. Later requests are not looked at. Default: the connection stays.
    public var ending: Ending?
    /// Effects on the connection behind this answer, in order. Behind one that ends the connection or sends GOAWAY at
    /// once, later requests are not looked at. Default: none.
    public var then: [MockEffect]

    /// Creates an answer; the defaults are those of normal handling.
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

    /// All effects on the connection behind the answer on this stream.
    package func effects(behind streamID: UInt32) -> [MockEffect] {
        let streams = maxConcurrentStreams.map { [MockEffect.streams($0)] } ?? []
        return (streams + then + (ending?.effects ?? [])).map { $0.from(streamID) }
    }
}

/// The content of a GOAWAY.
public struct MockGoAway: Sendable {
    /// A code of RFC 9113 section 7. Default: 0, NO_ERROR.
    public var code: UInt32
    /// The claimed last stream processed; 2^31-1 announces another GOAWAY. Default: the truth.
    public var lastStreamID: UInt32?
    /// Shifts the claimed last stream by this many requests from the answer's own, where ``lastStreamID`` is nil and
    /// the GOAWAY is sent behind an answer; a negative number claims less than was accepted, as a faulty server may.
    /// Default: 0.
    public var offset: Int
    /// The debug data; Apple writes `{"reason":"…"}`. Default: none.
    public var debugData: String

    /// Creates a GOAWAY.
    public init(code: UInt32 = 0, lastStreamID: UInt32? = nil, offset: Int = 0, debugData: String = "") {
        self.code = code
        self.lastStreamID = lastStreamID
        self.offset = offset
        self.debugData = debugData
    }

    /// Announces another GOAWAY (RFC 9113 section 6.8).
    public static let warning = MockGoAway(lastStreamID: 0x7FFF_FFFF)

    package var isWarning: Bool { lastStreamID == 0x7FFF_FFFF }

    package func from(_ streamID: UInt32) -> MockGoAway {
        var copy = self
        copy.lastStreamID = lastStreamID ?? UInt32(clamping: Int(streamID) + 2 * offset)
        return copy
    }

    /// Creates a GOAWAY with a reason in its debug data, as Apple writes it.
    public init(reason: String) {
        self.init(debugData: #"{"reason":"\#(reason)"}"#)
    }
}
