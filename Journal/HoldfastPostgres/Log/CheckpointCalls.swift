package import HoldfastPQ

/// The calls by which a checkpoint is made, in their order. Each is one round trip and one transaction, by the owner.
package struct CheckpointCalls: Sendable {
    private let journal: Int32
    private let epoch: Int64
    private let trimStatement: PQStatement
    private let beginStatement: PQStatement
    private let putStatement: PQStatement
    private let endStatement: PQStatement
    private let restoreStatement: PQStatement

    package init(_ schema: SchemaName, journal: Int32, epoch: Int64) {
        self.journal = journal
        self.epoch = epoch
        let name = schema.quoted
        trimStatement = PQStatement("SELECT \(name).trim_log($1, $2)")
        beginStatement = PQStatement("SELECT \(name).begin_checkpoint($1, $2)")
        putStatement = PQStatement("SELECT \(name).put_chunk($1, $2, $3, $4)", preparedAs: "put_chunk")
        endStatement = PQStatement("SELECT \(name).end_checkpoint($1, $2, $3, $4, $5)")
        restoreStatement = PQStatement("SELECT \(name).restore_checkpoint($1, $2, $3, $4, $5)")
    }

    /// Truncates what no reader needs: what was before the last complete checkpoint, and chunks of one that was given up.
    ///
    /// - Returns: false where somebody still reads it.
    package func trim(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> Bool {
        do throws(PQError) {
            try connection.run([PQStep(trimStatement, parameters())], by: deadline)
            return true
        } catch {
            guard error.kind == .refused, error.sqlState == LogRefusal.inUse else { throw error }
            return false
        }
    }

    /// Lets later commits go to the other slot.
    ///
    /// - Returns: the last commit before them, which the checkpoint must have.
    package func begin(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> UInt64 {
        let row = try connection.run([PQStep(beginStatement, parameters())], by: deadline)[0].row(0)
        return UInt64(max(try row.int8(0), 0))
    }

    /// - Parameter index: from 0.
    package func put(
        _ index: Int, _ parts: [[UInt8]], _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = parameters()
        parameters.append(Int32(index))
        parameters.append(parts)
        try connection.run([PQStep(putStatement, parameters)], by: deadline)
    }

    /// From now on the checkpoint is what copies are made of.
    ///
    /// - Parameters:
    ///   - number: the commit whose rows it has, with the checksum of its effects.
    ///   - chunks: how many were put.
    ///   - isRestoring: whether the log lacks that commit. There must be none since ``begin(_:by:)``.
    package func end(
        _ number: UInt64, sum: UInt64, chunks: Int, restoring isRestoring: Bool = false, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = parameters()
        parameters.append(Int64(bitPattern: number))
        parameters.append((0..<8).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) })
        parameters.append(Int32(chunks))
        let statement = isRestoring ? restoreStatement : endStatement
        try connection.run([PQStep(statement, parameters)], by: deadline)
    }

    private func parameters() -> PQParameters {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        return parameters
    }
}
