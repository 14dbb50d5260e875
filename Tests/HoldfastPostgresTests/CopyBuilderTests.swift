import Foundation
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestCopies
import TestPostgres
import Testing

@Suite("Building a copy of what the log has", .enabled(if: PostgresProgram.isWanted))
struct CopyBuilderTests {
    private let log: OwnLog
    private let connection: PQConnection

    init() throws {
        log = try OwnLog()
        connection = try log.schema.asService()
    }

    private func build(_ folder: TemporaryFolder, pageByteCount: Int = 1 << 16) throws -> WorkingCopy.Place {
        try log.builder(pageByteCount: pageByteCount).build(in: folder.path, over: connection)
    }

    /// The words of the error with which building ends.
    private func failure(_ folder: TemporaryFolder? = nil) throws -> String {
        let folder = try folder ?? TemporaryFolder()
        do {
            let place = try build(folder)
            return "built up to \(place.number)"
        } catch let error as CopyError { return "\(error)" }
    }

    @Test("Of an empty log nothing is made")
    func empty() throws {
        let folder = try TemporaryFolder()
        #expect(try build(folder) == .unfinished)
        #expect(!FileManager.default.fileExists(atPath: folder("data.mdb")))
    }

    @Test("A copy goes on from its number, whatever the size of pages", arguments: [1, 700, 20_000, 1 << 20])
    func goesOn(pageByteCount: Int) throws {
        let copy = try Copy(log.gate())
        let folder = try TemporaryFolder()
        for round in 1...4 {
            for _ in 0..<6 { try copy.commit(8, value: round == 3 ? 20_000 : 100) }
            #expect(try build(folder, pageByteCount: pageByteCount).number == copy.number)
            #expect(try TableRows(folder.path) == copy.rows)
        }
        #expect(try build(folder).number == 24)
    }

    @Test("A copy that was closed in between its two commits reads the one that it lacks")
    func behind() throws {
        let copy = try Copy(log.gate())
        for _ in 0..<3 { try copy.commit() }
        let expected = try copy.rows
        copy.close()
        // A later one, whose LMDB commit was never made: its host died between the two.
        let other = try TemporaryFolder()
        _ = try build(other)
        let second = try Copy(log.gate(after: 3), seed: 9, in: other)
        try second.commit()
        #expect(try second.rows != expected)
        #expect(try build(copy.folder).number == 4)
        #expect(try TableRows(copy.folder.path) == second.rows)
    }

    @Test("A copy whose making was ended is made anew")
    func unfinished() throws {
        let copy = try Copy(log.gate())
        for _ in 0..<3 { try copy.commit() }
        let folder = try TemporaryFolder()
        let half = try Copy(nil, in: folder)
        try half.commit()
        try WorkingCopy.apply([], .unfinished, to: half.open)
        half.close()
        #expect(try build(folder).number == 3)
        #expect(try TableRows(folder.path) == copy.rows)
    }

    @Test("A journal that is no copy is left alone")
    func notACopy() throws {
        let plain = try Copy(nil)
        try plain.commit()
        let rows = try plain.rows
        plain.close()
        #expect(try failure(plain.folder).contains("has a journal that is no copy"))
        #expect(try TableRows(plain.folder.path) == rows)
    }

    @Test("A log that was rolled back is noticed, also when others have gone on with it, and the copy stays")
    func rolledBack() throws {
        let copy = try Copy(log.gate())
        for _ in 0..<3 { try copy.commit() }
        let rows = try copy.rows
        copy.close()
        try log.psql("DELETE FROM LOG_0 WHERE number > 1")
        #expect(try failure(copy.folder).contains("copy has commit 3, which the log, ending with commit 1,"))
        let other = try TemporaryFolder()
        _ = try build(other)
        let second = try Copy(log.gate(after: 1), seed: 9, in: other)
        for _ in 0..<4 { try second.commit() }
        #expect(try failure(copy.folder).contains("copy has commit 3, which the log, ending with commit 5,"))
        // The same behind a checkpoint of just that commit.
        try log.psql(
            "UPDATE S.journals SET checkpoint_number = 3, checkpoint_sum = '\\x0102030405060708' WHERE id = \(log.journal)"
        )
        #expect(try failure(copy.folder).contains("copy has commit 3, which the log, ending with commit 5,"))
        #expect(try TableRows(copy.folder.path) == rows)
    }

    @Test(
        "Rows that are damaged, missing or out of their order are named",
        arguments: [
            (
                "UPDATE LOG_0 SET bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1) WHERE number = 2",
                "commit 2 in the log is damaged"
            ),
            ("UPDATE LOG_0 SET bytes = '' WHERE number = 2 AND part = 0", "commit 2 in the log is damaged"),
            ("DELETE FROM LOG_0 WHERE number = 2", "the log lacks rows of commit 2"),
            ("DELETE FROM LOG_0 WHERE number = 1", "the log lacks rows of commit 1"),
            ("DELETE FROM LOG_0 WHERE number = 3 AND part = 0", "the log lacks rows of commit 3"),
            ("DELETE FROM LOG_0 WHERE number = 3 AND part = 1", "the log lacks rows of commit 3"),
            ("DELETE FROM LOG_0 WHERE number = 3 AND part = 2", "commit 3 in the log is damaged"),
            ("UPDATE LOG_0 SET part = 4 - part WHERE number = 3 AND part > 0", "the log lacks rows of commit 3"),
            ("UPDATE LOG_0 SET number = 9 WHERE number = 4", "the log lacks rows of commit 4"),
            ("INSERT INTO LOG_0 VALUES (2, 1, '\\x00')", "commit 2 in the log is damaged"),
        ])
    func damage(sql: String, words: String) throws {
        let copy = try Copy(log.gate())
        for size in [100, 100, 6_000, 100] { try copy.commit(1, value: size) }
        // The third is of three parts.
        try log.psql("DELETE FROM LOG_0 WHERE number > 2")
        let gate = try log.gate(after: 2)
        let transaction = try Copy(gate, seed: 4)
        let write = try WriteTransaction(transaction.open)
        let table = try write.table("table 0")
        let (key, value) = (Array("long".utf8), [UInt8](repeating: 5, count: 20_000))
        try write.put(key.span, value.span, in: table)
        try write.commit()
        try transaction.commit()
        #expect(try failure() == "built up to 4")
        try log.psql(sql)
        #expect(try failure().hasPrefix(words))
    }

    @Test("A former owner builds nothing")
    func formerOwner() throws {
        try Copy(log.gate()).commit()
        try log.take()
        #expect(try failure() == "the journal has another owner")
    }

    @Test("A connection that is cut while a copy is made leaves what was read, and the rest is read later")
    func cut() throws {
        let copy = try Copy(log.gate())
        for _ in 0..<10 { try copy.commit(3, value: 3000) }
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let target = try PQTarget(log.schema.cluster.tcp("user=\(log.schema.service)", port: proxy.port))
        let folder = try TemporaryFolder()
        for number in UInt64(1)...3 {
            let lame = try PQConnection(target, PQSession(applicationName: "tests"), by: soon(), PQInterruption())
            // When what is behind a row of this commit is asked for.
            proxy.fail(.cutBefore(String(repeating: "\0", count: 7) + String(UnicodeScalar(UInt8(number * 3)))))
            #expect(throws: CopyError.self) {
                try log.builder(pageByteCount: 1).build(in: folder.path, over: lame)
            }
            let half = try Environment.open(folder.path, .readOnly, mapByteCount: nil, tables: 8)
            #expect(try WorkingCopy.number(in: half) == number * 3 - 1)
            half.close()
        }
        #expect(try build(folder).number == 10)
        #expect(try TableRows(folder.path) == copy.rows)
    }
}
