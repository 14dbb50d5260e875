internal import Foundation
package import Holdfast
package import HoldfastPQ

/// The calls by which a journal's owner takes rows of the outbox. Each is one round trip and one transaction.
package struct OutboxCalls: Sendable {
    /// The end of a row that is not taken into the journal.
    package struct Ending: Encodable, Sendable {
        let id: Int64
        let outcome: String?
        let reason: String?
        let detail: String?
        let since: Int64?

        /// - Parameter refusal: why it is told as rejected; `nil` for one that the journal had before.
        package init(_ id: Int64, _ refusal: Refusal?) {
            self.id = id
            outcome = nil
            reason = JSONText.plain(refusal?.reason.rawValue)
            detail = JSONText.plain(refusal?.detail)
            since = (refusal?.blacklistEntry?.since).map(JSONText.time)
        }

        /// Of one that may have been sent, and is not to be sent twice.
        init(unknown id: Int64) {
            self.id = id
            (reason, since) = (nil, nil)
            outcome = TerminalOutcome.unknown.word
            detail =
                "the database has lost what became of it, and nobody knows whether it was sent; at-most-once, it is not sent again"
        }
    }

    private let journal: Int32
    private let epoch: Int64
    private let hold: Int64
    private let claimStatement: PQStatement
    private let beforeStatement: PQStatement
    private let releaseStatement: PQStatement
    private let settleStatement: PQStatement
    private let turnStatement: PQStatement

    /// - Parameter hold: for which rows that were there before the database changed wait for all owners, at most.
    package init(_ schema: SchemaName, journal: Int32, epoch: Int64, hold: Duration = OutboxIntake.Terms.hold) {
        self.hold = Int64(hold / .milliseconds(1))
        self.journal = journal
        self.epoch = epoch
        let name = schema.quoted
        claimStatement = PQStatement(
            "SELECT * FROM \(name).claim_outbox($1, $2, $3, $4, $5)", preparedAs: "claim_outbox")
        beforeStatement = PQStatement("SELECT * FROM \(name).reclaim_outbox($1, $2, $3, $4, $5)")
        releaseStatement = PQStatement("SELECT \(name).release_outbox($1, $2, $3)")
        settleStatement = PQStatement("SELECT \(name).settle_outbox($1, $2, $3::text::jsonb)")
        turnStatement = PQStatement("SELECT \(name).turn_slots()")
    }

    /// Claims rows that nobody has, in the order of their numbers. They are this journal's until they end.
    ///
    /// - Parameter now: by this host's clock, which decides what is due of the scheduled ones. The database's may be any other.
    package func claim(
        _ most: Int, at now: WallTime, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [OutboxRow] {
        var parameters = ownership()
        parameters.append(Int32(clamping: most))
        parameters.append(hold)
        parameters.append(now.milliseconds)
        let rows = try rows(connection.run([PQStep(claimStatement, parameters)], by: deadline)[0])
        return rows.sorted { $0.id < $1.id }
    }

    /// Rows that this journal has claimed, behind a number: by a call that was in doubt, or by an owner before.
    package func claimed(
        after id: Int64, _ most: Int, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [OutboxRow] {
        var parameters = ownership()
        parameters.append(id)
        parameters.append(Int32(clamping: most))
        parameters.append(hold)
        return try rows(connection.run([PQStep(beforeStatement, parameters)], by: deadline)[0])
    }

    /// Lets others have rows.
    package func release(
        _ ids: [Int64], _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = ownership()
        parameters.append(ids)
        try connection.run([PQStep(releaseStatement, parameters)], by: deadline)
    }

    /// Removes rows, and tells those as rejected that were refused. May be repeated.
    package func settle(
        _ endings: [Ending], _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = ownership()
        parameters.append(try JSONText.of(endings))
        try connection.run([PQStep(settleStatement, parameters)], by: deadline)
    }

    /// Gives back the room of rows that are gone. Any host may.
    package func turn(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) {
        try connection.run([PQStep(turnStatement, PQParameters())], by: deadline)
    }

    private func rows(_ result: PQResult) throws(PQError) -> [OutboxRow] {
        try result.rows.map { row throws(PQError) in try OutboxRow(row) }
    }

    private func ownership() -> PQParameters {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        return parameters
    }
}
