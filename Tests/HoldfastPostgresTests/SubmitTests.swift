import Foundation
import Holdfast
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("Submitting by SQL", .enabled(if: PostgresProgram.isWanted))
struct SubmitTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private static let good = "topic => 'topic', token => 'ab', payload => '{}'"

    /// Runs statements as the application, each by itself, and says how each ended: `ok`, or the SQLSTATE, the argument and the
    /// reason.
    private func tries(_ statements: [String]) throws -> [String] {
        let trying = """
            CREATE FUNCTION pg_temp.attempt(sql text) RETURNS text LANGUAGE plpgsql AS $f$
            DECLARE argument text; reason text;
            BEGIN
                EXECUTE sql;
                RETURN 'ok';
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS argument = COLUMN_NAME, reason = CONSTRAINT_NAME;
                RETURN concat_ws(' ', SQLSTATE, nullif(argument, ''), nullif(reason, ''));
            END $f$
            """
        let calls = statements.map { "SELECT pg_temp.attempt($q$SELECT \($0)$q$)" }
        return try schema.asApplication(([trying] + calls).joined(separator: ";"))
            .split(separator: "\n").map(String.init)
    }

    @Test("A role with nothing else submits, cancels and takes outcomes, and touches nothing")
    func rights() throws {
        let application = try schema.asSubmitter()
        let name = schema.name
        #expect(application.state("SELECT \(name).submit(\(Self.good))") == nil)
        #expect(application.state("SELECT \(name).submit_many('[]')") == nil)
        #expect(application.state("SELECT \(name).cancel(gen_random_uuid())") == nil)
        #expect(application.state("SELECT * FROM \(name).take_outcomes()") == nil)
        for table in ["outbox", "outbox_0", "outcomes", "outcomes_1", "slots", "journals", "outcome_cursors"] {
            for sql in ["SELECT * FROM", "DELETE FROM", "TRUNCATE"] {
                #expect(application.state("\(sql) \(name).\(table)") == "42501", "\(sql) \(table)")
            }
        }
        for call in ["claim_outbox(1, 1, 1)", "turn_slots()", "trim_outcomes('0', 0)", "are_hours('')"] {
            #expect(application.state("SELECT \(name).\(call)") == "42501", "\(call)")
        }
        // A path of its own changes nothing.
        #expect(application.state("SET search_path = pg_temp, pg_catalog") == nil)
        let shadow = "CREATE FUNCTION pg_temp.octet_length(text) RETURNS int4 LANGUAGE sql AS 'SELECT 1'"
        #expect(application.state(shadow) == nil)
        let long = "SELECT \(name).submit(topic => 'a', token => 'ab', payload => '{}', tag => repeat('a', 257))"
        #expect(application.state(long) == "HF010")
    }

    @Test(
        "A transaction that submits or cancels commits as durably as a host, and no less than it would have",
        arguments: [
            ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply"),
        ])
    func durability(setting: String, becomes wanted: String) throws {
        for call in [
            "submit(\(Self.good))", "submit_many('[{\"topic\": \"t\", \"token\": \"ab\", \"payload\": {}}]')",
            "cancel(gen_random_uuid())",
        ] {
            let answer = try schema.asApplication(
                """
                SET synchronous_commit = \(setting); BEGIN; SELECT S.\(call) IS NULL; SHOW synchronous_commit; COMMIT;
                SHOW synchronous_commit
                """)
            // For that transaction alone.
            #expect(answer.split(separator: "\n").suffix(2) == [Substring(wanted), Substring(setting)], "\(call)")
        }
        // Of a submission that is taken back nothing is left.
        let back = try schema.asApplication(
            """
            SET synchronous_commit = \(setting); BEGIN; SAVEPOINT a; SELECT S.submit(\(Self.good)); ROLLBACK TO a;
            SHOW synchronous_commit; COMMIT
            """)
        #expect(back.split(separator: "\n").last == Substring(setting))
    }

    @Test("What a transaction rolls back is not submitted, and what it commits is, once")
    func transactions() throws {
        _ = try schema.asApplication("BEGIN; SELECT S.submit(\(Self.good)); ROLLBACK")
        #expect(try schema.outboxCount == "0")
        let id = try schema.asApplication("BEGIN; SELECT S.submit(\(Self.good), tag => 'order 7'); COMMIT")
        let row = try schema.psql("SELECT apns_id, tag, topic, payload, encode(token, 'hex') FROM S.outbox")
        #expect(row == "\(id)|order 7|topic|{}|ab")
        _ = try schema.asApplication(
            "BEGIN; SAVEPOINT a; SELECT S.submit(\(Self.good)); ROLLBACK TO a; SELECT S.submit(\(Self.good)); COMMIT")
        #expect(try schema.outboxCount == "2")
    }

    private static let wrong: [(String, String)] = [
        ("topic => '', token => 'ab', payload => '{}'", "topic MissingTopic"),
        ("topic => NULL, token => 'ab', payload => '{}'", "topic MissingTopic"),
        ("topic => 'a b', token => 'ab', payload => '{}'", "topic BadTopic"),
        ("topic => repeat('a', 256), token => 'ab', payload => '{}'", "topic BadTopic"),
        ("topic => 'topic', payload => '{}'", "token MissingDeviceToken"),
        ("topic => 'topic', token => 'ab', channel => 'abcd', payload => '{}'", "token MissingDeviceToken"),
        ("topic => 'topic', token => '', payload => '{}'", "token BadDeviceToken"),
        ("topic => 'topic', token => 'abc', payload => '{}'", "token BadDeviceToken"),
        ("topic => 'topic', token => 'xy', payload => '{}'", "token BadDeviceToken"),
        ("topic => 'topic', token => repeat('ab', 101), payload => '{}'", "token BadDeviceToken"),
        ("topic => 'topic', channel => 'abc', payload => '{}'", "channel BadChannelId"),
        ("topic => 'topic', channel => 'ab cd===', payload => '{}'", "channel BadChannelId"),
        ("topic => 'topic', token => 'ab'", "payload PayloadEmpty"),
        ("topic => 'topic', token => 'ab', payload => '[]'", "payload PayloadNotJSON"),
        (
            "topic => 'topic', token => 'ab', payload => jsonb_build_object('a', repeat('a', 4088))",
            "payload PayloadTooLarge"
        ),
        (
            "topic => 'topic', token => 'ab', push_type => 'voip', payload => jsonb_build_object('a', repeat('a', 5112))",
            "payload PayloadTooLarge"
        ),
        ("\(good), push_type => 'note'", "push_type InvalidPushType"),
        ("topic => 'topic', channel => 'abcd', payload => '{}', push_type => 'alert'", "push_type InvalidPushType"),
        ("\(good), priority => 3", "priority BadPriority"),
        ("\(good), guarantee => 'exactly-once'", "guarantee BadGuarantee"),
        ("\(good), environment => 'test'", "environment BadEnvironment"),
        ("\(good), newest_wins => true", "newest_wins BadNewestWins"),
        ("\(good), collapse_id => ''", "collapse_id BadCollapseId"),
        ("\(good), collapse_id => repeat('a', 65)", "collapse_id BadCollapseId"),
        ("\(good), collapse_id => ' a'", "collapse_id BadCollapseId"),
        ("\(good), collapse_id => E'a\\tb'", "collapse_id BadCollapseId"),
        ("topic => 'topic', channel => 'abcd', payload => '{}', collapse_id => 'a'", "collapse_id BadCollapseId"),
        ("\(good), tag => ''", "tag TagTooLong"),
        ("\(good), tag => repeat('ä', 129)", "tag TagTooLong"),
        ("\(good), context => repeat('a', 4097)", "context ContextTooLong"),
        ("\(good), producer => ''", "producer BadProducerName"),
        ("\(good), producer => repeat('a', 61)", "producer BadProducerName"),
        ("\(good), expiration => now()", "expiration BadExpirationDate"),
        ("\(good), expiration => 'infinity'", "expiration BadExpirationDate"),
        ("\(good), expiration => '1960-01-01'", "expiration BadExpirationDate"),
        ("\(good), try_until => 'epoch'", "try_until BadExpirationDate"),
        ("\(good), try_until => now() + '1 h', expiration => now() + '1 h'", "try_until BadExpirationDate"),
        ("\(good), deliver_after => now() + '367 days'", "deliver_after BadDeliverAfter"),
        ("\(good), deliver_after => '-infinity'", "deliver_after BadDeliverAfter"),
        ("\(good), token_registered_at => '-infinity'", "token_registered_at BadTokenRegistrationTime"),
        ("\(good), deliver_after => now() + '2 h', expiration => now() + '1 h'", "deliver_after BadDeliverAfter"),
        ("\(good), token_registered_at => now() + '2 days'", "token_registered_at BadTokenRegistrationTime"),
        ("\(good), deliver_within => '9-18'", "deliver_within BadDeliverWithin"),
        ("\(good), deliver_within => '09:00-18:00 Nowhere'", "deliver_within BadDeliverWithin"),
        ("\(good), deliver_within => '09:00-09:00 UTC'", "deliver_within BadDeliverWithin"),
        ("\(good), deliver_within => '09:00-18:00'", "deliver_within BadDeliverWithin"),
    ]

    @Test("Wrong input is told with its argument and reason, and a savepoint keeps the rest of the transaction")
    func wrongInput() throws {
        let results = try tries(Self.wrong.map { "\(schema.name).submit(\($0.0))" })
        #expect(results.count == Self.wrong.count)
        for (result, (call, expected)) in zip(results, Self.wrong) { #expect(result == "HF010 \(expected)", "\(call)") }
        #expect(try schema.outboxCount == "0")
        let application = try schema.asSubmitter()
        try application.run(
            [
                .begin, PQStep("CREATE TEMPORARY TABLE orders ON COMMIT PRESERVE ROWS AS SELECT 7 AS n"),
                PQStep("SAVEPOINT push"),
            ], by: soon())
        #expect(
            application.state("SELECT \(schema.name).submit(topic => 'a', token => 'x', payload => '{}')") == "HF010")
        try application.run([PQStep("ROLLBACK TO push"), .commit], by: soon())
        #expect(try application.run([PQStep("SELECT n FROM orders")], by: soon())[0].row(0).int4(0) == 7)
    }

    @Test("An expiration that is past is told from one that is no time")
    func badExpirations() throws {
        let application = try schema.asSubmitter()
        for (time, words) in [
            ("infinity", "the expiration infinity is no time"), ("-infinity", "the expiration -infinity is no time"),
            ("2001-01-01 00:00:00Z", " is past"),
        ] {
            let error = #expect(throws: PQError.self) {
                try application.run(
                    [PQStep("SELECT \(schema.name).submit(\(Self.good), expiration => '\(time)')")], by: soon())
            }
            #expect(error?.sqlState == "HF010")
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        #expect(try schema.outboxCount == "0")
    }

    @Test("Everything that other ways of submitting know is kept, and the host makes a valid notification of it")
    func everything() throws {
        let id = UUID().uuidString.lowercased()
        _ = try schema.asApplication(
            """
            SELECT S.submit(topic => 'topic', token => 'ABCD', payload => '{"aps": {}}', id => '\(id)', push_type => 'alert',
                priority => 5, expiration => '2040-01-01 00:00:00Z', collapse_id => 'score', tag => 'täg', context => 'c',
                producer => 'shop', guarantee => 'at-most-once', environment => 'sandbox',
                deliver_after => now() - interval '1 hour', deliver_within => '08:00-24:00 Europe/Berlin',
                newest_wins => true, token_registered_at => '2025-01-01 00:00:00Z');
            SELECT S.submit('topic', NULL, '{}', 'abcd', expiration => 'epoch');
            SELECT S.submit('topic', 'ab', jsonb_build_object('a', repeat('a', 5111)), push_type => 'voip');
            SELECT S.submit('topic', 'ab', '{}', expiration => 'epoch');
            SELECT S.submit('topic', 'ab', '{}', expiration => 'epoch', try_until => '2040-01-01 00:00:00Z');
            SELECT S.submit('topic', 'ab', '{}', try_until => '2040-01-01 00:00:00Z')
            """)
        let log = try OwnLog(schema)
        let calls = OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let rows = try calls.claim(10, try schema.asService(), by: soon())
        let all = try rows.map { try $0.notification.get() }
        #expect(rows.map(\.producer) == ["sql:shop"] + Array(repeating: "sql", count: 5))
        #expect(rows.map(\.isNamed) == [true, false, false, false, false, false])
        let until = Int64(2_208_988_800)
        #expect(
            all.map(\.expiration)
                == [.at(until), nil, nil, .once, .unstored(until: until), .unstated(until: until)])
        let first = all[0]
        #expect(first.id?.description == id && first.recipient.text == "abcd" && first.pushType == .alert)
        #expect(first.priority == .considerate && first.collapseID == "score" && first.tag == Array("täg".utf8))
        #expect(first.context == [0x63] && first.guarantee == .atMostOnce && first.environment == .sandbox)
        #expect(first.deliveryHours?.description == "08:00-00:00 Europe/Berlin" && first.newestWins)
        #expect(first.tokenRegisteredAt == WallTime(seconds: 1_735_689_600) && !first.hasAssignedID)
        #expect(all[1].recipient.channel?.id == "abcd" && all[1].pushType == .liveactivity && all[1].hasAssignedID)
        #expect(all[2].payload.count == 5120)
        for notification in all {
            try NotificationValidator().validate(notification, now: EngineClock.system.wall())
        }
    }

    @Test("Many are submitted all or not at all, in their order, and an error names the index")
    func many() throws {
        let ids = try schema.submit(0..<300)
        #expect(ids.count == 300)
        #expect(
            try schema.psql("SELECT string_agg(apns_id::text, ',' ORDER BY id) FROM S.outbox")
                == ids.joined(separator: ","))
        #expect(try schema.psql("SELECT string_agg(tag, ',' ORDER BY id) FROM S.outbox").hasPrefix("n0,n1,n2,"))
        let good = #"{"topic": "t", "token": "ab", "payload": {}}"#
        let wrong = [
            ("null", "the notifications are no JSON array"), ("{}", "the notifications are no JSON array"),
            ("[\(good), 1]", "notifications[1] is no object"),
            (#"[\#(good), {"topic": "t", "tokens": ["ab"]}]"#, "notifications[1] has the key 'tokens'"),
            (#"[\#(good), \#(good), {"topic": "t", "token": "ab"}]"#, "notifications[2]: the payload is missing"),
            (
                #"[\#(good), {"topic": "t", "token": "ab", "payload": null}]"#,
                "notifications[1]: the payload is missing"
            ),
            (#"[{"topic": "t", "token": "ab", "payload": {}, "id": "x"}]"#, "notifications[0]: invalid input syntax"),
            (#"[{"topic": "t", "token": "ab", "payload": {}, "priority": "high"}]"#, "notifications[0]: invalid input"),
            (#"[{"topic": "t", "token": "ab", "payload": {}, "expiration": 17}]"#, "notifications[0]: "),
        ]
        for (text, words) in wrong {
            let error = #expect(throws: PostgresFailure.self, "\(text)") {
                try schema.asApplication("SELECT S.submit_many('\(text)')")
            }
            #expect("\(error!)".contains("ERROR:  \(words)"), "\(text)")
        }
        #expect(try schema.outboxCount == "300")
        #expect(try schema.asApplication("SELECT S.submit_many('[]')") == "{}")
    }

    @Test("One is cancelled until a host has claimed it, and before its time at any time")
    func cancelling() throws {
        let ids = try schema.submit(0..<2)
        let later = try schema.asApplication("SELECT S.submit(\(Self.good), deliver_after => now() + interval '1 day')")
        #expect(try schema.asApplication("SELECT S.cancel('\(ids[0])'), S.cancel('\(ids[0])')") == "t|f")
        let log = try OwnLog(schema)
        let calls = OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        // A claim that is not committed yet is waited for.
        try service.run([.begin], by: soon())
        #expect(try calls.claim(10, service, by: soon()).count == 1)
        let cancelling = Background { [schema] in try schema.asApplication("SELECT S.cancel('\(ids[1])')") }
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '\(schema.name)'"
        #expect(try eventually { try schema.psql(waits) == "1" })
        try service.run([.commit], by: soon())
        #expect(try cancelling.value() == "f")
        #expect(try schema.asApplication("SELECT S.cancel('\(later)')") == "t")
        #expect(try schema.outboxCount == "1")
    }

    @Test("One that may not go out yet is claimed shortly before its time, and not before")
    func scheduled() throws {
        _ = try schema.asApplication("SELECT S.submit(\(Self.good), deliver_after => now() + interval '1 day')")
        let log = try OwnLog(schema)
        let calls = OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        #expect(try calls.claim(10, service, by: soon()).isEmpty)
        try schema.psql("UPDATE S.outbox SET deliver_after = now() + interval '20 seconds'")
        #expect(try calls.claim(10, service, by: soon()).count == 1)
    }

    @Test("What is due is decided by the clock of the host that claims, however much the database's differs")
    func scheduledByHostsClock() throws {
        _ = try schema.asApplication("SELECT S.submit(\(Self.good), deliver_after => now() + interval '1 hour')")
        let log = try OwnLog(schema)
        let calls = OutboxCalls(schema.name, journal: log.journal, epoch: log.epoch)
        let service = try schema.asService()
        // As beside a database whose clock is an hour behind, and due in a minute, and then in ten seconds.
        let now = EngineClock.system.wall()
        #expect(try calls.claim(10, at: now.advanced(by: .seconds(3540)), service, by: soon()).isEmpty)
        #expect(try calls.claim(10, at: now.advanced(by: .seconds(3590)), service, by: soon()).count == 1)
        // As beside one that is an hour ahead: what is due by its clock alone waits.
        _ = try schema.asApplication("SELECT S.submit(\(Self.good), deliver_after => now() + interval '2 minutes')")
        try schema.psql("UPDATE S.outbox SET deliver_after = now() WHERE journal IS NULL")
        #expect(try calls.claim(10, at: now.advanced(by: .seconds(-3600)), service, by: soon()).isEmpty)
        #expect(try calls.claim(10, at: now.advanced(by: .seconds(60)), service, by: soon()).count == 1)
    }
}
