/// How a ``MockAPNsServer`` is set up.
public struct MockAPNsConfiguration: Sendable {
    /// Which provider tokens are accepted.
    public enum ProviderTokens: Sendable {
        /// The authorization header is not looked at.
        case ignored
        /// Any that has the right form: three parts, ES256, `kid`, `iss`, an integer `iat`. Neither its signature nor its
        /// age is looked at, so that a benchmark may run for longer than an hour on one.
        case wellFormed
        /// Those that were signed with the server's own key (``MockAPNsServer/providerKeyFile``) for its key and team
        /// identifiers, at most an hour ago. Each is verified once and then remembered.
        case verified
    }

    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 picks a free one.
    public var port = 0
    /// HTTP/2 without TLS, with prior knowledge. For benchmarks.
    public var isCleartext = false

    /// Where the server keeps what clients need in order to trust it, and to be trusted: `ca.pem`, `ca.key`, `client.pem`,
    /// `server.pem`, `server.key`, `AuthKey.p8` and `AuthKey.pub.pem`. Made where missing (mode 0700, key files 0600), used again where there.
    /// Default: a temporary directory, removed by ``MockAPNsServer/stop(within:)``.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses the server's certificate stands for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]

    /// Whether clients must show `client.pem`, or another certificate of the same authority. Default: no.
    public var requiresClientCertificate = false
    public var providerTokens = ProviderTokens.ignored
    /// The `kid` that ``ProviderTokens/verified`` wants.
    public var keyID = "MOCKKEYID1"
    /// The `iss` that ``ProviderTokens/verified`` wants.
    public var teamID = "MOCKTEAMID"

    /// The topics that are allowed; others are TopicDisallowed. Default: all.
    public var topics: Set<String>?
    /// How many bytes a device token may have (two hex digits each).
    public var tokenByteCounts = 1...100
    /// Tokens (hex, either case) that are refused although nothing is wrong with the request, and how.
    public var rejections: [String: MockRejection] = [:]

    /// How long each answer takes; in whole milliseconds.
    public var delay = Duration.zero
    /// SETTINGS_MAX_CONCURRENT_STREAMS; 1 or more.
    public var maxConcurrentStreams = 1000
    /// Whether an answer carries `apns-id`, as Apple's do: the request's, or a new one.
    public var echoesNotificationID = true

    /// A file that gets one line of JSON for each accepted notification, see ``LedgerAudit``. A line is written before
    /// its answer: whoever saw a 200 finds it there. Appended to where there is one; made with mode 0600.
    /// Default: none.
    public var ledgerPath: String?
    /// Told what happened, once for each time bytes were read and before the answers go out, on an event loop; must not
    /// block. It costs a copy of every request. Default: none.
    public var observer: (@Sendable ([MockExchange]) -> Void)?
    /// How the server departs from its normal ways from the start, see ``MockAPNsServer/setBehavior(_:)``. It costs a
    /// copy of every request. Default: not at all.
    public var behavior: MockBehavior?

    /// Threads that serve connections; each connection stays on one.
    public var eventLoopThreads = 1
    /// How long a client may take for its handshake and its first SETTINGS before the connection is closed.
    public var handshakeLimit = Duration.seconds(10)

    public init() {}
}
