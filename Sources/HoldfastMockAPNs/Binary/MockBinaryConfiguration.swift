import HoldfastMocking

/// The configuration of a ``MockBinaryServer``.
public struct MockBinaryConfiguration: Sendable {
    /// The address to listen on. Default: `127.0.0.1`.
    public var host = "127.0.0.1"
    /// The port to listen on. Default: 0, which picks a free one.
    public var port = 0
    /// Whether it is spoken to without TLS. For tests and benchmarks. Default: no.
    public var isCleartext = false

    /// The directory of the certificates and keys that clients need: `ca.pem`, `client.pem`, `client.key`, and the
    /// files of ``MockAPNsConfiguration/certificateDirectory``. Missing files are made (mode 0700, key files 0600),
    /// present ones used again. Default: a temporary directory, removed by ``MockBinaryServer/stop(within:)``.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses that the server's certificate is issued for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]
    /// Whether clients must show a certificate of the mock's authority, as Apple's gateway demanded. Default: no.
    public var requiresClientCertificate = false

    /// The most bytes of a payload: 1 to 65535. Apple's limit was 256, and 2048 from 2014 on. Default: 2048.
    public var payloadLimit = 2048
    /// Tokens (64 hex digits, either case) that are refused, with their status: usually 8, never 0 or 10. Default:
    /// none.
    public var rejections: [String: MockBinaryStatus] = [:]

    /// The ledger, a file that gets one line of JSON for each notification taken; appended to where it exists,
    /// otherwise made with mode 0600. A line is written before the error response that proves its notification taken.
    /// Default: none.
    public var ledgerPath: String?
    /// Called with the notifications of each read, on an event loop; must not block. Costs a copy of every
    /// notification. Default: none.
    public var observer: (@Sendable ([MockBinaryExchange]) -> Void)?
    /// The departure from normal handling at the start, see ``MockBinaryServer/setBehavior(_:)``. Costs a copy of every
    /// notification. Default: none.
    public var behavior: MockBinaryBehavior?

    /// Bytes of the kernel's receive buffer, 1024 to 2^30: with a small one a slow server is felt at once. Default: the
    /// kernel's own.
    public var receiveBufferByteCount: Int?
    /// Threads that serve connections; each connection stays on one. Default: 1.
    public var eventLoopThreads = 1
    /// The timeout of the handshake; then the connection is closed. Default: 10 s.
    public var handshakeLimit = Duration.seconds(10)

    /// Creates a configuration with the defaults.
    public init() {}

    func check() throws {
        guard (0...65535).contains(port) else { throw MockError("\(port) is not a port") }
        guard eventLoopThreads >= 1 else { throw MockError("at least one event loop thread is needed") }
        guard (1024...1 << 30).contains(receiveBufferByteCount ?? 1024) else {
            throw MockError("a receive buffer has 1024 bytes to 1 GB")
        }
        guard (1...65535).contains(payloadLimit) else { throw MockError("a payload has 1 to 65535 bytes") }
        for (token, status) in rejections {
            guard token.utf8.count == 64, ASCII.areHexDigits(token.utf8Span.span) else {
                throw MockError("a token of the binary protocol has 64 hex digits")
            }
            guard status.rawValue != 0, status != .shutdown else {
                throw MockError("status \(status.rawValue) refuses nothing")
            }
        }
    }
}
