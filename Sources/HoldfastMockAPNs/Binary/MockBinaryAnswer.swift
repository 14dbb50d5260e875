import HoldfastMocking

/// The handling of one notification that a ``MockBinaryBehavior`` asks for.
public struct MockBinaryAnswer: Sendable {
    /// The decision about a notification. Later versions may have more.
    public struct Verdict: Sendable {
        enum Kind: Sendable {
            case validated, taken, lastGood
            case refused(MockBinaryStatus)
        }

        let kind: Kind

        /// The mock's own decision: takes or refuses it.
        public static let validated = Verdict(kind: .validated)
        /// Takes it, whatever is wrong with it.
        public static let taken = Verdict(kind: .taken)
        /// Takes it, and then shuts down with status 10: everything behind it is discarded.
        public static let lastGood = Verdict(kind: .lastGood)

        /// Refuses it with this status.
        public static func refused(_ status: MockBinaryStatus) -> Verdict { Verdict(kind: .refused(status)) }
    }

    /// The identifier in the error response. May gain cases: construct it, do not switch over it.
    public enum Identifier: Sendable {
        /// The notification's own.
        case own
        /// Any value: one that was never used, or 0.
        case value(UInt32)
        /// The identifier of the connection's first notification.
        case firstOfConnection
    }

    /// The further life of the connection. May gain cases: construct it, do not switch over it.
    public enum Ending: Sendable {
        /// Closes the mock's side first, so that nothing overtakes the error response on its way.
        case close
        /// Sends RST: bytes that the client has not read yet may be lost.
        case reset
        /// Stops reading from the socket for this long or, with nil, for ever; the connection stays. Unread bytes are
        /// processed afterwards.
        case stall(Duration?)
        /// Reads and throws away all further bytes; the connection stays.
        case discard
    }

    /// The pieces in which the six bytes of an error response are written.
    public struct Pieces: Sendable {
        /// Bytes of a piece: 1 to 6, or any number of bytes of ciphertext.
        public var byteCount: Int
        /// The pause between two pieces. Default: none.
        public var pause: Duration
        /// Whether TLS's ciphertext is split, into segments without a pause; otherwise each piece is a TLS record of
        /// its own. Default: no.
        public var isBelowTLS: Bool

        /// Splits an error response into pieces of this many bytes.
        public init(every byteCount: Int, pause: Duration = .zero, isBelowTLS: Bool = false) {
            self.byteCount = max(1, byteCount)
            self.pause = pause
            self.isBelowTLS = isBelowTLS
        }
    }

    /// The decision. Default: ``Verdict/validated``.
    public var verdict: Verdict
    /// The identifier in an error response. Default: ``Identifier/own``.
    public var identifier: Identifier
    /// Whether an error is answered; otherwise ``ending`` is all that the client sees of it. Default: yes.
    public var isAnswered: Bool
    /// The delay of the error response. Until then, further bytes are read and thrown away. Default: none.
    public var delay: Duration
    /// The pieces of the error response. Default: one write.
    public var pieces: Pieces?
    /// The end of the connection, behind the error response or, without one, right behind the notification. Default:
    /// closed behind an error, otherwise open.
    public var ending: Ending?

    /// Creates an answer; the defaults are those of the mock's normal handling.
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
