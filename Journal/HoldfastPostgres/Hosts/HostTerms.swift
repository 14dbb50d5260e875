package import Holdfast
package import HoldfastJournal
package import HoldfastPQ

/// What a host opens journals of the fleet with.
package struct HostTerms: Sendable {
    package var target: PQTarget
    package var schema: SchemaName
    /// The name of this host, by which its own journals are named.
    package var host: String
    /// Of each journal. What a working copy needs is set here.
    package var options: JournalOptions
    package var times: LeaseTimes
    package var clock: EngineClock
    /// For connecting.
    package var connecting: Duration
    /// How long the calls of a checkpoint or the making of a copy wait for their answers.
    package var answer: Duration
    /// How long a gate waits for the answer to a commit, before it makes it again over a new connection. Nothing is accepted
    /// meanwhile: the connection may be dead, with a lease that lives.
    package var commit: Duration
    /// How long the database is waited for when a journal is closed.
    package var closing: Duration
    /// Between two looks at a journal's log.
    package var upkeep: Duration

    package init(
        target: PQTarget, schema: SchemaName = .standard, host: String, options: JournalOptions = JournalOptions(),
        times: LeaseTimes = LeaseTimes(), clock: EngineClock = .system, connecting: Duration = .seconds(5),
        answer: Duration = .seconds(60), commit: Duration = .seconds(20), closing: Duration = .seconds(10),
        upkeep: Duration = .seconds(10)
    ) {
        self.target = target
        self.schema = schema
        self.host = host
        self.options = options
        self.times = times
        self.clock = clock
        self.connecting = connecting
        self.answer = answer
        self.commit = commit
        self.closing = closing
        self.upkeep = upkeep
    }

    /// Connects, finds out whether a host of this program and this role can use the database, and asks which losses are
    /// survived. Changes nothing.
    package func examine(by deadline: ContinuousClock.Instant) throws(JournalError) -> DatabaseDurability {
        do throws(PQError) {
            let interruption = try PQInterruption()
            let connection = try ServiceConnection.open(
                target, schema, name: "holdfast check", by: deadline, interruption, lockPatience: LockPatience.command)
            defer { connection.close() }
            try refuseSharedSessions(connection, by: deadline, interruption)
            do throws(SchemaError) { try Migrator(schema: schema).requireEncoding(connection) } catch {
                throw PQError(.unexpected, error.description)
            }
            if let withheld = try Migrator(schema: schema).withheld(connection, by: deadline).first {
                throw PQError(withheld: withheld, from: connection.facts)
            }
            // Of what a host calls, those that change nothing.
            _ = try OwnershipCalls(schema).list(connection, by: deadline)
            _ = try FleetCalls(schema).lineages(connection, by: deadline)
            _ = try IdentityCalls(schema).key(connection, by: deadline)
            _ = try OrderCalls(schema).last(connection, by: deadline)
            return try DatabaseDurability(connection, by: deadline)
        } catch {
            throw JournalError(error)
        }
    }

    /// - Throws: `unexpected` when a pooler lies between that shares sessions.
    func refuseSharedSessions(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption
    ) throws(PQError) {
        try PoolerCheck.refuseSharing(of: connection, by: deadline) { () throws(PQError) in
            try connect("holdfast check", interruption)
        }
    }

    func connect(_ name: String, _ interruption: PQInterruption) throws(PQError) -> PQConnection {
        try ServiceConnection.open(
            target, schema, name: name, by: .now + connecting, interruption, lockPatience: LockPatience.repeated)
    }

    func lease(
        _ journal: Int32, formerEpoch: Int64? = nil, claim: UInt64 = 0, taken: JournalLease.Taken? = nil
    ) -> JournalLease.Terms {
        var lease = JournalLease.Terms(
            target: target, schema: schema, journal: journal, host: host, times: times, clock: clock)
        lease.formerEpoch = formerEpoch
        lease.claim = claim
        lease.taken = taken
        return lease
    }
}

extension PQError {
    /// A host's role may not call a function.
    fileprivate init(withheld function: String, from facts: PQFacts) {
        let message = SchemaError.withheld(from: facts, "call \(function)")
        self.init(
            .refused, message,
            server: ServerReport(severity: "ERROR", sqlState: SchemaError.noRightState, message: message))
    }
}
