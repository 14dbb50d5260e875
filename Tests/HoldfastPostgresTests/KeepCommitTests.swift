import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("Keeping commits by SQL", .enabled(if: PostgresProgram.isWanted))
struct KeepCommitTests {
    private let log: OwnLog
    private let connection: PQConnection

    init() throws {
        log = try OwnLog()
        connection = try log.schema.asService()
    }

    /// The SQLSTATE with which a commit is refused; `nil` when it is kept.
    private func keep(_ number: UInt64, _ parts: [[UInt8]], epoch: Int64? = nil) -> String? {
        do throws(PQError) {
            try log.calls.keep(number, parts, epoch: epoch ?? log.epoch, connection, by: soon())
            return nil
        } catch {
            return error.sqlState ?? "\(error)"
        }
    }

    @Test("Commits follow each other, and a repeat is answered as the first time")
    func repeats() throws {
        let parts: [[UInt8]] = [[1, 2], [3]]
        for _ in 0..<3 { #expect(keep(1, parts) == nil) }
        #expect(keep(2, [[9]]) == nil)
        #expect(keep(1, parts) == nil)
        #expect(try log.kept() == "1,2")
        #expect(try log.psql("SELECT count(*) FROM LOG_0") == "3")
        #expect(try log.state().last == 2)
    }

    @Test(
        "A repeat with other bytes is refused, and changes nothing",
        arguments: [[[1, 2], [4]], [[1, 2]], [[1, 2], [3], [4]], [[1, 3], [3]]])
    func otherBytes(other: [[UInt8]]) throws {
        #expect(keep(1, [[1, 2], [3]]) == nil)
        #expect(keep(1, other) == "HF002")
        #expect(try log.psql("SELECT string_agg(encode(bytes, 'hex'), ',' ORDER BY part) FROM LOG_0") == "0102,03")
    }

    @Test("A commit that does not follow the last one is refused", arguments: [0, 2, 99])
    func gap(number: UInt64) throws {
        #expect(keep(number, [[1]]) == "HF003")
        #expect(keep(1, []) == "HF003")
        #expect(try log.kept() == "")
    }

    @Test("A former owner keeps nothing, and learns nothing")
    func formerOwner() throws {
        #expect(keep(1, [[1]]) == nil)
        let next = try log.take()
        #expect(keep(2, [[2]]) == "HF001")
        #expect(keep(1, [[1]]) == "HF001")
        #expect(keep(2, [[3]], epoch: next) == nil)
        #expect(try log.kept() == "1,2")
    }

    @Test("A taker waits for a commit under way, and has it")
    func takerWaits() throws {
        try connection.run([.begin], by: soon())
        #expect(keep(1, [[1]]) == nil)
        let log = self.log
        let taking = Background { try log.take() }
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '\(log.schema.name)'"
        #expect(try eventually { try log.psql(waits) == "1" })
        try connection.run([.commit], by: soon())
        _ = try taking.value()
        #expect(try log.state().last == 1)
    }

    @Test("Who reads the log for a copy waits for a commit under way, and has it")
    func fenceWaits() throws {
        try connection.run([.begin], by: soon())
        #expect(keep(1, [[1]]) == nil)
        let (calls, epoch) = (log.calls, log.epoch)
        let second = try log.schema.asService()
        let reading = Background { try calls.fencedState(sumOf: 1, epoch: epoch, second, by: soon()) }
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '\(log.schema.name)'"
        #expect(try eventually { try log.psql(waits) == "1" })
        try connection.run([.commit], by: soon())
        #expect(try reading.value().last == 1)
        #expect(throws: PQError.self) { try calls.fencedState(sumOf: 1, epoch: epoch + 1, second, by: soon()) }
    }

    @Test("A repeat waits for the first try, which is still under way, and finds it")
    func repeatBesideTheFirst() throws {
        try connection.run([.begin], by: soon())
        #expect(keep(1, [[1]]) == nil)
        let (calls, epoch) = (log.calls, log.epoch)
        let second = try log.schema.asService()
        let same = Background { try calls.keep(1, [[1]], epoch: epoch, second, by: soon()) }
        let third = try log.schema.asService()
        let other = Background { try calls.keep(1, [[2]], epoch: epoch, third, by: soon()) }
        let waits =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '\(log.schema.name)'"
        #expect(try eventually { try log.psql(waits) == "2" })
        try connection.run([.commit], by: soon())
        #expect(try same.value() == [])
        let error = #expect(throws: PQError.self) { try other.value() }
        #expect(error?.sqlState == "HF002")
    }

    @Test("Parts lie in their pages, uncompressed, one for each page, and are read in pages of the wanted size")
    func parts() throws {
        let bytes = [UInt8](repeating: 7, count: LogParts.byteLimit * 20 + 1)
        let parts = LogParts.split(bytes)
        #expect(parts.count == 21 && Array(parts.joined()) == bytes)
        #expect(keep(1, parts) == nil)
        #expect(keep(2, [[1]]) == nil)
        let toast = "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'LOG_0'::regclass"
        #expect(try log.psql(toast) == "0")
        #expect(try log.psql("SELECT pg_relation_size('LOG_0') / 8192") == "21")
        var place: (number: UInt64, part: Int) = (0, 0)
        var pages = 0
        var assembler = LogAssembler(next: 1)
        var found: [UInt8] = []
        while true {
            let rows = try log.calls.readLog(after: place, bytes: 3 * LogParts.byteLimit, connection, by: soon())
            guard let last = rows.last else { break }
            #expect(rows.count <= 4)
            for row in rows where row.number == 1 { found += row.bytes }
            place = (last.number, last.part)
            pages += 1
        }
        #expect(found == bytes && pages == 7)
        #expect(assembler.place.number == 0)
        #expect(throws: LogAssembler.Fault.missing(1)) { _ = try assembler.take(LogRow(number: 2, part: 0, bytes: [])) }
    }

    @Test("A commit is repeated though a checkpoint was begun behind it, and others follow in the other slot")
    func repeatBehindATurn() throws {
        #expect(keep(1, [[1]]) == nil)
        #expect(try log.checkpoints().begin(connection, by: soon()) == 1)
        #expect(keep(1, [[1]]) == nil)
        #expect(keep(1, [[2]]) == "HF002")
        #expect(keep(3, [[1]]) == "HF003")
        #expect(keep(2, [[2]]) == nil)
        #expect(try log.psql("SELECT max(number) FROM LOG_0") == "1")
        #expect(try log.psql("SELECT max(number) FROM LOG_1") == "2")
        #expect(try log.calls.readLog(after: (0, 0), bytes: 1 << 20, connection, by: soon()).map(\.number) == [1, 2])
    }

    @Test("Keeping a commit writes no new version of the journal's row")
    func rowStays() throws {
        let row = "SELECT ctid, slot FROM S.journals WHERE id = \(log.journal)"
        let before = try log.psql(row)
        for number in UInt64(1)...50 { #expect(keep(number, [[1]]) == nil) }
        #expect(try log.psql(row) == before)
    }
}
