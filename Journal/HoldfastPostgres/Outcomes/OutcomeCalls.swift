package import Holdfast
package import HoldfastPQ

/// The calls by which a journal's owner tells applications how notifications ended. Each is one round trip and one transaction.
package struct OutcomeCalls: Sendable {
    /// The database has changed, and it is not known yet whether it has all of the journal.
    package static let notHeardState = "HF017"

    private let journal: Int32
    private let epoch: Int64
    private let heardStatement: PQStatement
    private let cursorStatement: PQStatement
    private let putStatement: PQStatement
    private let trimStatement: PQStatement

    package init(_ schema: SchemaName, journal: Int32, epoch: Int64) {
        self.journal = journal
        self.epoch = epoch
        let name = schema.quoted
        heardStatement = PQStatement("SELECT \(name).check_heard($1)", preparedAs: "check_heard")
        cursorStatement = PQStatement("SELECT \(name).outcome_cursor($1, $2)")
        putStatement = PQStatement(
            "SELECT \(name).put_outcomes($1, $2, $3, $4, $5::text::jsonb)", preparedAs: "put_outcomes")
        trimStatement = PQStatement("SELECT \(name).trim_outcomes($1::int8 * interval '1 millisecond', $2)")
    }

    /// How far the journal's outcomes were put.
    package func cursor(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> OutcomeCursor {
        let place = try connection.run([PQStep(cursorStatement, ownership())], by: deadline)[0].row(0).int8(0)
        return OutcomeCursor(UInt64(max(place, 0)))
    }

    /// Puts outcomes, and moves the cursor behind them.
    ///
    /// - Parameters:
    ///   - outcomes: those between the two places that are to be told.
    ///   - start: where the cursor is.
    /// - Throws: `refused` with ``LogRefusal/outcomesMoved`` when the cursor is elsewhere, and with ``notHeardState`` while it is not
    ///   known whether a database that has changed has all of the journal: nothing is put then.
    package func put(
        _ outcomes: [Outcome], from start: OutcomeCursor, to end: OutcomeCursor, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = ownership()
        parameters.append(Int64(bitPattern: start.rawValue))
        parameters.append(Int64(bitPattern: end.rawValue))
        parameters.append(try JSONText.of(outcomes.map(OutcomeEntry.init)))
        var journal = PQParameters()
        journal.append(self.journal)
        try connection.run([PQStep(heardStatement, journal), PQStep(putStatement, parameters)], by: deadline)
    }

    /// Removes outcomes that nobody has taken: those older than an age, and those behind which so many others came.
    ///
    /// - Returns: how many, at most ten thousand.
    package func trim(
        age: Duration, count: Int, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int {
        var parameters = PQParameters()
        parameters.append(Int64(clamping: age.components.seconds.multipliedReportingOverflow(by: 1000).partialValue))
        parameters.append(Int64(count))
        return Int(try connection.run([PQStep(trimStatement, parameters)], by: deadline)[0].row(0).int8(0))
    }

    private func ownership() -> PQParameters {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        return parameters
    }
}
