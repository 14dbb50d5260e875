package import Holdfast
package import HoldfastPQ

/// The calls by which journals are made, watched, taken, held and released. Each is one round trip and one transaction.
package struct OwnershipCalls: Sendable {
    /// The SQLSTATE of a call by a former owner.
    package static let lostState = "HF001"

    private let create: PQStatement
    private let look: PQStatement
    private let take: PQStatement
    private let claim: PQStatement
    private let beat: PQStatement
    private let release: PQStatement
    private let close: PQStatement
    private let accept: PQStatement
    private let list: PQStatement
    private let releases: PQStatement
    private let losses: PQStatement

    package init(_ schema: SchemaName) {
        let name = schema.quoted
        // The functions run as the schema's owner, who may not see it.
        let start = "(SELECT backend_start FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()))"
        create = PQStatement("SELECT \(name).create_journal($1)")
        look = PQStatement(
            "SELECT epoch, n, is_free FROM \(name).look($1)", preparedAs: "look")
        take = PQStatement(
            """
            SELECT t.epoch, \(name).end_session(t.old_pid, t.old_start), \(name).end_sessions($1)
            FROM \(name).take_journal($1, $2, $3, $4, \(start), $5, $6) AS t
            """)
        claim = PQStatement("SELECT \(name).claim_journal($1, $2, $3)")
        beat = PQStatement("SELECT \(name).beat($1, $2, \(start))", preparedAs: "beat")
        release = PQStatement("SELECT \(name).release_journal($1, $2)")
        close = PQStatement("SELECT \(name).close_journal($1, $2)")
        accept = PQStatement("SELECT \(name).accept_journal($1, $2)")
        list = PQStatement("SELECT * FROM \(name).list_journals()", preparedAs: "list_journals")
        releases = PQStatement("SELECT id, seconds FROM \(name).list_releases()")
        losses = PQStatement("SELECT id, began, ended FROM \(name).list_losses()")
    }
}

extension OwnershipCalls {
    /// Makes a journal that nobody owns, or finds the one of this name.
    ///
    /// - Returns: its number.
    package func createJournal(
        _ name: String, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int32 {
        var parameters = PQParameters()
        parameters.append(name)
        return try connection.run([PQStep(create, parameters)], by: deadline)[0].row(0).int4(0)
    }

    /// - Throws: `refused` with 25006 from a standby.
    /// - Returns: `nil` when there is no such journal.
    package func look(
        at journal: Int32, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Sighting? {
        var parameters = PQParameters()
        parameters.append(journal)
        let rows = try connection.run([PQStep(look, parameters, reading: true)], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in
            Sighting(epoch: try row.int8(0), beats: try row.int8(1), isFree: try row.bool(2))
        }
    }

    /// How many seconds journals without an owner have had none, by the database's clock.
    package func releases(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [Int32: Int] {
        var found: [Int32: Int] = [:]
        for row in try connection.run([PQStep(releases, reading: true)], by: deadline)[0].rows {
            found[try row.int4(0)] = Int(max(0, try row.int8(1)))
        }
        return found
    }

    /// The same; empty for who may not ask, as a role that an earlier version has granted.
    package func releasesIfAllowed(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [Int32: Int] {
        try unlessRefused([SchemaError.noRightState]) { () throws(PQError) in try releases(connection, by: deadline) }
    }

    /// The journals of which the last commits may have been lost with a host, in the last 30 days; empty for who may not ask, as a role
    /// that an earlier version has granted.
    package func lossesIfAllowed(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [Int32: LossWindow] {
        try unlessRefused([SchemaError.noRightState, SchemaError.noFunctionState]) { () throws(PQError) in
            var found: [Int32: LossWindow] = [:]
            for row in try connection.run([PQStep(losses, reading: true)], by: deadline)[0].rows {
                let began = try row.int8(1)
                found[try row.int4(0)] = LossWindow(
                    from: began > 0 ? WallTime(milliseconds: began) : nil,
                    to: WallTime(milliseconds: try row.int8(2)))
            }
            return found
        }
    }

    /// - Parameter states: the errors of a server for which nothing is found.
    private func unlessRefused<Found>(
        _ states: [String], _ call: () throws(PQError) -> [Int32: Found]
    ) throws(PQError) -> [Int32: Found] {
        do throws(PQError) { return try call() } catch {
            guard let state = error.sqlState, states.contains(state) else { throw error }
            return [:]
        }
    }

    /// Takes a journal if it is as it was seen, and ends the sessions of its former owner.
    ///
    /// - Parameters:
    ///   - grace: how long after a change of the database nobody takes a journal that was owned before.
    ///   - claim: the last commit of the taker's copy, where that is ahead of the database; else 0.
    /// - Returns: the new epoch; `nil` when the journal has changed, or is not to be taken yet, or not by this host.
    package func take(
        _ journal: Int32, seen: Sighting, host: String, grace: Duration = .zero, claim: UInt64 = 0,
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int64? {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(seen.epoch)
        parameters.append(seen.beats)
        parameters.append(host)
        parameters.append(Int64(grace / .milliseconds(1)))
        parameters.append(Int64(bitPattern: claim))
        let rows = try connection.run([PQStep(take, parameters)], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in try row.int8(0) }
    }

    /// Says that this host has commits of the journal up to a number, which the database lacks.
    ///
    /// - Parameter time: for which that counts. Whoever waits says it again before, so that nobody waits for a host that is gone.
    package func claim(
        _ journal: Int32, upTo number: UInt64, for time: Duration, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(Int64(bitPattern: number))
        parameters.append(Int64(time / .milliseconds(1)))
        try connection.run([PQStep(claim, parameters)], by: deadline)
    }

    /// - Throws: `refused` with ``lostState`` when the journal has another owner.
    package func beat(
        _ journal: Int32, epoch: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        try connection.run([PQStep(beat, Self.ownership(journal, epoch))], by: deadline)
    }

    /// Gives a journal up, so that anybody may take it at once.
    ///
    /// - Parameter isClosing: whether nobody is to take it but whoever wants to accept into it.
    /// - Throws: `refused` with ``lostState`` when the journal has another owner.
    package func release(
        _ journal: Int32, epoch: Int64, closing isClosing: Bool = false, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        try connection.run([PQStep(isClosing ? close : release, Self.ownership(journal, epoch))], by: deadline)
    }

    /// Says that the journal is accepted into, so that others take it when its owner is gone.
    ///
    /// - Throws: `refused` with ``lostState`` when the journal has another owner.
    package func accept(
        into journal: Int32, epoch: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        try connection.run([PQStep(accept, Self.ownership(journal, epoch))], by: deadline)
    }

    /// All journals of the schema, by their numbers.
    ///
    /// - Throws: `refused` with 25006 from a standby.
    package func list(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [ListedJournal] {
        try connection.run([PQStep(list, PQParameters(), reading: true)], by: deadline)[0].rows.map {
            row throws(PQError) in
            ListedJournal(
                id: try row.int4(0), name: try row.text(1), host: try row.isNull(2) ? nil : try row.text(2),
                sighting: Sighting(epoch: try row.int8(3), beats: try row.int8(4), isFree: try row.bool(5)),
                isClosed: try row.bool(6))
        }
    }

    private static func ownership(_ journal: Int32, _ epoch: Int64) -> PQParameters {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        return parameters
    }
}
