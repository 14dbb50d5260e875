/// Finds out for whose lock a call waits, over a connection of its own: the server that keeps the one silent answers the other.
///
/// Asks while the session of the call is still there. A server notices that a client has gone (``PQSession``) and ends its session,
/// and then nobody knows any more why it had no answer.
struct LockLook {
    let target: PQTarget
    let interruption: PQInterruption
    let patience: Duration

    /// - Parameter backend: the session that waits, on the server at `place`.
    /// - Returns: the session that holds the lock, for people; `nil` where none was found.
    func holder(keeping backend: Int32, at place: PQPlace) -> String? {
        let deadline = ContinuousClock.now + patience
        var parameters = PQParameters()
        parameters.append(backend)
        do throws(PQError) {
            let session = PQSession(applicationName: "holdfast look")
            let connection = try PQConnection(target.only(place), session, by: deadline, interruption)
            defer { connection.close() }
            let found = try connection.run([PQStep(Self.look, parameters, reading: true)], by: deadline)
            guard let row = found[0].rows.first else { return nil }
            return Self.words(try row.int4(0), role: try row.text(1), name: try row.text(2))
        } catch {
            // The call's own error is told.
            return nil
        }
    }

    private static func words(_ holder: Int32, role: String, name: String) -> String {
        let whose = [role.isEmpty ? nil : "role \(role)", name.isEmpty ? nil : name].compactMap(\.self)
        return "session \(holder)" + (whose.isEmpty ? "" : " (\(whose.joined(separator: ", ")))")
    }

    /// Finds the session that keeps this one waiting, perhaps by way of others, and itself waits for no lock. A pooler between may
    /// have told another number: then any session of this role is taken that waits. Fields that a role may not see are null. While
    /// a commit waits for a standby, its session keeps its locks: that one is not named, and the standby is told.
    private static let look = """
        WITH RECURSIVE waiting AS (
            SELECT a.pid FROM pg_catalog.pg_stat_activity a
            WHERE a.usename = current_user AND a.wait_event_type = 'Lock' ORDER BY a.pid <> $1 LIMIT 1
        ), holding (pid, depth) AS (
            SELECT h.pid, 1 FROM waiting w, pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) AS h (pid)
            UNION
            SELECT n.pid, h.depth + 1
            FROM holding h, pg_catalog.unnest(pg_catalog.pg_blocking_pids(h.pid)) AS n (pid) WHERE h.depth < 8
        )
        SELECT b.pid, coalesce(b.usename::text, ''), coalesce(b.application_name, '')
        FROM holding h JOIN pg_catalog.pg_stat_activity b ON b.pid = h.pid
        WHERE pg_catalog.cardinality(pg_catalog.pg_blocking_pids(b.pid)) = 0
            AND CASE WHEN b.state IS NOT NULL THEN b.wait_event IS DISTINCT FROM 'SyncRep'
                ELSE NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity w WHERE w.wait_event = 'SyncRep') END
        ORDER BY b.backend_start LIMIT 1
        """
}
