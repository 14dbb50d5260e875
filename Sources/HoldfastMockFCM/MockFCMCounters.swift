/// The counters of a ``MockFCMServer`` since its start.
public struct MockFCMCounters: Sendable, Equatable {
    /// Requests that arrived complete, whatever their result.
    public var requests = 0
    /// Messages accepted (and in the ledger where there is one), answered or not.
    public var accepted = 0
    /// Messages that were only validated, and taken for good.
    public var validated = 0
    /// Requests refused, by reason.
    public var rejected: [String: Int] = [:]
    /// Requests whose stream was reset by a behavior or a script.
    public var reset = 0
    /// Requests answered with a response of a behavior's or a script's own.
    public var scripted = 0
    /// Requests that a behavior or a script left without an answer, those of ``accepted`` included.
    public var unanswered = 0
    /// Requests ignored because they came behind the one that ended their connection.
    public var ignored = 0
    /// Access tokens given.
    public var tokens = 0
    /// Requests for access tokens that were refused.
    public var tokensRefused = 0
    /// Connections that were accepted for messages.
    public var connections = 0
    /// Connections for messages that are open now.
    public var openConnections = 0
    /// Connections that never reached HTTP/2: TLS failed, ALPN did not choose `h2`, or it took too long.
    public var handshakesFailed = 0
    /// Connections ended because the client violated HTTP/2.
    public var protocolErrors = 0
    /// Connections ended because the client opened more streams at a time than
    /// ``MockFCMConfiguration/maxConcurrentStreams``.
    public var streamLimitExceeded = 0
    /// Failed writes of the ledger; the connections concerned were closed without their answers.
    public var ledgerFailures = 0

    /// All requests refused: the sum of ``rejected``.
    public var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// Adds what the answers to requests count.
    mutating func add(_ other: MockFCMCounters) {
        requests += other.requests
        accepted += other.accepted
        validated += other.validated
        if !other.rejected.isEmpty { rejected.merge(other.rejected, uniquingKeysWith: +) }
        reset += other.reset
        scripted += other.scripted
        unanswered += other.unanswered
        ignored += other.ignored
        protocolErrors += other.protocolErrors
        streamLimitExceeded += other.streamLimitExceeded
        ledgerFailures += other.ledgerFailures
    }
}
