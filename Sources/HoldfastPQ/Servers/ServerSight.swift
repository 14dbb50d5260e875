/// A server that can be written to, as a session has found it.
package struct ServerSight: Hashable, Sendable {
    /// Of the cluster: a standby, and a server that was made of a physical backup, have the same.
    package let system: String
    /// Counts the promotions behind it.
    package let timeline: UInt32
    /// Of the server's process: the same server has the same by whichever address.
    package let start: String
    /// For people.
    package let place: String

    package init(system: String, timeline: UInt32, start: String, place: String) {
        (self.system, self.timeline, self.start, self.place) = (system, timeline, start, place)
    }

    /// - Returns: nil for a standby, and where the server does not let this user ask.
    /// - Throws: where the connection is lost.
    init?(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) {
        guard !connection.facts.isInRecovery else { return nil }
        do throws(PQError) {
            let row = try connection.run([Self.look], by: deadline)[0].row(0)
            guard let timeline = UInt32(try row.text(1), radix: 16) else { return nil }
            self.init(
                system: try row.text(0), timeline: timeline, start: try row.text(2), place: connection.place.words)
        } catch {
            guard error.kind == .refused else { throw error }
            return nil
        }
    }

    private static let look = PQStep(
        """
        SELECT (SELECT c.system_identifier::text FROM pg_catalog.pg_control_system() c),
            pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8),
            extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text
        """, reading: true)
}
