public import HoldfastMocking

/// The configuration of a ``MockFCMServer``.
public struct MockFCMConfiguration: Sendable {
    /// A limit on messages, as Google's quotas are: a bucket that fills steadily. Refused messages do not count.
    public struct Quota: Hashable, Sendable {
        /// The messages in ``interval``, 1 or more; the bucket holds as many, and is full at the start.
        public var count: Int
        /// The time in which the bucket fills.
        public var interval: Duration
        /// The value of `retry-after` of a refusal: seconds or an HTTP date. Default: none.
        public var retryAfter: String?

        /// Creates a quota. Google's for a project is 600,000 a minute.
        public init(_ count: Int, per interval: Duration = .seconds(60), retryAfter: String? = nil) {
            (self.count, self.interval, self.retryAfter) = (count, interval, retryAfter)
        }
    }

    /// The address to listen on. Default: `127.0.0.1`.
    public var host = "127.0.0.1"
    /// The port for messages. Default: 0, which picks a free one.
    public var port = 0
    /// The port for access tokens, over HTTP/1.1. Default: 0, which picks a free one.
    public var tokenPort = 0
    /// Whether it speaks without TLS, with prior knowledge of HTTP/2. For benchmarks. Default: no.
    public var isCleartext = false
    /// The directory of the certificates and keys that clients need: `ca.pem`, `ca.key`, `server.pem`, `server.key`,
    /// `client.pem`, `client.key`, `service-account.json` and `service-account.pub.pem`. Missing files are made (mode 0700, key
    /// files 0600), present ones used again; `service-account.json` gets the token endpoint of each start. Default: a temporary
    /// directory, removed by ``MockFCMServer/stop(within:)``.
    public var certificateDirectory: String?
    /// The DNS names and IP addresses that the server's certificate is issued for, beside ``host``.
    public var names = ["localhost", "127.0.0.1", "::1"]

    /// The project that messages may be sent for; for another PERMISSION_DENIED. Default: `mock-project`.
    public var project = "mock-project"
    /// Whether requests need an access token that the mock has given. Default: yes.
    public var checksAccessTokens = true
    /// Whether requests are read. Else each is taken at once: for benchmarks, in which the mock would be what is measured.
    /// Not together with a ledger, a quota, rejections, an observer, a behavior or a script. Default: yes.
    public var checksRequests = true
    /// The time that an access token lasts. Default: 3599 s, as Google's.
    public var tokenLifetime = Duration.seconds(3599)
    /// The quota of the project; beyond it QUOTA_EXCEEDED. Default: none.
    public var quota: Quota?
    /// Targets that are refused in otherwise valid requests, with their refusal; without its kind: `"abc": "UNREGISTERED"`.
    /// Default: none.
    public var rejections: [String: MockRejection] = [:]
    /// The key of a message's `data` that is its id in the ledger. A message without it has a digest of its content as its id.
    /// Default: `holdfast-id`.
    public var idKey = "holdfast-id"

    /// The delay of each answer, in whole milliseconds. Default: none.
    public var delay = Duration.zero
    /// SETTINGS_MAX_CONCURRENT_STREAMS; 1 or more. Default: 100, as Google's.
    ///
    /// A stream beyond it ends the connection, as at Google's (firebase-admin-node #2943): GOAWAY with code 1 and
    /// `exceeded_max_concurrent_streams`, its last stream the one before. Streams up to that one are answered. Behind
    /// ``HoldfastMocking/MockEffect/streams(_:after:)`` of a script, streams beyond the new limit are refused instead.
    public var maxConcurrentStreams = 100
    /// The streams at a time beyond which the connection ends, where they are fewer than SETTINGS say; 1 or more. For a service
    /// that does not keep its word. Default: `nil`, as many as SETTINGS say.
    public var hiddenStreamLimit: Int?
    /// The ledger, a file that gets one line of JSON for each accepted message: `{"id":"…","target":"fid:…","name":"…"}`;
    /// appended to where it exists, otherwise made with mode 0600. A line is written before its answer. Messages that are only
    /// validated are not in it. Default: none.
    public var ledgerPath: String?
    /// Called with the requests of each read before their answers go out, on an event loop; must not block. Default: none.
    public var observer: (@Sendable ([MockExchange]) -> Void)?
    /// The departure from normal handling at the start, see ``MockFCMServer/setBehavior(_:)``. Default: none.
    public var behavior: MockBehavior?
    /// A script of departures from normal handling. Asked where ``behavior`` has no answer. Default: none.
    public var script: MockScript?
    /// Threads that serve connections; each connection stays on one. Default: 1.
    public var eventLoopThreads = 1
    /// The timeout of the handshake and the client's first SETTINGS; then the connection is closed. Default: 10 s.
    public var handshakeLimit = Duration.seconds(10)

    /// Creates a configuration with the defaults.
    public init() {}

    func check() throws {
        for port in [port, tokenPort] {
            guard (0...65535).contains(port) else { throw MockError("\(port) is not a port") }
        }
        guard eventLoopThreads >= 1 else { throw MockError("at least one event loop thread is needed") }
        guard maxConcurrentStreams >= 1, hiddenStreamLimit.map({ $0 >= 1 }) ?? true else {
            throw MockError("at least one stream at a time is needed")
        }
        guard delay >= .zero else { throw MockError("a delay cannot be negative") }
        guard checksRequests || isPlain else {
            throw MockError(
                "a mock that does not read what it takes has no ledger, quota, rejections, observer, behavior or script"
            )
        }
        guard tokenLifetime > .zero else { throw MockError("an access token has to last for some time") }
        guard !project.isEmpty, !project.contains("/") else { throw MockError("\(project) is not a project") }
        if let quota {
            guard quota.count >= 1, quota.interval > .zero else {
                throw MockError("a quota is at least one in some time")
            }
        }
    }

    /// Whether what it answers depends on nothing that it would have to read.
    private var isPlain: Bool {
        ledgerPath == nil && quota == nil && rejections.isEmpty && observer == nil && behavior == nil && script == nil
    }
}
