/// How a connection is received, and what becomes of it by itself.
public struct MockConnectionPlan: Sendable {
    /// What the client finds behind the port.
    public enum Welcome: Sendable {
        case normal
        /// Closed at once.
        case closed
        /// Reset at once.
        case reset
    }

    /// How the handshake goes. Where the server speaks no TLS, all of them are as ``normal``.
    public enum TLS: String, Sendable, CaseIterable {
        case normal
        /// The client's hello is answered with the fatal alert `handshake_failure`.
        case alert
        /// The certificate is for `wrong.invalid`.
        case wrongName = "wrong-name"
        /// The certificate is right, and its authority one that nobody trusts.
        case untrusted
        /// The certificate was valid until yesterday.
        case expired
        /// ALPN chooses nothing.
        case withoutALPN = "no-alpn"
        /// The client's hello is not answered.
        case stalled = "stall"
        /// The client's hello is answered with something that is no TLS, and the connection closed.
        case garbage
    }

    /// When the server's first SETTINGS are sent.
    public enum Settings: Sendable {
        case atOnce
        case delayed(Duration)
        /// Nothing is ever sent behind the handshake.
        case never
    }

    /// A server that takes its time.
    public struct Reading: Sendable {
        /// The most that is read at a time.
        public var byteCount: Int
        /// How long it waits between two reads.
        public var pause: Duration

        /// - Parameter byteCount: 1 or more.
        public init(byteCount: Int, every pause: Duration) {
            self.byteCount = byteCount
            self.pause = pause
        }
    }

    public var welcome: Welcome
    public var tls: TLS
    public var settings: Settings
    /// What the first SETTINGS announce. Default: ``MockAPNsConfiguration/maxConcurrentStreams``.
    public var maxConcurrentStreams: Int?
    /// Whether PING is answered.
    public var answersPings: Bool
    /// Default: as fast as it comes.
    public var reading: Reading?
    /// The most bytes of TCP's stream in one segment, below TLS; 1 or more. Default: as many as fit.
    public var segmentByteCount: Int?
    /// What happens to it, counted from the client's first SETTINGS.
    public var then: [MockEffect]

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
