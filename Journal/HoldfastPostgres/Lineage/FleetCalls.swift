internal import Holdfast
internal import HoldfastPQ

/// The identity of the database, as of one look.
struct FleetSighting: Hashable, Sendable {
    /// Of the schema: what a dump and a backup keep, and no other database has.
    let id: String
    /// Changes when the server was started again, another one was promoted, or the schema was restored: then the database may be
    /// older than it was.
    let incarnation: String
}

/// The calls by which hosts notice that the database went back in time, and agree on who goes on with a journal.
struct FleetCalls: Sendable {
    private let look: PQStatement
    private let list: PQStatement
    private let note: PQStatement
    private let hear: PQStatement
    private let taken: PQStatement
    private let restore: PQStatement
    let rememberStatement: PQStatement
    let vouchStatement: PQStatement
    let doubtStatement: PQStatement
    let endDoubtStatement: PQStatement
    let noteLossStatement: PQStatement

    init(_ schema: SchemaName) {
        let name = schema.quoted
        look = PQStatement("SELECT id::text, incarnation FROM \(name).look_at_fleet()", preparedAs: "look_at_fleet")
        list = PQStatement("SELECT journal, first, stamp::text FROM \(name).list_ownerships()")
        note = PQStatement("SELECT \(name).note_ownerships($1, $2, $3, $4::text[]::uuid[])")
        hear = PQStatement("SELECT \(name).hear_journal($1, $2::text::uuid, $3)")
        taken = PQStatement("SELECT \(name).claim_taken($1, $2, $3, $4)")
        restore = PQStatement("SELECT \(name).may_restore($1, $2, $3::text::uuid, $4, $5)")
        rememberStatement = PQStatement(
            "SELECT id, incarnation, timeline, awaited, beats, is_asked FROM \(name).remember_fleet()",
            preparedAs: "remember_fleet")
        vouchStatement = PQStatement("SELECT \(name).vouch($1, $2, $3, $4, $5::text::int4[])")
        doubtStatement = PQStatement("SELECT \(name).doubt_of($1, $2, $3)")
        endDoubtStatement = PQStatement("SELECT \(name).end_doubt($1, $2)")
        noteLossStatement = PQStatement("SELECT \(name).note_loss($1, $2, $3)")
    }

    /// - Throws: `refused` with 25006 from a standby.
    func look(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> FleetSighting {
        let row = try connection.run([PQStep(look)], by: deadline)[0].row(0)
        return FleetSighting(id: try row.text(0), incarnation: try row.text(1))
    }

    /// Who has written each journal.
    func lineages(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> [Int32: Lineage] {
        var found: [Int32: [Lineage.Ownership]] = [:]
        for row in try connection.run([PQStep(list, reading: true)], by: deadline)[0].rows {
            let one = Lineage.Ownership(first: UInt64(bitPattern: try row.int8(1)), stamp: try row.text(2))
            found[try row.int4(0), default: []].append(one)
        }
        return found.mapValues { Lineage($0) }
    }

    /// - Throws: `refused` with HF001 when the journal has another owner.
    func note(
        _ lineage: Lineage, of journal: Int32, epoch: Int64, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        parameters.append(lineage.ownerships.map { Int64(bitPattern: $0.first) })
        parameters.append("{" + lineage.ownerships.map(\.stamp).joined(separator: ",") + "}")
        try connection.run([PQStep(note, parameters)], by: deadline)
    }

    /// Says that the database has all commits of an ownership, which counts if it was the journal's last one there when the
    /// database changed.
    ///
    /// - Parameter incarnation: as of before that was found.
    func hear(
        _ journal: Int32, stamp: String, incarnation: String, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(stamp)
        parameters.append(incarnation)
        try connection.run([PQStep(hear, parameters)], by: deadline)
    }

    /// Whether the owner of a journal may write back what the database has lost, without opening it again.
    ///
    /// - Parameters:
    ///   - stamp: of the ownership under which it has the journal.
    ///   - number: its last commit.
    ///   - grace: how long after a change of the database others are waited for who may have more.
    /// - Throws: `refused` with HF001 when the journal has another owner.
    /// - Returns: false where it must not, `nil` where that is not known yet.
    func mayRestore(
        _ journal: Int32, epoch: Int64, stamp: String, upTo number: UInt64, grace: Duration,
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool? {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        parameters.append(stamp)
        parameters.append(Int64(bitPattern: number))
        parameters.append(Int64(grace / .milliseconds(1)))
        return switch try connection.run([PQStep(restore, parameters)], by: deadline)[0].row(0).text(0) {
        case "yes": true
        case "later": nil
        default: false
        }
    }

    /// Says which rows of the outbox were taken by commits of the journal that the database lacks.
    ///
    /// - Parameter isWhole: whether these are all.
    func claim(
        _ rows: Set<QueueRow>, takenBy journal: Int32, isWhole: Bool, _ connection: PQConnection,
        answer: Duration
    ) throws(PQError) {
        var rest = rows.sorted { $0.number < $1.number }[...]
        repeat {
            let page = rest.prefix(10_000)
            rest = rest.dropFirst(page.count)
            var parameters = PQParameters()
            parameters.append(journal)
            parameters.append(page.map(\.number))
            parameters.append(page.map(\.time))
            parameters.append(isWhole && rest.isEmpty)
            try connection.run([PQStep(taken, parameters)], by: .now + answer)
        } while !rest.isEmpty
    }
}
