internal import HoldfastPQ

/// Connections of the service's role.
enum ServiceConnection {
    /// A server ends the session of a host that is gone within ten seconds, the time after which others take its journals. It may
    /// hold the lock of a journal's row, when the host's last words did not arrive whole.
    private static let keepalives = [
        "tcp_keepalives_idle": "4", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3",
    ]

    /// Connects, and finds out whether this program may use the schema.
    ///
    /// - Parameters:
    ///   - name: for administrators, in `pg_stat_activity`.
    ///   - lockPatience: as ``PQSession/lockPatience``.
    /// - Throws: `unexpected`, with what is to be done, for a schema that can't be used, and `refused` with SQLSTATE 42501 where the
    ///   role may not, or 25006 where nothing can be written.
    static func open(
        _ target: PQTarget, _ schema: SchemaName, name: String, by deadline: ContinuousClock.Instant,
        _ interruption: PQInterruption, lockPatience: Duration = .zero
    ) throws(PQError) -> PQConnection {
        let session = PQSession(applicationName: name, settings: keepalives, lockPatience: lockPatience)
        let connection = try target.connect(session, by: deadline, interruption)
        do throws(SchemaError) {
            try Migrator(schema: schema).check(connection, by: deadline)
        } catch {
            connection.close()
            if case .failed(let error) = error { throw error }
            if let message = error.withheldRight {
                throw PQError(
                    .refused, message,
                    server: ServerReport(severity: "ERROR", sqlState: SchemaError.noRightState, message: message))
            }
            throw PQError(.unexpected, error.description)
        }
        guard let refusal = connection.facts.readOnlyRefusal else { return connection }
        connection.close()
        throw refusal
    }
}
