internal import HoldfastPQ

/// A session of the service's role, opened when it is needed, and again when it was lost.
struct ServiceSession {
    private static let greatestFormer = 8

    private let target: PQTarget
    private let schema: SchemaName
    private let name: String
    private let interruption: PQInterruption
    private let beginning: [PQStep]
    private let endsFormer: Bool
    private let lockPatience: Duration
    private var connection: PQConnection?
    /// Sessions of this one's connections, all but the last given up.
    private var former: [SessionMark] = []

    /// - Parameters:
    ///   - name: for administrators, in `pg_stat_activity`.
    ///   - beginning: what is run over each new connection.
    ///   - endsFormer: whether a new connection ends the sessions of those before. One may hang in its commit and wait for a standby, or
    ///     be kept by a balancer between, which does not know that its client is gone: each try would leave one behind, until the
    ///     server has no room for more. Needs the rights of the service.
    ///   - lockPatience: as ``PQSession/lockPatience``.
    init(
        _ target: PQTarget, _ schema: SchemaName, name: String, _ interruption: PQInterruption,
        beginning: [PQStep] = [], endsFormer: Bool = true, lockPatience: Duration = .zero
    ) {
        self.target = target
        self.schema = schema
        self.name = name
        self.interruption = interruption
        self.beginning = beginning
        self.endsFormer = endsFormer
        self.lockPatience = lockPatience
    }

    /// The connection, and whether it is another one than the last call's.
    mutating func opened(by deadline: ContinuousClock.Instant) throws(PQError) -> (PQConnection, isNew: Bool) {
        // One with an old primary is left for the server with which other sessions live.
        if let connection, connection.isUsable, target.servers?.isPassed(connection, by: deadline) != true {
            return (connection, false)
        }
        close()
        let made = try ServiceConnection.open(
            target, schema, name: name, by: deadline, interruption, lockPatience: lockPatience)
        do throws(PQError) {
            if endsFormer { try endFormer(over: made, by: deadline) }
            if !beginning.isEmpty { try made.run(beginning, by: deadline) }
        } catch {
            made.close()
            throw error
        }
        connection = made
        return (made, true)
    }

    private mutating func endFormer(
        over made: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        let mark = try SessionMark(made, by: deadline)
        // With this one, in case that the rest fails.
        former = former.suffix(Self.greatestFormer) + [mark]
        for other in former where other != mark { try other.end(over: made, schema, by: deadline) }
        former = [mark]
    }

    /// The next call opens another connection.
    mutating func close() {
        connection?.close()
        connection = nil
    }
}
