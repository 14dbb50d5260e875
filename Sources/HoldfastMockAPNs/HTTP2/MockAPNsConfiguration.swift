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

    /// A service that is spoken to with provider tokens wants one stream at a time on a new connection, until it has answered
    /// one with 200.
    public enum FirstStreamRule: String, Sendable, CaseIterable {
        case unchecked
        /// The first SETTINGS allow one stream, and the first 200 is followed by others, as Apple does it.
        case announced
        /// Not announced; a second stream is refused with REFUSED_STREAM.
        case refused
        /// Not announced; a second stream ends the connection: GOAWAY with PROTOCOL_ERROR, `TooManyRequests` in its debug data.
        case goAway = "goaway"
    }

    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 picks a free one.
    public var port = 0
    /// HTTP/2 without TLS, with prior knowledge. For benchmarks.
    public var isCleartext = false
    /// What else it listens on: `127.0.0.2` for the same port as ``host``'s, `[::1]:2197` for one of its own. A client that
    /// knows the service by several addresses finds one server there, which can behave differently at each (``script``).
    public var furtherAddresses: [String] = []

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

    /// How many different tokens of its key and team the server takes within twenty minutes; another is
    /// TooManyProviderTokenUpdates. Default: any number.
    public var providerTokenUpdateLimit: Int?

    /// The topics that are allowed; others are TopicDisallowed, and TopicMismatch where they stand in the path. Default:
    /// all.
    public var topics: Set<String>?
    /// How many bytes a device token may have (two hex digits each).
    public var tokenByteCounts = 1...100
    /// Tokens (hex, either case) that are refused although nothing is wrong with the request, and how.
    public var rejections: [String: MockRejection] = [:]
    /// The topics that tokens (hex, either case) belong to; another is DeviceTokenNotForTopic. Default: any.
    public var tokenTopics: [String: String] = [:]
    /// The broadcast channels there are from the start; a broadcast to another is ChannelNotRegistered. Default: none, and
    /// then every well-formed id is taken for one, until the first channel is created.
    public var channels: [MockChannel] = []
    /// How many channels an app may have; one more is CannotCreateChannelConfig. 0 or more.
    public var channelLimit = 10_000
    /// Channels to which broadcasts are refused although nothing is wrong with the request, and how.
    public var channelRejections: [String: MockRejection] = [:]
    /// The port at which channels are managed, on ``host``; 0 picks a free one. Default: they are not.
    public var managementPort: Int?
    /// Whether a notification needs `apns-push-type`, as it does for watchOS 6 and iOS 13 on; without it MissingPushType.
    public var requiresPushType = false

    /// How long each answer takes; in whole milliseconds.
    public var delay = Duration.zero
    /// SETTINGS_MAX_CONCURRENT_STREAMS; 1 or more.
    public var maxConcurrentStreams = 1000
    /// Whether an answer carries `apns-id` (to what is about a channel: `apns-request-id`), as Apple's do: the request's,
    /// or a new one.
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

    /// What it does that a well-behaved service does not, step by step. Asked where ``behavior`` has no answer. It costs a copy of
    /// every request.
    public var script: MockScript?
    /// Whether it is the development environment, whose answers carry `apns-unique-id`.
    public var isSandbox = false
    /// What becomes of streams beside the first before one has been answered with 200. Default: nothing.
    public var firstStreamRule = FirstStreamRule.unchecked

    /// Threads that serve connections; each connection stays on one.
    public var eventLoopThreads = 1
    /// Whether it speaks no newer TLS than 1.2, for this package's tests.
    package var isLimitedToTLS12 = false
    /// How long a client may take for its handshake and its first SETTINGS before the connection is closed.
    public var handshakeLimit = Duration.seconds(10)

    public init() {}
}
