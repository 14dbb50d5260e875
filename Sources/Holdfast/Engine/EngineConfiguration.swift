/// The engine's named bounds, each with its default.
public struct EngineConfiguration: Hashable, Sendable {
    /// The most entries of a route that are in flight: handed to a connection and not yet durably settled. It bounds
    /// what a crash can send twice. Default: 2000.
    public var window = 2000
    /// What an absent expiration becomes, counted from acceptance. Default: 24 hours.
    public var defaultLifetime: Duration = .seconds(24 * 60 * 60)
    /// The most notifications of one commit of `submit`; a larger batch is split. Default: 5000.
    public var submissionChunk = 5000
    public var retry = RetrySchedule()
    /// The upper bound of the wait before a connection is tried again, after the first failure and at most; full jitter.
    public var reconnectMinimum: Duration = .seconds(1)
    public var reconnectMaximum: Duration = .seconds(60)
    /// How long a graceful shutdown waits for what is in flight. What is not answered by then stays in the journal.
    /// Default: 10 s.
    public var shutdownLimit: Duration = .seconds(10)
    /// How long a settlement that the journal could not write waits before it is tried again. Default: 250 ms.
    public var settlementRetry: Duration = .milliseconds(250)

    public init() {}
}
