/// How a ``MockBinaryServer`` is set up.
public struct MockBinaryConfiguration: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 picks a free one.
    public var port = 0
    /// Without TLS. For tests and benchmarks.
    public var isCleartext = false

    /// Where the server keeps what clients need in order to trust it, and to be trusted: `ca.pem`, `client.pem`,
    /// `client.key`, and the files of ``MockAPNsConfiguration/certificateDirectory``. Made where missing (mode 0700, key
    /// files 0600), used again where there. Default: a temporary directory, removed by ``MockBinaryServer/stop(within:)``.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses the server's certificate stands for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]
    /// Whether clients must show a certificate of the authority's, as Apple's did. Default: they need none.
    public var requiresClientCertificate = false

    /// The most bytes of a payload: 1 to 65535. Apple's limit was 256, and 2048 from 2014 on.
    public var payloadLimit = 2048
    /// Tokens (64 hex digits, either case) that are refused, and the status of it: 8 as a rule, never 0 or 10.
    public var rejections: [String: MockBinaryStatus] = [:]

    /// A file that gets one line of JSON for each notification taken, see ``LedgerAudit``; appended to where there is one;
    /// made with mode 0600. A line is written before the error response that proves the notification taken. Default: none.
    public var ledgerPath: String?
    /// Told what happened, once for each time bytes were read, on an event loop; must not block. It costs a copy of every
    /// notification. Default: none.
    public var observer: (@Sendable ([MockBinaryExchange]) -> Void)?
    /// How the server departs from its normal ways from the start, see ``MockBinaryServer/setBehavior(_:)``. It costs a
    /// copy of every notification. Default: not at all.
    public var behavior: MockBinaryBehavior?

    /// Bytes that the kernel keeps of what was not read yet, 1024 to 2^30: with few of them a slow server is felt at once.
    /// Default: as many as the kernel likes.
    public var receiveBufferByteCount: Int?
    /// Threads that serve connections; each connection stays on one.
    public var eventLoopThreads = 1
    /// How long a client may take for its handshake before the connection is closed.
    public var handshakeLimit = Duration.seconds(10)

    public init() {}

    func check() throws {
        guard (0...65535).contains(port) else { throw MockAPNsError("\(port) is not a port") }
        guard eventLoopThreads >= 1 else { throw MockAPNsError("at least one event loop thread is needed") }
        guard (1024...1 << 30).contains(receiveBufferByteCount ?? 1024) else {
            throw MockAPNsError("a receive buffer has 1024 bytes to 1 GB")
        }
        guard (1...65535).contains(payloadLimit) else { throw MockAPNsError("a payload has 1 to 65535 bytes") }
        for (token, status) in rejections {
            guard token.utf8.count == 64, ASCII.areHexDigits(token.utf8Span.span) else {
                throw MockAPNsError("a token of the binary protocol has 64 hex digits")
            }
            guard status.rawValue != 0, status != .shutdown else {
                throw MockAPNsError("status \(status.rawValue) refuses nothing")
            }
        }
    }
}
