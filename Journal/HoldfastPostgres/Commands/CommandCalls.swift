package import Foundation
package import HoldfastPQ

/// A command that an owner has claimed.
package struct ClaimedCommand: Sendable {
    package let id: UUID
    package let journal: Int32
    package let request: [UInt8]
    /// From the instant at which the claim was sent: behind it, the command must not be carried out.
    package let time: Duration
}

/// The calls by which commands go to the owners of journals, and answers come back. Each is one round trip.
package struct CommandCalls: Sendable {
    /// There is no journal of that name.
    package static let noJournalState = "HF006"
    /// Too many commands wait for the journal's owner.
    package static let busyState = "HF012"
    /// A value is larger than it may be.
    package static let tooLargeState = "HF013"

    /// Waits for notifications of commands, and of answers.
    package let listenToCommands: PQStep
    package let listenToAnswers: PQStep
    private let ask: PQStatement
    private let read: PQStatement
    private let withdraw: PQStatement
    private let forget: PQStatement
    private let claim: PQStatement
    private let answer: PQStatement

    package init(_ schema: SchemaName) {
        let name = schema.quoted
        listenToCommands = PQStep("LISTEN \(Migration.commandChannel(name).quotedName)")
        listenToAnswers = PQStep("LISTEN \(Migration.answerChannel(name).quotedName)")
        ask = PQStatement("SELECT host, is_free FROM \(name).ask_command($1, $2, $3, $4)")
        read = PQStatement("SELECT claimed_by, answer FROM \(name).read_answer($1)")
        withdraw = PQStatement("SELECT \(name).withdraw_command($1)")
        forget = PQStatement("SELECT \(name).forget_command($1)")
        claim = PQStatement(
            "SELECT id, journal, request, left_ms FROM \(name).claim_commands($1, $2, $3, $4)",
            preparedAs: "claim_commands")
        answer = PQStatement("SELECT \(name).answer_command($1, $2)")
    }

    /// Asks the owner of a journal. The same command may be asked again.
    ///
    /// - Parameter patience: after which nobody claims it any more.
    /// - Returns: the host that owned the journal last; nil for none. Whether the journal is free.
    package func ask(
        _ id: UUID, journal: String, _ request: [UInt8], patience: Duration, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (host: String?, isFree: Bool) {
        var parameters = PQParameters()
        parameters.append(id)
        parameters.append(journal)
        parameters.append(request)
        parameters.append(max(1, patience.milliseconds))
        let row = try connection.run([PQStep(ask, parameters)], by: deadline)[0].row(0)
        return (try row.isNull(0) ? nil : try row.text(0), try row.bool(1))
    }

    /// - Returns: nil when there is no such command. Without an answer it may be claimed.
    package func read(
        _ id: UUID, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (host: String?, answer: [UInt8]?)? {
        let rows = try connection.run([PQStep(read, Self.parameters(id), reading: true)], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in
            (try row.isNull(0) ? nil : try row.text(0), try row.isNull(1) ? nil : try row.bytes(1))
        }
    }

    /// Takes a command back that nobody has claimed.
    ///
    /// - Returns: whether it was so, and nobody carries it out.
    package func withdraw(
        _ id: UUID, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool {
        try connection.run([PQStep(withdraw, Self.parameters(id))], by: deadline)[0].row(0).bool(0)
    }

    /// Deletes a command that was answered.
    package func forget(
        _ id: UUID, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        try connection.run([PQStep(forget, Self.parameters(id))], by: deadline)
    }

    /// Claims commands of journals whose owner is this host.
    package func claim(
        _ journals: [(journal: Int32, epoch: Int64)], host: String, limit: Int, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [ClaimedCommand] {
        var parameters = PQParameters()
        parameters.append(journals.map { Int64($0.journal) })
        parameters.append(journals.map(\.epoch))
        parameters.append(host)
        parameters.append(Int32(clamping: limit))
        let rows = try connection.run([PQStep(claim, parameters)], by: deadline)[0].rows
        return try rows.map { row throws(PQError) in
            ClaimedCommand(
                id: try row.uuid(0), journal: try row.int4(1), request: try row.bytes(2),
                time: .milliseconds(try row.int8(3)))
        }
    }

    /// - Returns: whether anybody may still read the answer.
    @discardableResult
    package func answer(
        _ id: UUID, _ bytes: [UInt8], _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool {
        var parameters = Self.parameters(id)
        parameters.append(bytes)
        return try connection.run([PQStep(answer, parameters)], by: deadline)[0].row(0).bool(0)
    }

    private static func parameters(_ id: UUID) -> PQParameters {
        var parameters = PQParameters()
        parameters.append(id)
        return parameters
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
