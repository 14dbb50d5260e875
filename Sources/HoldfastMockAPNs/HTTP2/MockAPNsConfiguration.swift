public import HoldfastMocking

/// The configuration of a ``MockAPNsServer``.
public struct MockAPNsConfiguration: Sendable {
    /// The provider tokens that are accepted. May gain cases: construct it, do not switch over it.
    public enum ProviderTokens: Sendable {
        /// Does not look at the authorization header.
        case ignored
        /// Accepts any token of the right form: three parts, ES256, `kid`, `iss`, an integer `iat`. Checks neither its
        /// signature nor its age, so that a benchmark may use one for longer than an hour.
        case wellFormed
        /// Accepts tokens signed with the server's own key (``MockAPNsServer/providerKeyFile``) for its key and team
        /// identifiers, at most an hour ago. Each is verified once and then remembered.
        case verified
    }

    /// The enforcement of Apple's rule for provider tokens: a new connection allows one stream at a time until a
    /// request was answered with 200. May gain cases: construct it, do not switch over it.
    public enum FirstStreamRule: String, Sendable, CaseIterable {
        /// Does not enforce the rule.
        case unchecked
        /// The first SETTINGS allow one stream; the first 200 is followed by SETTINGS that allow more, as Apple does
        /// it.
        case announced
        /// Does not announce the rule; refuses a second stream with REFUSED_STREAM.
        case refused
        /// Does not announce the rule; a second stream ends the connection: GOAWAY with PROTOCOL_ERROR,
        /// `TooManyRequests` in its debug data.
        case goAway = "goaway"
    }

    /// The address to listen on. Default: `127.0.0.1`.
    public var host = "127.0.0.1"
    /// The port to listen on. Default: 0, which picks a free one.
    public var port = 0
    /// Whether it speaks HTTP/2 without TLS, with prior knowledge. For benchmarks. Default: no.
    public var isCleartext = false
    /// Further listening addresses: `127.0.0.2` for the port of ``host``, `[::1]:2197` for one of its own. A client
    /// that knows the service by several addresses finds one server there, which can behave differently at each
    /// (``script``). Default: none.
    public var furtherAddresses: [String] = []

    /// The directory of the certificates and keys that clients need: `ca.pem`, `ca.key`, `client.pem`, `server.pem`,
    /// `server.key`, `AuthKey.p8` and `AuthKey.pub.pem`. Missing files are made (mode 0700, key files 0600), present
    /// ones used again. Default: a temporary directory, removed by ``MockAPNsServer/stop(within:)``.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses that the server's certificate is issued for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]

    /// Whether clients must show `client.pem`, or another certificate of the same authority. Default: no.
    public var requiresClientCertificate = false
    /// The provider tokens that are accepted. Default: ``ProviderTokens/ignored``.
    public var providerTokens = ProviderTokens.ignored
    /// The `kid` that ``ProviderTokens/verified`` demands. Default: `MOCKKEYID1`.
    public var keyID = "MOCKKEYID1"
    /// The `iss` that ``ProviderTokens/verified`` demands. Default: `MOCKTEAMID`.
    public var teamID = "MOCKTEAMID"

    /// The most different tokens of its key and team within twenty minutes; one more is TooManyProviderTokenUpdates.
    /// Default: no limit.
    public var providerTokenUpdateLimit: Int?

    /// The allowed topics; another is TopicDisallowed, or TopicMismatch in the path. Default: all.
    public var topics: Set<String>?
    /// The allowed numbers of bytes of a device token (two hex digits each). Default: 1 to 100.
    public var tokenByteCounts = 1...100
    /// Tokens (hex, either case) that are refused in otherwise valid requests, with their refusal. Default: none.
    public var rejections: [String: MockRejection] = [:]
    /// The topics of tokens (hex, either case); another topic is DeviceTokenNotForTopic. Default: any.
    public var tokenTopics: [String: String] = [:]
    /// The broadcast channels at the start; a broadcast to another is ChannelNotRegistered. Default: none, and then
    /// every well-formed id is taken for an existing channel until the first one is created.
    public var channels: [MockChannel] = []
    /// The most channels of an app, 0 or more; one more is CannotCreateChannelConfig. Default: 10,000.
    public var channelLimit = 10_000
    /// Channels to which otherwise valid broadcasts are refused, with their refusal. Default: none.
    public var channelRejections: [String: MockRejection] = [:]
    /// The port for channel management, on ``host``; 0 picks a free one. Default: no channel management.
    public var managementPort: Int?
    /// Whether a notification needs `apns-push-type`, as it does for watchOS 6 and iOS 13 on; without it
    /// MissingPushType. Default: no.
    public var requiresPushType = false

    /// The delay of each answer, in whole milliseconds. Default: none.
    public var delay = Duration.zero
    /// SETTINGS_MAX_CONCURRENT_STREAMS; 1 or more. Default: 1000.
    public var maxConcurrentStreams = 1000
    /// Whether an answer carries `apns-id` (for channels: `apns-request-id`) as Apple's do: the request's, or a new
    /// one. Default: yes.
    public var echoesNotificationID = true

    /// The ledger, a file that gets one line of JSON for each accepted notification; appended to where it exists,
    /// otherwise made with mode 0600. A line is written before its answer: a client that has a 200 finds it there.
    /// Default: none.
    public var ledgerPath: String?
    /// Called with the requests of each read before their answers go out, on an event loop; must not block. Costs a
    /// copy of every request. Default: none.
    public var observer: (@Sendable ([MockExchange]) -> Void)?
    /// The departure from normal handling at the start, see ``MockAPNsServer/setBehavior(_:)``. Costs a copy of every
    /// request. Default: none.
    public var behavior: MockBehavior?

    /// A script of departures from normal handling. Asked where ``behavior`` has no answer. Costs a copy of every
    /// request. Default: none.
    public var script: MockScript?
    /// Whether it is the development environment, whose answers carry `apns-unique-id`. Default: no.
    public var isSandbox = false
    /// The rule for further streams before the first 200. Default: ``FirstStreamRule/unchecked``.
    public var firstStreamRule = FirstStreamRule.unchecked

    /// Threads that serve connections; each connection stays on one. Default: 1.
    public var eventLoopThreads = 1
    /// Whether TLS 1.2 is the newest version spoken, for this package's tests.
    package var isLimitedToTLS12 = false
    /// The timeout of the handshake and the client's first SETTINGS; then the connection is closed. Default: 10 s.
    public var handshakeLimit = Duration.seconds(10)

    /// Creates a configuration with the defaults.
    public init() {}
}
