/// What a ``MockAPNsServer`` has counted since it was started.
public struct MockCounters: Sendable, Equatable {
    /// Requests that arrived complete, whatever became of them.
    public var requests = 0
    /// Notifications taken (and in the ledger where there is one), answered or not.
    public var accepted = 0
    /// Channels created, read, deleted and listed.
    public var managed = 0
    /// Requests refused, by reason.
    public var rejected: [String: Int] = [:]
    /// Requests whose stream a behavior reset.
    public var reset = 0
    /// Requests that a behavior answered with a response of its own making.
    public var scripted = 0
    /// Requests that a behavior left without an answer, those of ``accepted`` included.
    public var unanswered = 0
    /// Requests not looked at because they came behind the one at which a connection was ended.
    public var ignored = 0
    /// Streams refused because the first of their connection had not been answered with 200, see
    /// ``MockAPNsConfiguration/firstStreamRule``.
    public var refusedBeforeFirst = 0
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that are open now.
    public var openConnections = 0
    /// Connections that never came to HTTP/2: TLS failed, ALPN did not choose `h2`, or it took too long.
    public var handshakesFailed = 0
    /// Connections ended because the client broke HTTP/2.
    public var protocolErrors = 0
    /// Times the ledger could not be written; the connections concerned were closed without their answers.
    public var ledgerFailures = 0

    /// All requests refused.
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
