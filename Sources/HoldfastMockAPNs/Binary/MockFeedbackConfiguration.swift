import HoldfastMocking

/// A device that is gone, as the feedback service reports it.
public struct MockFeedbackTuple: Hashable, Sendable {
    /// The time from which the device is gone, in Unix seconds.
    public var time: UInt32
    /// The device token: 0 to 65535 bytes; Apple's had 32.
    public var token: [UInt8]

    /// Creates a tuple.
    public init(time: UInt32, token: [UInt8]) {
        self.time = time
        self.token = token
    }
}

/// The configuration of a ``MockFeedbackServer``.
public struct MockFeedbackConfiguration: Sendable {
    /// The address to listen on. Default: `127.0.0.1`.
    public var host = "127.0.0.1"
    /// The port to listen on. Default: 0, which picks a free one.
    public var port = 0
    /// Whether it is spoken to without TLS. For tests. Default: no.
    public var isCleartext = false

    /// The directory of certificates and keys, as ``MockBinaryConfiguration/certificateDirectory``: both servers may
    /// share one.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses that the server's certificate is issued for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]
    /// Whether clients must show a certificate of the mock's authority, as Apple's service demanded. Default: no.
    public var requiresClientCertificate = false

    /// The tuples to be read, each once. Default: none.
    public var tuples: [MockFeedbackTuple] = []
    /// The departure from normal handling at the start, see ``MockFeedbackServer/setBehavior(_:)``. Default: none.
    public var behavior: MockFeedbackBehavior?

    /// The timeout of the handshake; then the connection is closed. Default: 10 s.
    public var handshakeLimit = Duration.seconds(10)

    /// Creates a configuration with the defaults.
    public init() {}

    func check() throws {
        guard (0...65535).contains(port) else { throw MockError("\(port) is not a port") }
        try check(tuples)
    }

    func check(_ tuples: [MockFeedbackTuple]) throws {
        guard tuples.allSatisfy({ $0.token.count <= 65535 }) else {
            throw MockError("a token has at most 65535 bytes")
        }
    }
}

/// A departure of a ``MockFeedbackServer`` from normal handling.
public struct MockFeedbackBehavior: Sendable {
    /// The end of a connection behind its tuples. May gain cases: construct it, do not switch over it.
    public enum Ending: Sendable {
        /// Closes the connection, as Apple's service did.
        case close
        /// Sends RST.
        case reset
        /// Keeps the connection open for this long or, with nil, until the client leaves.
        case hold(Duration?)
    }

    /// Whether connections are reset as they are accepted, before TLS. Default: no.
    public var refusesConnections: Bool
    /// The most tuples on a connection; the others stay for later ones. Default: all.
    public var tupleLimit: Int?
    /// Bytes of a piece, 1 or more; each piece is a TLS record of its own. Default: as many as fit.
    public var pieceByteCount: Int?
    /// The pause between two pieces, and before a reset: an immediate reset may overtake the tuples and even the
    /// client's own start. Default: none.
    public var pause: Duration
    /// The end of the connection. Default: ``Ending/close``.
    public var ending: Ending

    /// Creates a behavior; the defaults are those of normal handling.
    public init(
        refusesConnections: Bool = false, tupleLimit: Int? = nil, pieceByteCount: Int? = nil, pause: Duration = .zero,
        ending: Ending = .close
    ) {
        self.refusesConnections = refusesConnections
        self.tupleLimit = tupleLimit.map { max(0, $0) }
        self.pieceByteCount = pieceByteCount.map { max(1, $0) }
        self.pause = pause
        self.ending = ending
    }

    /// The normal handling: serves all tuples and closes.
    public static let normal = MockFeedbackBehavior()
    /// Resets each connection as it is accepted.
    public static let refusing = MockFeedbackBehavior(refusesConnections: true)

    /// Serves `count` tuples, then resets the connection.
    public static func resetting(after count: Int, pause: Duration = .zero) -> MockFeedbackBehavior {
        MockFeedbackBehavior(tupleLimit: count, pause: pause, ending: .reset)
    }

    /// Serves all tuples and leaves the connection open.
    public static let holding = MockFeedbackBehavior(ending: .hold(nil))

    /// Writes the tuples in pieces of this many bytes, with a pause between two.
    public static func splitting(every byteCount: Int, pause: Duration = .zero) -> MockFeedbackBehavior {
        MockFeedbackBehavior(pieceByteCount: byteCount, pause: pause)
    }
}
