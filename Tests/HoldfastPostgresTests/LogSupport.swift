import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestCopies
import TestPostgres
import Testing

/// A journal of a test's own, which the test owns, in a schema that tests share.
struct OwnLog {
    let schema: OwnSchema
    let journal: Int32
    let epoch: Int64
    let calls: LogCalls

    static let shared: Result<OwnSchema, any Error> = Result { try OwnSchema() }

    init(_ schema: OwnSchema? = nil) throws {
        let schema = try schema ?? Self.shared.get()
        let connection = try schema.asService()
        let ownership = OwnershipCalls(schema.name)
        let journal = try ownership.createJournal(UUID().uuidString, connection, by: soon())
        self.schema = schema
        self.journal = journal
        calls = LogCalls(schema.name, journal: journal)
        epoch = try Self.take(journal, schema, connection)
        connection.close()
    }

    /// Another owner takes the journal.
    @discardableResult
    func take() throws -> Int64 {
        let connection = try schema.asService()
        defer { connection.close() }
        return try Self.take(journal, schema, connection)
    }

    private static func take(_ journal: Int32, _ schema: OwnSchema, _ connection: PQConnection) throws -> Int64 {
        let ownership = OwnershipCalls(schema.name)
        let seen = try #require(try ownership.look(at: journal, connection, by: soon()))
        return try #require(try ownership.take(journal, seen: seen, host: "h", connection, by: soon()))
    }

    func gate(
        after last: UInt64 = 0, epoch: Int64? = nil, port: Int? = nil, string: String? = nil,
        answer: Duration = .seconds(30)
    ) throws -> PostgresGate {
        let target = try PQTarget(string ?? schema.cluster.tcp("user=\(schema.service)", port: port))
        let terms = PostgresGate.Terms(
            target: target, schema: schema.name, journal: journal, epoch: epoch ?? self.epoch, answer: answer)
        return try PostgresGate(terms, after: last)
    }

    func builder(epoch: Int64? = nil, pageByteCount: Int = 1 << 16) -> CopyBuilder {
        CopyBuilder(
            schema.name, journal: journal, epoch: epoch ?? self.epoch,
            CopyBuilder.Limits(mapByteCount: 1 << 30, pageByteCount: pageByteCount, answer: .seconds(20)))
    }

    func checkpointer(epoch: Int64? = nil, chunkByteCount: Int = 4000) -> Checkpointer {
        Checkpointer(
            schema.name, journal: journal, epoch: epoch ?? self.epoch, chunkByteCount: chunkByteCount,
            answer: .seconds(20))
    }

    func checkpoints(epoch: Int64? = nil) -> CheckpointCalls {
        CheckpointCalls(schema.name, journal: journal, epoch: epoch ?? self.epoch)
    }

    /// As a superuser, with `LOG` and `CHECKPOINT` for the names of this journal's tables without their slot.
    @discardableResult
    func psql(_ sql: String) throws -> String {
        try schema.psql(
            sql.replacing("LOG", with: "S.log_\(journal)").replacing("CHECKPOINT", with: "S.checkpoint_\(journal)"))
    }

    /// The numbers of commits that are kept in both slots.
    func kept() throws -> String {
        try psql(
            """
            SELECT string_agg(DISTINCT number::text, ',' ORDER BY number::text)
            FROM (SELECT number FROM LOG_0 UNION ALL SELECT number FROM LOG_1) r
            """)
    }

    func state() throws -> LogState {
        let connection = try schema.asService()
        defer { connection.close() }
        return try calls.state(connection, by: soon())
    }
}

/// An environment that is a working copy, in a folder of its own.
final class Copy {
    let folder: TemporaryFolder
    private(set) var environment: Environment?
    private var random: Xoshiro256

    init(_ gate: (any CommitGate)?, seed: UInt64 = 1, in folder: TemporaryFolder? = nil) throws {
        self.folder = try folder ?? TemporaryFolder()
        random = Xoshiro256(seed: seed)
        environment = try Environment.open(
            self.folder.path, .readWriteUnsynced, mapByteCount: 1 << 30, tables: 8, gate: gate)
    }

    deinit { close() }

    func close() {
        environment?.close()
        environment = nil
    }

    var open: Environment { get throws { try #require(environment) } }

    /// Puts and deletes rows of three tables at random: always some, so that there is something to keep.
    func commit(_ count: Int = 5, value: Int = 300) throws {
        let transaction = try WriteTransaction(open)
        for index in 0..<count {
            let table = try transaction.table("table \(Int.random(in: 0...2, using: &random))")
            let key = Array("row \(Int.random(in: 0...60, using: &random))".utf8)
            if index > 0, Int.random(in: 0...2, using: &random) == 0 {
                _ = try transaction.delete(key.span, in: table)
            } else {
                let fill = UInt8.random(in: .min ... .max, using: &random)
                let bytes = [UInt8](repeating: fill, count: Int.random(in: 0...value, using: &random))
                try transaction.put(key.span, bytes.span, in: table)
            }
        }
        try transaction.commit()
    }

    /// The code with which a commit fails; `nil` when it is made.
    func failure() throws -> LMDBError.Code? {
        do {
            try commit()
            return nil
        } catch let error as LMDBError { return error.code }
    }

    var number: UInt64 { get throws { try WorkingCopy.number(in: open) } }
    var rows: TableRows { get throws { try TableRows(open) } }
}

/// Builds a copy anew, in a folder that goes away.
func rebuilt(_ log: OwnLog, epoch: Int64? = nil, over given: PQConnection? = nil) throws -> TableRows {
    let folder = try TemporaryFolder()
    let connection = try given ?? log.schema.asService()
    let place = try log.builder(epoch: epoch).build(in: folder.path, over: connection)
    return place.number == 0 ? TableRows() : try TableRows(folder.path)
}
