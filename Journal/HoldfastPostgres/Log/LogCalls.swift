package import HoldfastLMDB
package import HoldfastPQ

/// The calls by which commits are kept in the log of a journal and read again. Each is one round trip and one transaction.
package struct LogCalls: Sendable {
    let schema: SchemaName
    package let journal: Int32
    private let keepStatement: PQStatement
    private let takeStatement: PQStatement
    private let claimStatement: PQStatement
    private let fenceStatement: PQStatement
    private let stateStatement: PQStatement
    private let logStatement: PQStatement
    private let checkpointStatement: PQStatement

    package init(_ schema: SchemaName, journal: Int32) {
        self.schema = schema
        self.journal = journal
        let name = schema.quoted
        keepStatement = PQStatement("SELECT \(name).keep_commit($1, $2, $3, $4)", preparedAs: "keep_commit")
        takeStatement = PQStatement(
            "SELECT \(name).keep_commit_taking($1, $2, $3, $4, $5)", preparedAs: "keep_commit_taking")
        claimStatement = PQStatement(
            "SELECT * FROM \(name).keep_commit_claiming($1, $2, $3, $4, $5, $6, $7)",
            preparedAs: "keep_commit_claiming")
        fenceStatement = PQStatement("SELECT \(name).fence_log($1, $2)")
        stateStatement = PQStatement("SELECT * FROM \(name).log_state($1, $2)")
        logStatement = PQStatement("SELECT * FROM \(name).read_log($1, $2, $3, $4)", preparedAs: "read_log")
        checkpointStatement = PQStatement(
            "SELECT * FROM \(name).read_checkpoint($1, $2, $3, $4, $5)", preparedAs: "read_checkpoint")
    }

    /// Keeps a commit. One that was kept may be sent again.
    ///
    /// - Parameters:
    ///   - rows: of the outbox, which are deleted with it.
    ///   - claims: identities, in the order of their UIDs.
    /// - Returns: the identities that other commits have, with their UIDs. Unless there are none, this one is not kept.
    /// - Throws: `refused` with a state of ``LogRefusal``, among others.
    @discardableResult
    package func keep(
        _ number: UInt64, _ parts: [[UInt8]], taking rows: [Int64] = [], claiming claims: [CommitClaim] = [],
        epoch: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [CommitClaim] {
        var parameters = ownership(epoch)
        parameters.append(Int64(bitPattern: number))
        parameters.append(parts)
        guard claims.isEmpty else {
            parameters.append(rows)
            parameters.append(claims)
            return try connection.run([PQStep(claimStatement, parameters)], by: deadline)[0].claims
        }
        if !rows.isEmpty { parameters.append(rows) }
        try connection.run([PQStep(rows.isEmpty ? keepStatement : takeStatement, parameters)], by: deadline)
        return []
    }

    /// Waits until nothing of this journal is under way, and reads what there is. What is read afterwards is on the standby, too.
    ///
    /// - Parameter number: of a commit whose checksum is wanted.
    package func fencedState(
        sumOf number: UInt64, epoch: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> LogState {
        let steps = [PQStep(fenceStatement, ownership(epoch)), stateStep(number)]
        return try state(connection.run(steps, by: deadline)[1])
    }

    /// The bounds of the log now. No ownership is needed.
    package func state(
        sumOf number: UInt64 = 0, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> LogState {
        try state(connection.run([stateStep(number)], by: deadline)[0])
    }

    /// Rows of commits behind a place, in their order, of so many bytes and the last row's. None at the end.
    package func readLog(
        after place: (number: UInt64, part: Int), bytes: Int, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [LogRow] {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(Int64(bitPattern: place.number))
        parameters.append(Int32(place.part))
        parameters.append(Int64(bytes))
        let rows = try connection.run([PQStep(logStatement, parameters, reading: true)], by: deadline)[0].rows
        return try rows.map { row throws(PQError) in
            LogRow(number: try row.number(0), part: Int(try row.int4(1)), bytes: try row.bytes(2))
        }
    }

    /// The same for chunks of the checkpoint of a commit. Their numbers are one higher than in the database, from 1.
    package func readCheckpoint(
        of number: UInt64, after place: (number: UInt64, part: Int), bytes: Int, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [LogRow] {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(Int64(bitPattern: number))
        parameters.append(Int32(truncatingIfNeeded: place.number) - 1)
        parameters.append(Int32(place.part))
        parameters.append(Int64(bytes))
        let rows = try connection.run([PQStep(checkpointStatement, parameters, reading: true)], by: deadline)[0].rows
        return try rows.map { row throws(PQError) in
            LogRow(number: UInt64(max(try row.int4(0), 0)) + 1, part: Int(try row.int4(1)), bytes: try row.bytes(2))
        }
    }

    private func ownership(_ epoch: Int64) -> PQParameters {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        return parameters
    }

    private func stateStep(_ number: UInt64) -> PQStep {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(Int64(bitPattern: number))
        return PQStep(stateStatement, parameters, reading: true)
    }

    private func state(_ result: PQResult) throws(PQError) -> LogState {
        guard let row = result.rows.first else {
            throw PQError(.unexpected, "the schema has no journal \(journal)")
        }
        return LogState(
            last: try row.number(0), checkpoint: try row.number(1), checkpointSum: try row.sum(2) ?? 0,
            checkpointChunks: Int(try row.int4(3)), logByteCount: Int(try row.int8(4)),
            checkpointByteCount: Int(try row.int8(5)), isTrimmed: try row.bool(6),
            sum: try row.isNull(7) ? nil : try row.sum(7))
    }
}

extension PQRow {
    fileprivate func number(_ column: Int) throws(PQError) -> UInt64 {
        guard let number = UInt64(exactly: try int8(column)) else {
            throw PQError(.unexpected, "column \(column + 1) of the answer is below zero")
        }
        return number
    }

    /// The checksum with which effects begin.
    fileprivate func sum(_ column: Int) throws(PQError) -> UInt64? {
        try withBytes(column) { bytes in bytes.count == 8 ? bytes.load(UInt64.self, at: 0) : nil }
    }
}
