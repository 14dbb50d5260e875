package import HoldfastPQ

/// What the server says of the sessions of journals' owners. It tells that to the owners' own role, and to few others.
package struct JournalSessions: Sendable {
    private struct Session {
        let name: String
        /// Since its last statement began or ended.
        let seconds: Int64
        let isWaiting: Bool
    }

    private let sessions: [Session]

    package init(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) {
        let step = PQStep(
            """
            SELECT application_name, extract(epoch FROM pg_catalog.clock_timestamp() - state_change)::int8,
                coalesce(wait_event = 'SyncRep', false)
            FROM pg_catalog.pg_stat_activity
            WHERE application_name LIKE 'holdfast %' AND state_change IS NOT NULL
            """, reading: true)
        sessions = try connection.run([step], by: deadline)[0].rows.map { row throws(PQError) in
            Session(name: try row.text(0), seconds: max(0, try row.int8(1)), isWaiting: try row.bool(2))
        }
    }

    /// How long the owner of a journal has not renewed its lease; nil where its session is gone, or not to be seen.
    package func silence(of journal: Int32) -> Int? {
        sessions.filter { $0.name == "holdfast lease of journal \(journal)" }.map { Int($0.seconds) }.min()
    }

    /// How long a commit of a journal waits for a standby; nil when none does.
    package func waitForStandby(of journal: Int32) -> Int? {
        sessions.filter { $0.name == "holdfast log of journal \(journal)" && $0.isWaiting }.map { Int($0.seconds) }
            .max()
    }
}
