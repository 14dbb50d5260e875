/// The reception of a connection, and its later fate.
public struct MockConnectionPlan: Sendable {
    /// The acceptance at the port. May gain cases: construct it, do not switch over it.
    public enum Welcome: Sendable {
        /// Accepted.
        case normal
        /// Closed at once.
        case closed
        /// Reset at once.
        case reset
    }

    /// The course of the handshake. Where the server speaks no TLS, all are like ``normal``. Later versions may
    /// have more.
    public struct TLS: Hashable, Sendable {
        /// The raw values are the words of a script.
        package enum Way: String, Sendable, CaseIterable {
            case normal, alert
            case wrongName = "wrong-name"
            case untrusted, expired
            case withoutALPN = "no-alpn"
            case stalled = "stall"
            case garbage
        }

        package let way: Way

        package init(_ way: Way) { self.way = way }

        /// Succeeds.
        public static let normal = TLS(.normal)
        /// The client's hello is answered with the fatal alert `handshake_failure`.
        public static let alert = TLS(.alert)
        /// The certificate is for `wrong.invalid`.
        public static let wrongName = TLS(.wrongName)
        /// The certificate is valid, but its authority is one that nobody trusts.
        public static let untrusted = TLS(.untrusted)
        /// The certificate has expired.
        public static let expired = TLS(.expired)
        /// ALPN chooses no protocol.
        public static let withoutALPN = TLS(.withoutALPN)
        /// The client's hello is not answered.
        public static let stalled = TLS(.stalled)
        /// The client's hello is answered with bytes that are no TLS, and the connection is closed.
        public static let garbage = TLS(.garbage)
    }

    /// The time of the server's first SETTINGS. May gain cases: construct it, do not switch over it.
    public enum Settings: Sendable {
        /// Right behind the handshake.
        case atOnce
        /// This long after the handshake.
        case delayed(Duration)
        /// Nothing is ever sent behind the handshake.
        case never
    }

    /// The pace of a server that reads slowly.
    public struct Reading: Sendable {
        /// The most bytes of one read.
        public var byteCount: Int
        /// The pause between two reads.
        public var pause: Duration

        /// Creates a pace.
        ///
        /// - Parameters:
        ///   - byteCount: the most bytes of one read, 1 or more.
        ///   - pause: the pause between two reads.
        public init(byteCount: Int, every pause: Duration) {
            self.byteCount = byteCount
            self.pause = pause
        }
    }

    /// The acceptance at the port. Default: ``Welcome/normal``.
    public var welcome: Welcome
    /// The course of the handshake. Default: ``TLS/normal``.
    public var tls: TLS
    /// The time of the first SETTINGS. Default: ``Settings/atOnce``.
    public var settings: Settings
    /// The limit that the first SETTINGS announce. Default: the limit in the configuration of the server.
    public var maxConcurrentStreams: Int?
    /// Whether PING is answered. Default: yes.
    public var answersPings: Bool
    /// The pace of reading. Default: no limit.
    public var reading: Reading?
    /// The most bytes of one TCP segment, below TLS; 1 or more. Default: as many as fit.
    public var segmentByteCount: Int?
    /// Effects on the connection, timed from the client's first SETTINGS. Default: none.
    public var then: [MockEffect]

    /// Creates a plan; the defaults are those of normal handling.
    public init(
        welcome: Welcome = .normal, tls: TLS = .normal, settings: Settings = .atOnce, maxConcurrentStreams: Int? = nil,
        answersPings: Bool = true, reading: Reading? = nil, segmentByteCount: Int? = nil, then: [MockEffect] = []
    ) {
        self.welcome = welcome
        self.tls = tls
        self.settings = settings
        self.maxConcurrentStreams = maxConcurrentStreams
        self.answersPings = answersPings
        self.reading = reading
        self.segmentByteCount = segmentByteCount
        self.then = then
    }
}
