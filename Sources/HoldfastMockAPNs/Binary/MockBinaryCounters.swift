import HoldfastMocking

/// The counters of a ``MockBinaryServer`` since its start.
public struct MockBinaryCounters: Sendable, Equatable {
    /// Notifications read, whatever their result; those discarded behind an error are not counted.
    public var notifications = 0
    /// Notifications taken, and in the ledger where there is one.
    public var taken = 0
    /// Notifications refused, by status, whether the error was answered or not.
    public var refused: [MockBinaryStatus: Int] = [:]
    /// Error responses written, status 10 included.
    public var responses = 0
    /// Bytes thrown away behind an error.
    public var discardedBytes = 0
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that are open now.
    public var openConnections = 0
    /// Connections that ended before TLS was ready.
    public var handshakesFailed = 0
    /// Times the ledger could not be written; the connections concerned were closed.
    public var ledgerFailures = 0

    /// All notifications refused: the sum of ``refused``.
    public var refusedCount: Int { refused.values.reduce(0, +) }

    mutating func add(_ other: MockBinaryCounters) {
        notifications += other.notifications
        taken += other.taken
        if !other.refused.isEmpty { refused.merge(other.refused, uniquingKeysWith: +) }
        responses += other.responses
        discardedBytes += other.discardedBytes
        connections += other.connections
        openConnections += other.openConnections
        handshakesFailed += other.handshakesFailed
        ledgerFailures += other.ledgerFailures
    }
}
