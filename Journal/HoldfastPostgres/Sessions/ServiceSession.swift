internal import HoldfastPQ

/// A session of the service's role, opened when it is needed, and again when it was lost.
struct ServiceSession {
    private let target: PQTarget
    private let schema: SchemaName
    private let name: String
    private let interruption: PQInterruption
    private let beginning: [PQStep]
    private let endsFormer: Bool
    private var connection: PQConnection?
    private var former: SessionMark?

    /// - Parameters:
    ///   - name: for administrators, in `pg_stat_activity`.
    ///   - beginning: what is run over each new connection.
    ///   - endsFormer: whether a new connection ends the session of the one before, which may hang in its commit. Else each try would
    ///     leave one behind that waits for its standby, until the server has no room for more.
    init(
        _ target: PQTarget, _ schema: SchemaName, name: String, _ interruption: PQInterruption,
        beginning: [PQStep] = [], endsFormer: Bool = false
    ) {
        self.target = target
        self.schema = schema
        self.name = name
        self.interruption = interruption
        self.beginning = beginning
        self.endsFormer = endsFormer
    }

    /// The connection, and whether it is another one than the last call's.
    mutating func opened(by deadline: ContinuousClock.Instant) throws(PQError) -> (PQConnection, isNew: Bool) {
        if let connection, connection.isUsable { return (connection, false) }
        close()
        let made = try ServiceConnection.open(target, schema, name: name, by: deadline, interruption)
        do throws(PQError) {
            if endsFormer {
                try former?.end(over: made, schema, by: deadline)
                former = try SessionMark(made, by: deadline)
            }
            if !beginning.isEmpty { try made.run(beginning, by: deadline) }
        } catch {
            made.close()
            throw error
        }
        connection = made
        return (made, true)
    }

    /// The next call opens another connection.
    mutating func close() {
        connection?.close()
        connection = nil
    }
}
