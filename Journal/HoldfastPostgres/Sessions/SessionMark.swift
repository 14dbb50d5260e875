internal import HoldfastPQ

/// A session of a server, known by its process and its start, since numbers of processes come again.
struct SessionMark: Hashable, Sendable {
    private let backend: Int32
    /// Microseconds since 1970.
    private let start: Int64

    /// The session of a connection.
    init(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) {
        let step = PQStep(
            """
            SELECT (extract(epoch FROM backend_start) * 1000000)::int8
            FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())
            """, reading: true)
        start = try connection.run([step], by: deadline)[0].row(0).int8(0)
        backend = connection.facts.backend
    }

    /// Ends the session, if it is still there and of the same role. Its last commit may be made nevertheless.
    func end(over connection: PQConnection, _ schema: SchemaName, by deadline: ContinuousClock.Instant) throws(PQError)
    {
        var parameters = PQParameters()
        parameters.append(backend)
        parameters.append(start)
        let sql = """
            SELECT \(schema.quoted).end_session($1, TIMESTAMPTZ 'epoch' + $2::float8 * INTERVAL '1 microsecond')
            """
        try connection.run([PQStep(sql, parameters, reading: true)], by: deadline)
    }
}
