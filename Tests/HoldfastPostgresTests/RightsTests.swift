import Foundation
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("The rights of the service's role", .enabled(if: PostgresProgram.isWanted))
struct RightsTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    @Test("The service touches no table, creates nothing, and can use every call")
    func service() throws {
        let connection = try schema.asService()
        let name = schema.name
        let calls = OwnershipCalls(name)
        let journal = try calls.createJournal("a", connection, by: soon())
        let tables = [
            "schema", "journals", "beats", "log_\(journal)_0", "checkpoint_\(journal)_1", "blacklist", "blacklist_feed",
            "blacklist_marks", "blacklist_writers", "notes", "commands", "identities",
            "identities_1", "identity_slots", "orders",
        ]
        for table in tables {
            for sql in ["SELECT * FROM", "INSERT INTO", "DELETE FROM", "TRUNCATE"] {
                let rest = sql.hasPrefix("INSERT") ? " DEFAULT VALUES" : ""
                #expect(connection.state("\(sql) \(name).\(table)\(rest)") == "42501", "\(sql) \(table)")
            }
        }
        #expect(connection.state("CREATE TABLE \(name).t (a int4)") == "42501")
        #expect(connection.state("SELECT nextval('\(name).journals_id_seq')") == "42501")
        let seen = try #require(try calls.look(at: journal, connection, by: soon()))
        let epoch = try #require(try calls.take(journal, seen: seen, host: "h", connection, by: soon()))
        try calls.beat(journal, epoch: epoch, connection, by: soon())
        let log = LogCalls(name, journal: journal)
        let checkpoint = CheckpointCalls(name, journal: journal, epoch: epoch)
        try log.keep(1, [[1]], epoch: epoch, connection, by: soon())
        #expect(try log.fencedState(sumOf: 0, epoch: epoch, connection, by: soon()).last == 1)
        #expect(try log.readLog(after: (0, 0), bytes: 1, connection, by: soon()).count == 1)
        #expect(try checkpoint.trim(connection, by: soon()))
        #expect(try checkpoint.begin(connection, by: soon()) == 1)
        try checkpoint.put(0, [[1]], connection, by: soon())
        try checkpoint.end(1, sum: 7, chunks: 1, connection, by: soon())
        #expect(try log.readCheckpoint(of: 1, after: (0, 0), bytes: 1, connection, by: soon()).count == 1)
        try calls.release(journal, epoch: epoch, connection, by: soon())
        try Migrator(schema: name).check(connection, by: soon())
    }

    @Test("A role that was granted nothing can call nothing, and is told what to do")
    func others() throws {
        let connection = try schema.connect(as: "plain")
        #expect(connection.state("SELECT \(schema.name).create_journal('a')") == "42501")
        let error = #expect(throws: SchemaError.self) {
            try Migrator(schema: schema.name).check(connection, by: soon())
        }
        #expect("\(error!)".contains("migrate again as the schema's owner with plain as the service's role"))
        // Even where it sees the schema.
        try schema.psql("GRANT USAGE ON SCHEMA \(schema.name) TO plain")
        let functions = try schema.psql(
            "SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = '\(schema.name)'::regnamespace")
        let helpers = ["check_submission", "insert_submissions", "are_hours", "note_release", "awaited_standbys"]
        let submitting = ["submit", "submit_many", "cancel", "take_outcomes"]
        for function in functions.split(separator: "\n") {
            let name = function.split(separator: "(")[0].split(separator: ".")[1]
            let isHelper = helpers.contains(String(name))
            let submits = submitting.contains(String(name))
            let serves = !isHelper && !submits
            let rights = [(schema.service, serves), (schema.submitter, submits)].map { ($0, $1 ? "t" : "f") }
            for (role, may) in [("plain", "f")] + rights {
                #expect(try schema.psql("SELECT has_function_privilege('\(role)', '\(function)', 'EXECUTE')") == may)
            }
        }
        try schema.psql("REVOKE USAGE ON SCHEMA \(schema.name) FROM plain")
    }

    @Test("Every function looks names up in PostgreSQL's own schema only, and all but one run as the owner")
    func searchPath() throws {
        let odd = try schema.psql(
            """
            SELECT proname FROM pg_proc WHERE pronamespace = '\(schema.name)'::regnamespace
            AND NOT (prosecdef AND proconfig = ARRAY['search_path=pg_catalog, pg_temp'])
            """)
        // Three more are called by those alone that look names up so.
        #expect(
            Set(odd.split(separator: "\n")) == [
                "end_session", "end_sessions", "check_submission", "insert_submissions", "are_hours",
            ])
        // What a caller puts in front does not count.
        let connection = try schema.asService()
        let function = "CREATE FUNCTION pg_temp.pg_is_in_recovery() RETURNS bool LANGUAGE sql AS 'SELECT true'"
        #expect(connection.state(function) == nil)
        #expect(connection.state("SET search_path = pg_temp, pg_catalog") == nil)
        let calls = OwnershipCalls(schema.name)
        let journal = try calls.createJournal("a", connection, by: soon())
        #expect(try calls.look(at: journal, connection, by: soon()) != nil)
    }

    @Test("A former owner's session of another role is left alone, and the journal is taken nevertheless")
    func otherRole() throws {
        let calls = OwnershipCalls(schema.name)
        let first = try schema.asOwner()
        let journal = try calls.createJournal("a", first, by: soon())
        let seen = try #require(try calls.look(at: journal, first, by: soon()))
        _ = try calls.take(journal, seen: seen, host: "h", first, by: soon())
        // It may see who is connected, but not end them.
        try schema.psql("GRANT pg_read_all_stats TO \(schema.service)")
        let second = try schema.asService()
        let now = try #require(try calls.look(at: journal, second, by: soon()))
        #expect(try calls.take(journal, seen: now, host: "h", second, by: soon()) == 2)
        #expect(first.state("SELECT 1") == nil)
    }
}
