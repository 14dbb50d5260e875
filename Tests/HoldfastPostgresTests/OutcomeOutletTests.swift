import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import TestPostgres
import Testing

@Suite("Telling outcomes by SQL", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct OutcomeOutletTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func count(_ expected: Int) throws -> Bool { try eventually { try schema.outcomeCount == "\(expected)" } }

    private func outcome(
        _ cursor: UInt64, tag: [UInt8] = [0x61], producer: String = "sql", since: Int64 = 1_700_000_000_123
    ) throws -> Outcome {
        Outcome(
            cursor: OutcomeCursor(cursor), uid: UID(cursor), terminal: .rejected(Reason(rawValue: "Unregistered")),
            cause: RejectionCause(
                reason: Reason(rawValue: "Unregistered"), status: 410,
                timestamp: WallTime(milliseconds: since),
                rejectedAt: WallTime(milliseconds: 1_700_000_002_000)),
            history: DeliveryHistory(
                acceptedAt: WallTime(milliseconds: 1_700_000_000_000),
                sentAt: WallTime(milliseconds: 1_700_000_001_000),
                settledAt: WallTime(milliseconds: 1_700_000_002_000), attempts: 2),
            id: try #require(NotificationID("11111111-1111-4111-8111-111111111111")),
            recipient: .device(try DeviceToken("abcd")), topic: "topic", producer: producer, tag: tag,
            context: [0, 255])
    }

    @Test("Outcomes are put by who knows where the cursor is, and by nobody else")
    func cursor() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        let put = { (first: UInt64, last: UInt64, calls: OutcomeCalls) -> String? in
            do throws(PQError) {
                try calls.put(
                    (first + 1...last).map { try! outcome($0) }, from: OutcomeCursor(first), to: OutcomeCursor(last),
                    service, by: soon())
                return nil
            } catch {
                return error.sqlState
            }
        }
        #expect(put(0, 3, calls) == nil)
        #expect(put(0, 3, calls) == "HF007" && put(2, 5, calls) == "HF007")
        #expect(try calls.cursor(service, by: soon()) == OutcomeCursor(3))
        #expect(put(3, 4, calls) == nil)
        let next = OutcomeCalls(schema.name, journal: log.journal, epoch: try log.take())
        #expect(put(4, 5, calls) == "HF001")
        #expect(put(4, 6, next) == nil)
        #expect(try schema.outcomeCount == "6")
    }

    @Test("An outcome has all that other ways tell, and bytes that are no text have a column of their own")
    func columns() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        // A service may say any time.
        let outcomes = [
            try outcome(1, producer: "sql:shop"), try outcome(2, tag: [0xFF]), try outcome(3, tag: [0x63], since: .max),
        ]
        try calls.put(outcomes, from: .start, to: OutcomeCursor(3), schema.asService(), by: soon())
        let row = try schema.asApplication(
            """
            SET timezone = 'UTC';
            SELECT id, outcome, reason, status, extract(epoch FROM since), submitted_at, sent_at, ended_at, attempts, topic,
                token, producer, tag, context IS NULL, encode(context_bytes, 'hex') FROM S.take_outcomes(1)
            """)
        #expect(
            row == """
                11111111-1111-4111-8111-111111111111|rejected|Unregistered|410|1700000000.123000|2023-11-14 22:13:20+00|\
                2023-11-14 22:13:21+00|2023-11-14 22:13:22+00|2|topic|abcd|shop|a|t|00ff
                """)
        let other = try schema.asApplication(
            "SELECT tag, encode(tag_bytes, 'hex'), producer FROM S.take_outcomes(9, NULL)")
        #expect(other == "|ff|\nc||")
    }

    @Test("Outcomes wait until it is known that a database that has changed has all of their journal")
    func changed() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let stamp = UUID().uuidString
        try schema.psql("INSERT INTO S.ownerships VALUES (\(log.journal), 1, '\(stamp)')")
        try schema.psql("UPDATE S.fleet SET incarnation = 'x y z'")
        try schema.psql("SELECT S.look_at_fleet()")
        func put() throws {
            try calls.put([try outcome(1)], from: .start, to: OutcomeCursor(1), schema.asService(), by: soon())
        }
        let error = #expect(throws: PQError.self) { try put() }
        #expect(error?.sqlState == OutcomeCalls.notHeardState)
        #expect(try schema.outcomeCount == "0")
        try schema.psql("SELECT S.hear_journal(\(log.journal), '\(stamp)', (SELECT incarnation FROM S.fleet))")
        try put()
        #expect(try schema.outcomeCount == "1")
    }

    @Test(
        "Outcomes wait until their owner has written back, also when it has said which submissions are in what is lost")
    func claimed() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        try schema.psql("UPDATE S.fleet SET incarnation = 'x y z'")
        try schema.psql("SELECT S.look_at_fleet()")
        func put(_ number: UInt64) throws {
            let start = OutcomeCursor(number - 1)
            try calls.put([try outcome(number)], from: start, to: OutcomeCursor(number), schema.asService(), by: soon())
        }
        try schema.psql("SELECT S.claim_journal(\(log.journal), 7, 60000)")
        try schema.psql("SELECT S.claim_taken(\(log.journal), '{}', '{}', true)")
        #expect(try schema.psql("SELECT count(*) FROM S.unheard") == "0")
        let error = #expect(throws: PQError.self) { try put(1) }
        #expect(error?.sqlState == OutcomeCalls.notHeardState)
        #expect(try schema.outcomeCount == "0")
        // Written back.
        try schema.psql("SELECT S.note_ownerships(\(log.journal), \(log.epoch), '{1}', ARRAY[gen_random_uuid()])")
        try put(1)
        // A claim of a host that is gone does not count for ever.
        try schema.psql("SELECT S.claim_journal(\(log.journal), 8, 0)")
        try put(2)
        #expect(try schema.outcomeCount == "2")
    }

    @Test("Several applications take at once, each other outcomes, and what is rolled back is there again")
    func taking() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let all = try (1...10).map { try outcome(UInt64($0), producer: $0 < 4 ? "sql:a" : "sql") }
        try calls.put(all, from: .start, to: OutcomeCursor(10), schema.asService(), by: soon())
        let (first, second) = (try schema.asSubmitter(), try schema.asSubmitter())
        let take = { (connection: PQConnection, sql: String) in
            try connection.run([PQStep("SELECT number FROM \(schema.name).take_outcomes(\(sql))")], by: soon())[0].rows
                .map { try $0.int8(0) }
        }
        try first.run([.begin], by: soon())
        #expect(try take(first, "6") == [1, 2, 3, 4, 5, 6])
        #expect(try take(second, "") == [7, 8, 9, 10])
        try first.run([.rollback], by: soon())
        #expect(try take(second, "10, 'a'") == [1, 2, 3])
        #expect(try take(first, "0") == [] && take(first, "NULL") == [4, 5, 6])
    }

    @Test("Outcomes come once each across a change of the owner, with cuts in between, and others' are not told")
    func takeover() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let log = try OwnLog(schema)
        let first = try SQLHost(log)
        first.deliver()
        try first.takeIn()
        try first.tell(port: proxy.port)
        try schema.submit(0..<20)
        #expect(try count(20))
        proxy.fail(.cutAfter("put_outcomes"))
        try schema.submit(20..<40)
        #expect(try eventually { first.outlet?.status.trouble != nil })
        let receipts = await first.engine.producer.submit([
            PushNotification(token: try DeviceToken("ab"), topic: "topic", payload: "{}")
        ])
        #expect(receipts[0].uid != nil)
        #expect(try eventually { first.connector.sent.count == 41 })
        #expect(try eventually { first.engine.status().unconfirmed == 0 })
        first.kill()
        proxy.fail(nil)
        let next = try SQLHost(log)
        next.deliver()
        try next.tell()
        try next.takeIn()
        try schema.submit(40..<50)
        #expect(try count(50))
        #expect(try eventually { next.outlet?.status.trouble == nil })
        await next.end()
        #expect(try schema.psql("SELECT count(DISTINCT tag), count(*) FROM S.outcomes") == "50|50")
        #expect(next.outlet?.status.missed == 0)
    }

    /// A host that tells outcomes by way of a proxy.
    private func told() throws -> (host: SQLHost, proxy: FaultProxy) {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try host.takeIn()
        try host.tell(port: proxy.port)
        return (host, proxy)
    }

    @Test("An outcome counts as told when it is put, and not before, so that its history may let it go only then")
    func told() async throws {
        let (host, proxy) = try told()
        try schema.submit(0..<20)
        #expect(try count(20))
        #expect(try eventually { host.told.withLock { $0.last } == OutcomeCursor(20) })
        proxy.fail(.cutBefore("put_outcomes"))
        try schema.submit(20..<40)
        #expect(try eventually { host.journal.outcomeLog.newest == OutcomeCursor(40) })
        #expect(try eventually { host.outlet?.status.trouble != nil })
        #expect(host.told.withLock { $0.max() } == OutcomeCursor(20))
        proxy.fail(nil)
        #expect(try count(40))
        #expect(try eventually { host.told.withLock { $0.last } == OutcomeCursor(40) })
        #expect(host.missed.withLock { $0 } == 0)
        await host.end()
    }

    @Test("Outcomes that the history deletes before they are put are told as missed, once")
    func missed() async throws {
        let (host, proxy) = try told()
        try schema.submit(0..<5)
        #expect(try count(5))
        proxy.fail(.cutBefore("put_outcomes"))
        try schema.submit(5..<25)
        #expect(try eventually { host.journal.outcomeLog.newest == OutcomeCursor(25) })
        #expect(try eventually { host.outlet?.status.trouble != nil })
        let trimmed = Monitor(false)
        host.journal.trim(TrimBounds(outcomesBefore: WallTime(milliseconds: .max))) { _ in
            trimmed.withLock { $0 = true }
        }
        #expect(try eventually { trimmed.withLock { $0 } })
        #expect(host.journal.outcomeLog.count == 0)
        proxy.fail(nil)
        try schema.submit(25..<30)
        #expect(try count(10))
        #expect(try eventually { host.missed.withLock { $0 } == 20 })
        await host.end()
    }

    @Test("Outcomes of others are not passed again by the next owner of a journal whose host has ended in order")
    func passed() async throws {
        let log = try OwnLog(schema)
        let host = try SQLHost(log)
        host.deliver()
        try host.tell()
        _ = await host.engine.producer.submit([
            PushNotification(token: try DeviceToken("ab"), topic: "topic", payload: "{}")
        ])
        #expect(try eventually { host.outlet?.status.cursor == OutcomeCursor(1) })
        await host.end()
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: host.epoch)
        #expect(try calls.cursor(schema.asService(), by: soon()) == OutcomeCursor(1))
    }

    @Test("All outcomes are told where that is wanted")
    func all() async throws {
        let host = try SQLHost(OwnLog(schema))
        host.deliver()
        try host.tell(all: true)
        _ = await host.engine.producer.submit([
            PushNotification(token: try DeviceToken("ab"), topic: "topic", payload: "{}")
        ])
        #expect(try count(1))
        #expect(try schema.psql("SELECT producer, outcome FROM S.outcomes") == "default|confirmed")
        await host.end()
    }

    @Test("What nobody takes is removed by age and by number, the oldest first")
    func trimming() throws {
        let log = try OwnLog(schema)
        let calls = OutcomeCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        try calls.put((1...10).map { try outcome($0) }, from: .start, to: OutcomeCursor(10), service, by: soon())
        #expect(try calls.trim(age: .seconds(60), count: 10, service, by: soon()) == 0)
        #expect(try calls.trim(age: .seconds(60), count: 7, service, by: soon()) == 3)
        try schema.psql("UPDATE S.outcomes SET put_at = now() - interval '2 minutes' WHERE number < 6")
        #expect(try calls.trim(age: .seconds(60), count: 7, service, by: soon()) == 2)
        #expect(try schema.psql("SELECT min(number) FROM S.outcomes") == "6")
    }

    @Test("Rows that are gone take bounded room while a transaction elsewhere goes on")
    func turning() throws {
        let log = try OwnLog(schema)
        let calls = OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        let reader = try schema.asSubmitter()
        try reader.run([PQStep("BEGIN ISOLATION LEVEL REPEATABLE READ"), PQStep("SELECT 1")], by: soon())
        let writer = try schema.asSubmitter()
        try writer.run(
            [.begin, PQStep("SELECT \(schema.name).submit('topic', 'ab', '{}', tag => 'held')")], by: soon())
        let large =
            "SELECT S.submit_many((SELECT jsonb_agg(jsonb_build_object('topic', 'topic', 'token', 'ab', 'payload', "
            + "jsonb_build_object('a', a))) FROM generate_series(1, 2000) AS n, "
            + "(SELECT string_agg(md5(random()::text), '') AS a FROM generate_series(1, 110)) AS r))"
        var greatest = 0
        for _ in 0..<6 {
            try schema.psql(
                large, "CREATE TEMPORARY TABLE c AS SELECT id FROM S.claim_outbox(\(log.journal), \(log.epoch), 5000)",
                "SELECT S.settle_outbox(\(log.journal), \(log.epoch), (SELECT jsonb_agg(jsonb_build_object('id', id)) FROM c))"
            )
            try calls.turn(service, by: soon())
            let size =
                "SELECT (sum(pg_table_size(oid)) / 1000000)::int8 FROM pg_class WHERE relname ~ 'outbox_[0-4]$' "
                + "AND relnamespace = '\(schema.name)'::regnamespace"
            greatest = max(greatest, Int(try schema.psql(size)) ?? .max)
        }
        // Six times 8 MB or so came and went. One partition is the writer's, and others take turns.
        #expect((8..<36).contains(greatest), "\(greatest) MB")
        try writer.run([.commit], by: soon())
        #expect(try schema.outboxCount == "1")
        #expect(try calls.claim(10, service, by: soon()).count == 1)
        try reader.run([.rollback], by: soon())
    }
}
