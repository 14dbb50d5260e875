internal import HoldfastPQ

/// Finds out whether a pooler gives one session of the server to several connections in turn.
///
/// A host prepares statements in its sessions, and sets them up. Both would be lost, or be found where another connection made
/// them, at some later time.
enum PoolerCheck {
    private static let rounds = 20

    /// - Parameter other: opens another connection to the same place.
    /// - Throws: `unexpected`, with what is to be done.
    static func refuseSharing(
        of connection: PQConnection, by deadline: ContinuousClock.Instant,
        other: () throws(PQError) -> PQConnection
    ) throws(PQError) {
        let first = try backend(of: connection, by: deadline)
        // Only a pooler gives its clients another number than the session's process has.
        guard first != connection.facts.backend else { return }
        let second = try other()
        defer { second.close() }
        var owns: Set = [first]
        var others: Set<Int32> = []
        for round in 0..<rounds {
            // In both orders, for poolers that take their sessions in turn.
            if round % 2 == 0 { others.insert(try backend(of: second, by: deadline)) }
            owns.insert(try backend(of: connection, by: deadline))
            if round % 2 == 1 { others.insert(try backend(of: second, by: deadline)) }
            guard owns.count == 1, others.count <= 1, owns.isDisjoint(with: others) else { throw shared }
        }
    }

    private static func backend(
        of connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int32 {
        let step = PQStep("SELECT pg_catalog.pg_backend_pid()", reading: true)
        return try connection.run([step], by: deadline)[0].row(0).int4(0)
    }

    private static let shared = PQError(
        .unexpected, "a host needs sessions of its own, and \(PQError.sharing)")
}
