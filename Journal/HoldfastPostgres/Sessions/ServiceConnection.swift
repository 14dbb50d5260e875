internal import HoldfastPQ

/// Connections of the service's role.
enum ServiceConnection {
    /// Connects, and finds out whether this program may use the schema.
    ///
    /// - Parameter name: for administrators, in `pg_stat_activity`.
    /// - Throws: `unexpected`, with what is to be done, for a schema that can't be used.
    static func open(
        _ target: PQTarget, _ schema: SchemaName, name: String, by deadline: ContinuousClock.Instant,
        _ interruption: PQInterruption
    ) throws(PQError) -> PQConnection {
        let connection = try PQConnection(target, PQSession(applicationName: name), by: deadline, interruption)
        do throws(SchemaError) {
            try Migrator(schema: schema).check(connection, by: deadline)
            return connection
        } catch {
            connection.close()
            if case .failed(let error) = error { throw error }
            throw PQError(.unexpected, error.description)
        }
    }
}
