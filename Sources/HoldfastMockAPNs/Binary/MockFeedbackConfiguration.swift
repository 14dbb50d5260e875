/// A device that is not there any more, as the feedback service reports it.
public struct MockFeedbackTuple: Hashable, Sendable {
    /// Unix seconds: since when.
    public var time: UInt32
    /// 0 to 65535 bytes; Apple's had 32.
    public var token: [UInt8]

    public init(time: UInt32, token: [UInt8]) {
        self.time = time
        self.token = token
    }
}

/// How a ``MockFeedbackServer`` is set up.
public struct MockFeedbackConfiguration: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 picks a free one.
    public var port = 0
    /// Without TLS. For tests.
    public var isCleartext = false

    /// As ``MockBinaryConfiguration/certificateDirectory``: both servers may share one.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses the server's certificate stands for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]
    /// Whether clients must show a certificate of the authority's, as Apple's did. Default: they need none.
    public var requiresClientCertificate = false

    /// What is there to be read, once.
    public var tuples: [MockFeedbackTuple] = []
    /// How the server departs from its normal ways from the start, see ``MockFeedbackServer/setBehavior(_:)``.
    public var behavior: MockFeedbackBehavior?

    /// How long a client may take for its handshake before the connection is closed.
    public var handshakeLimit = Duration.seconds(10)

    public init() {}

    func check() throws {
        guard (0...65535).contains(port) else { throw MockAPNsError("\(port) is not a port") }
        try check(tuples)
    }

    func check(_ tuples: [MockFeedbackTuple]) throws {
        guard tuples.allSatisfy({ $0.token.count <= 65535 }) else {
            throw MockAPNsError("a token has at most 65535 bytes")
        }
    }
}

/// How a ``MockFeedbackServer`` departs from its normal ways.
public struct MockFeedbackBehavior: Sendable {
    /// What happens behind the tuples.
    public enum Ending: Sendable {
        case close
        case reset
        /// The connection stays, for so long or, with nil, until the client leaves.
        case hold(Duration?)
    }

    /// Connections are reset as they are accepted, before TLS.
    public var refusesConnections: Bool
    /// No more tuples than that on a connection; the others stay. Default: all.
    public var tupleLimit: Int?
    /// How many bytes are written at a time, 1 or more, each a TLS record of its own. Default: as many as fit.
    public var pieceByteCount: Int?
    /// Between two pieces, and before a reset: one that comes at once may overtake what was written, and the client's own
    /// start.
    public var pause: Duration
    public var ending: Ending

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

    public static let normal = MockFeedbackBehavior()
    public static let refusing = MockFeedbackBehavior(refusesConnections: true)

    /// Serves `count` tuples, then an error.
    public static func resetting(after count: Int, pause: Duration = .zero) -> MockFeedbackBehavior {
        MockFeedbackBehavior(tupleLimit: count, pause: pause, ending: .reset)
    }

    /// Serves all tuples and leaves the connection open.
    public static let holding = MockFeedbackBehavior(ending: .hold(nil))

    public static func splitting(every byteCount: Int, pause: Duration = .zero) -> MockFeedbackBehavior {
        MockFeedbackBehavior(pieceByteCount: byteCount, pause: pause)
    }
}
