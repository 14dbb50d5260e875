/// What a ``MockBinaryBehavior`` has the server do with one notification.
public struct MockBinaryAnswer: Sendable {
    public enum Verdict: Sendable {
        /// What the server would do without a behavior: take it or refuse it.
        case validated
        /// Taken, whatever is wrong with it.
        case taken
        case refused(MockBinaryStatus)
        /// Taken, and then the service says goodbye with status 10: everything behind it is discarded.
        case lastGood
    }

    /// Which notification the error response names.
    public enum Identifier: Sendable {
        /// The one that it is about.
        case own
        /// Any: one that was never issued, or 0.
        case value(UInt32)
        /// The first one of the connection.
        case firstOfConnection
    }

    /// What becomes of the connection.
    public enum Ending: Sendable {
        /// Our side is closed first, so that nothing overtakes the error response on its way.
        case close
        /// RST: whatever the client has not read yet may be lost.
        case reset
        /// Nothing more is read from the socket, for so long or, with nil, ever; the connection stays. What was not read
        /// is dealt with afterwards.
        case stall(Duration?)
        /// What still comes is read and thrown away; the connection stays.
        case discard
    }

    /// How the six bytes of an error response are split.
    public struct Pieces: Sendable {
        /// 1 to 6, or any number of bytes of ciphertext.
        public var byteCount: Int
        /// Between two pieces.
        public var pause: Duration
        /// Whether it is what TLS writes that is split, in segments without a pause; otherwise each piece is a TLS record
        /// of its own.
        public var isBelowTLS: Bool

        public init(every byteCount: Int, pause: Duration = .zero, isBelowTLS: Bool = false) {
            self.byteCount = max(1, byteCount)
            self.pause = pause
            self.isBelowTLS = isBelowTLS
        }
    }

    public var verdict: Verdict
    public var identifier: Identifier
    /// Whether an error is answered; when it is not, ``ending`` is all that the client sees of it.
    public var isAnswered: Bool
    /// How much later the error response is written. Until then, what comes is read and thrown away.
    public var delay: Duration
    public var pieces: Pieces?
    /// Behind the error response; without an error, right behind the notification. Default: closed behind an error,
    /// otherwise it goes on.
    public var ending: Ending?

    public init(
        _ verdict: Verdict = .validated, identifier: Identifier = .own, isAnswered: Bool = true,
        delay: Duration = .zero, pieces: Pieces? = nil, ending: Ending? = nil
    ) {
        self.verdict = verdict
        self.identifier = identifier
        self.isAnswered = isAnswered
        self.delay = delay
        self.pieces = pieces
        self.ending = ending
    }
}
