import Foundation
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestCopies
import TestPostgres
import Testing

@Suite("Checkpoints of a copy in its log", .enabled(if: PostgresProgram.isWanted))
struct CheckpointerTests {
    private let log: OwnLog
    private let connection: PQConnection
    private let copy: Copy

    init() throws {
        log = try OwnLog()
        connection = try log.schema.asService()
        copy = try Copy(log.gate())
        for _ in 0..<8 { try copy.commit(20, value: 2000) }
    }

    /// The SQLSTATE that a call ends with.
    private func refusal(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as PQError { return error.sqlState }
    }

    @Test("A checkpoint makes the commits before it needless, and copies are made of it and of what follows")
    func life() throws {
        for round in 1...5 {
            let made = try log.checkpointer().make(of: copy.open, over: connection)
            #expect(try made.number == copy.number && made.isTrimmed && made.chunks > 3)
            #expect(try log.kept() == "")
            #expect(try rebuilt(log) == copy.rows)
            let state = try log.state()
            #expect(try state.last == copy.number && state.checkpoint == made.number && state.logByteCount == 0)
            for _ in 0..<round { try copy.commit() }
            #expect(try rebuilt(log) == copy.rows)
            #expect(try log.state().last == copy.number)
        }
    }

    @Test("Commits that are made meanwhile are kept, and are in the copy once")
    func beside() throws {
        let (log, open) = (log, try copy.open)
        let writing = Background { [copy = Handed(copy)] in
            for _ in 0..<60 { try copy.value.commit(6, value: 2000) }
        }
        var checkpoints: [UInt64] = []
        for _ in 0..<4 {
            checkpoints.append(try log.checkpointer(chunkByteCount: 1 << 14).make(of: open, over: connection).number)
        }
        try writing.value()
        #expect(checkpoints == checkpoints.sorted())
        #expect(try copy.number == 68)
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test("A checkpoint of an empty copy, and one of an empty log, are empty")
    func empty() throws {
        let other = try OwnLog(log.schema)
        let none = try Copy(other.gate())
        let made = try other.checkpointer().make(of: none.open, over: connection)
        #expect(made.number == 0 && made.chunks == 0)
        try none.commit()
        #expect(try rebuilt(other) == none.rows)
    }

    @Test("A copy that is older than a checkpoint is made anew, and one that is as old goes on")
    func olderCopies() throws {
        let (old, same) = (try TemporaryFolder(), try TemporaryFolder())
        _ = try log.builder().build(in: old.path, over: connection)
        try copy.commit()
        _ = try log.builder().build(in: same.path, over: connection)
        _ = try log.checkpointer().make(of: copy.open, over: connection)
        try copy.commit()
        for folder in [old, same] {
            #expect(try log.builder().build(in: folder.path, over: connection).number == copy.number)
            #expect(try TableRows(folder.path) == copy.rows)
        }
    }

    @Test("A checkpoint that was given up at any step changes nothing, and the next one is made anew", arguments: 0...3)
    func interrupted(step: Int) throws {
        let calls = log.checkpoints()
        _ = try log.checkpointer().make(of: copy.open, over: connection)
        for _ in 0..<3 { try copy.commit() }
        for _ in 0..<2 {
            #expect(try calls.trim(connection, by: soon()))
            if step > 0 { #expect(try calls.begin(connection, by: soon()) >= 8) }
            if step > 1 { try calls.put(0, [[1, 2, 3]], connection, by: soon()) }
            if step > 2 { try calls.put(1, [[1, 2, 3]], connection, by: soon()) }
            try copy.commit()
            #expect(try log.state().checkpoint == 8)
            #expect(try rebuilt(log) == copy.rows)
        }
        let made = try log.checkpointer().make(of: copy.open, over: connection)
        #expect(try made.number == copy.number && made.isTrimmed && log.state().isTrimmed)
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test(
        "A connection that is cut in any call leaves the last checkpoint, and the next one is made",
        arguments: ["trim_log", "begin_checkpoint", "put_chunk", "end_checkpoint"], [true, false])
    func cut(call: String, isAnswerLost: Bool) throws {
        let proxy = try FaultProxy(to: log.schema.cluster.port)
        let target = try PQTarget(log.schema.cluster.tcp("user=\(log.schema.service)", port: proxy.port))
        let lame = try PQConnection(target, PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        proxy.fail(isAnswerLost ? .cutAfter(call) : .cutBefore(call))
        #expect(throws: Checkpointer.Failure.self) { try log.checkpointer().make(of: copy.open, over: lame) }
        try copy.commit()
        #expect(try rebuilt(log) == copy.rows)
        #expect(try log.checkpointer().make(of: copy.open, over: connection).number == 9)
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test("A checkpoint must have all commits before its slot, all of its chunks, and its turn")
    func refused() throws {
        let calls = log.checkpoints()
        #expect(try refusal { try calls.put(0, [[1]], connection, by: soon()) } == "HF004")
        #expect(try refusal { try calls.end(8, sum: 1, chunks: 0, connection, by: soon()) } == "HF004")
        #expect(try calls.begin(connection, by: soon()) == 8)
        try calls.put(0, [[1], [2]], connection, by: soon())
        // It is begun, and must be trimmed before it is begun again.
        #expect(try refusal { _ = try calls.begin(connection, by: soon()) } == "HF004")
        for chunk in [0, 2] {
            #expect(try refusal { try calls.put(chunk, [[1]], connection, by: soon()) } == "HF004")
        }
        try calls.put(1, [[1]], connection, by: soon())
        for chunks in [0, 1, 3] {
            #expect(try refusal { try calls.end(8, sum: 1, chunks: chunks, connection, by: soon()) } == "HF004")
        }
        #expect(try calls.trim(connection, by: soon()))
        try copy.commit()
        try calls.put(0, [[1], [2]], connection, by: soon())
        for number in [UInt64(0), 7, 10] {
            #expect(try refusal { try calls.end(number, sum: 1, chunks: 1, connection, by: soon()) } == "HF004")
        }
        #expect(try log.state().checkpoint == 0)
        #expect(try calls.trim(connection, by: soon()))
        #expect(try log.kept() == "1,2,3,4,5,6,7,8,9")
        #expect(try rebuilt(log) == copy.rows)
        let made = try log.checkpointer().make(of: copy.open, over: connection)
        // The same end once more is answered as the first time.
        let sum = try #require(try WorkingCopy.place(in: copy.open)).sum
        try calls.end(9, sum: sum, chunks: made.chunks, connection, by: soon())
        #expect(try refusal { try calls.end(9, sum: sum, chunks: 1, connection, by: soon()) } == "HF004")
    }

    @Test("A former owner can do nothing to the log")
    func formerOwner() throws {
        let calls = log.checkpoints()
        _ = try calls.begin(connection, by: soon())
        let epoch = try log.take()
        #expect(try refusal { _ = try calls.trim(connection, by: soon()) } == "HF001")
        #expect(try refusal { _ = try calls.begin(connection, by: soon()) } == "HF001")
        #expect(try refusal { try calls.put(0, [[1]], connection, by: soon()) } == "HF001")
        #expect(try refusal { try calls.end(8, sum: 1, chunks: 0, connection, by: soon()) } == "HF001")
        #expect(try rebuilt(log, epoch: epoch) == copy.rows)
    }

    @Test("The copy is waited for when the log has a commit that it lacks, and not for ever")
    func copyIsBehind() throws {
        try log.calls.keep(9, [[1]], epoch: log.epoch, connection, by: soon())
        let checkpointer = Checkpointer(
            log.schema.name, journal: log.journal, epoch: log.epoch, answer: .milliseconds(200))
        do {
            _ = try checkpointer.make(of: copy.open, over: connection)
            Issue.record("it is made")
        } catch let error as Checkpointer.Failure {
            guard case .copyIsBehind(8, log: 9) = error else { throw error }
        }
        #expect(try log.state().checkpoint == 0 && log.kept() == "1,2,3,4,5,6,7,8,9")
    }

    @Test("A transaction that reads the log, like pg_dump's, delays its truncation, and nothing else")
    func reader() throws {
        let reader = try log.schema.connect(as: "postgres")
        let table = "\(log.schema.name).log_\(log.journal)_0"
        try reader.run([.begin, PQStep("SELECT count(*) FROM \(table)")], by: soon())
        let made = try log.checkpointer().make(of: copy.open, over: connection)
        #expect(!made.isTrimmed)
        #expect(try !log.state().isTrimmed)
        for _ in 0..<3 { try copy.commit() }
        #expect(try rebuilt(log) == copy.rows)
        #expect(throws: Checkpointer.Failure.self) { try log.checkpointer().make(of: copy.open, over: connection) }
        try copy.commit()
        #expect(try rebuilt(log) == copy.rows)
        try reader.run([.rollback], by: soon())
        #expect(try log.checkpointer().trim(over: connection))
        #expect(try log.state().isTrimmed)
        #expect(try log.kept() == "10,11,12,9")
        #expect(try rebuilt(log) == copy.rows)
    }

    @Test(
        "Damaged and missing chunks are named",
        arguments: [
            (
                "UPDATE CHECKPOINT_1 SET bytes = set_byte(bytes, 30, get_byte(bytes, 30) # 1) WHERE chunk = 1",
                "chunk 2 of the checkpoint of commit 8 is damaged"
            ),
            ("DELETE FROM CHECKPOINT_1 WHERE chunk = 1", "the checkpoint of commit 8 lacks rows of chunk 2"),
            ("DELETE FROM CHECKPOINT_1 WHERE chunk = 0", "the checkpoint of commit 8 lacks rows of chunk 1"),
            ("DELETE FROM CHECKPOINT_1", "the checkpoint of commit 8 lacks rows of chunk 1"),
            (
                "DELETE FROM CHECKPOINT_1 WHERE chunk = (SELECT max(chunk) FROM CHECKPOINT_1)",
                "the checkpoint of commit 8 lacks rows of chunk"
            ),
        ])
    func damage(sql: String, words: String) throws {
        _ = try log.checkpointer().make(of: copy.open, over: connection)
        try log.psql(sql)
        let folder = try TemporaryFolder()
        do {
            _ = try log.builder().build(in: folder.path, over: connection)
            Issue.record("it is built")
        } catch { #expect("\(error)".hasPrefix(words)) }
        // What was read is not taken for whole.
        let half = try Environment.open(folder.path, .readOnly, mapByteCount: nil, tables: 8)
        #expect(try WorkingCopy.place(in: half) == .unfinished)
        half.close()
    }
}
