import HoldfastMocking

/// The counters of a ``MockAPNsServer`` since its start.
public struct MockCounters: Sendable, Equatable {
    /// Requests that arrived complete, whatever their result.
    public var requests = 0
    /// Notifications accepted (and in the ledger where there is one), answered or not.
    public var accepted = 0
    /// Channel requests carried out: created, read, deleted and listed.
    public var managed = 0
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
    /// Streams refused because the first of their connection had not been answered with 200, see
    /// ``MockAPNsConfiguration/firstStreamRule``.
    public var refusedBeforeFirst = 0
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that are open now.
    public var openConnections = 0
    /// Connections that never reached HTTP/2: TLS failed, ALPN did not choose `h2`, or it took too long.
    public var handshakesFailed = 0
    /// Connections ended because the client violated HTTP/2.
    public var protocolErrors = 0
    /// Failed writes of the ledger; the connections concerned were closed without their answers.
    public var ledgerFailures = 0

    /// All requests refused: the sum of ``rejected``.
    public var rejectedCount: Int { rejected.values.reduce(0, +) }

    mutating func add(_ other: MockCounters) {
        requests += other.requests
        accepted += other.accepted
        managed += other.managed
        if !other.rejected.isEmpty { rejected.merge(other.rejected, uniquingKeysWith: +) }
        reset += other.reset
        scripted += other.scripted
        unanswered += other.unanswered
        ignored += other.ignored
        refusedBeforeFirst += other.refusedBeforeFirst
        connections += other.connections
        openConnections += other.openConnections
        handshakesFailed += other.handshakesFailed
        protocolErrors += other.protocolErrors
        ledgerFailures += other.ledgerFailures
    }
}
