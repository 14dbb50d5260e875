import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

/// What a host finds out before it serves, and `serve --check` without serving.
@Suite("What a host needs, on a real server", .enabled(if: PostgresProgram.isWanted))
struct ExaminationTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func examine(as user: String, port: Int? = nil) throws -> DatabaseDurability {
        let terms = HostTerms(
            target: try PQTarget(schema.cluster.tcp("user=\(user)", port: port)), schema: schema.name, host: "web-1")
        return try terms.examine(by: soon())
    }

    @Test("A role that may only ask owners, or submit, is no role for a host, and is told which one is")
    func roles() throws {
        _ = try examine(as: schema.service)
        let role = schema.submitter
        try Migrator(schema: schema.name).migrate(schema.asOwner(), operators: role, by: soon())
        let error = #expect(throws: JournalError.self) { try examine(as: role) }
        #expect(error?.code == .permissionDenied)
        #expect(error?.message.contains("holdfast postgres migrate --service") == true)
    }

    @Test("A function that the role of hosts may not call any more is named, with how it is granted again")
    func withheld() throws {
        let functions = try schema.psql(
            """
            SELECT oid::regprocedure FROM pg_proc WHERE proname = 'claim_outbox'
            AND pronamespace = '\(schema.name)'::regnamespace
            """)
        for function in functions.split(separator: "\n") {
            try schema.psql("REVOKE EXECUTE ON FUNCTION \(function) FROM \(schema.service)")
        }
        let error = #expect(throws: JournalError.self) { try examine(as: schema.service) }
        #expect(error?.code == .permissionDenied)
        let words = error?.message ?? ""
        #expect(words.contains("claim_outbox(") && words.contains("holdfast postgres migrate --service"), "\(words)")
        try Migrator(schema: schema.name).migrate(schema.asOwner(), service: schema.service, by: soon())
        _ = try examine(as: schema.service)
    }

    @Test("A role that may not connect to the database is told how that is granted, and not to migrate the schema")
    func mayNotConnect() throws {
        let database = "closed_\(schema.name)"
        try schema.cluster.psql("CREATE DATABASE \(database)", "REVOKE CONNECT ON DATABASE \(database) FROM PUBLIC")
        let terms = HostTerms(
            target: try PQTarget(schema.cluster.tcp("user=\(schema.service) dbname=\(database)")), schema: schema.name,
            host: "web-1")
        let error = #expect(throws: JournalError.self) { try terms.examine(by: soon()) }
        let words = error?.message ?? ""
        #expect(error?.code == .permissionDenied)
        #expect(words.contains("GRANT CONNECT ON DATABASE … TO …") && !words.contains("postgres migrate"), "\(words)")
    }

    @Test("A role that a setting has act as another is told how that is reset, and not to migrate the schema")
    func actsAsAnother() throws {
        let other = "other_\(schema.name)"
        for setting in ["ALTER ROLE \(schema.service)", "ALTER ROLE \(schema.service) IN DATABASE postgres"] {
            try schema.cluster.psql(
                "DROP ROLE IF EXISTS \(other)", "CREATE ROLE \(other)", "GRANT \(other) TO \(schema.service)",
                "\(setting) SET role = '\(other)'")
            // The schema is withheld first, and then a function.
            for grant in ["SELECT 1", "GRANT USAGE ON SCHEMA \(schema.name) TO \(other)"] {
                try schema.psql(grant)
                let error = #expect(throws: JournalError.self) { try examine(as: schema.service) }
                let words = error?.message ?? ""
                #expect(error?.code == .permissionDenied)
                #expect(words.contains("role \(schema.service) acts as role \(other)"), "\(words)")
                #expect(words.contains("ALTER ROLE … RESET role"), "\(words)")
                #expect(words.contains("IN DATABASE … RESET role"), "\(words)")
                #expect(!words.contains("postgres migrate"), "\(words)")
            }
            try schema.cluster.psql("\(setting) RESET role")
            try schema.psql("REVOKE ALL ON SCHEMA \(schema.name) FROM \(other)")
            _ = try examine(as: schema.service)
        }
    }

    @Test("So is the function that says which version the schema has, and where all is withheld, the schema")
    func versionWithheld() throws {
        try schema.psql("REVOKE EXECUTE ON FUNCTION S.schema_version() FROM \(schema.service)")
        let one = #expect(throws: JournalError.self) { try examine(as: schema.service) }
        #expect(one?.code == .permissionDenied)
        #expect(one?.message.contains("may not call \(schema.name).schema_version()") == true, "\(one?.message ?? "")")
        try schema.psql("REVOKE USAGE ON SCHEMA \(schema.name) FROM \(schema.service)")
        let all = #expect(throws: JournalError.self) { try examine(as: schema.service) }
        #expect(all?.code == .permissionDenied)
        #expect(all?.message.contains("may not use schema \(schema.name)") == true, "\(all?.message ?? "")")
    }

    @Test("Settings of its role keep no host out")
    func roleSettings() throws {
        for setting in [
            "statement_timeout = '1ms'", "lock_timeout = '1ms'", "idle_in_transaction_session_timeout = '1ms'",
            "default_transaction_isolation = serializable", "default_transaction_deferrable = on",
            "synchronous_commit = off", "search_path = nothing",
        ] {
            try schema.cluster.psql("ALTER ROLE \(schema.service) SET \(setting)")
        }
        _ = try examine(as: schema.service)
        let folder = try TemporaryFolder()
        let owned = try Host(schema, in: folder).open()
        try add("one", to: owned)
        #expect(try lanes(owned) == ["one"])
        owned.close()
    }

    @Test("A database that takes any byte for text gets no schema, and no host")
    func encoding() throws {
        try schema.cluster.psql("CREATE DATABASE bytes_\(schema.name) ENCODING 'SQL_ASCII' TEMPLATE template0")
        let target = try PQTarget(schema.cluster.tcp("user=postgres dbname=bytes_\(schema.name)"))
        let connection = try PQConnection(target, PQSession(applicationName: "tests"), by: soon(), PQInterruption())
        defer { connection.close() }
        let error = #expect(throws: SchemaError.self) {
            try Migrator(schema: schema.name).migrate(connection, by: soon())
        }
        #expect(error?.description.contains("ENCODING 'UTF8'") == true)
    }

    @Test(
        "A pooler that shares sessions is refused before anything else, and one that does not is worked through",
        .enabled(if: Pooler.isInstalled))
    func poolers() throws {
        let folder = try TemporaryFolder()
        let shared = try Pooler(to: schema.cluster, mode: "transaction", user: schema.service)
        func refusal() -> String? {
            do { _ = try examine(as: schema.service, port: shared.port) } catch { return "\(error)" }
            return nil
        }
        // Before it listens, it can't be reached.
        #expect(try eventually { refusal()?.contains("pool_mode = session") == true })
        let error = #expect(throws: JournalError.self) { try Host(schema, in: folder, port: shared.port).open() }
        #expect(error?.message.contains("pool_mode = session") == true)
        let own = try Pooler(to: schema.cluster, mode: "session", user: schema.service)
        #expect(try eventually { (try? examine(as: schema.service, port: own.port)) != nil })
        let owned = try Host(schema, in: folder, port: own.port).open()
        try add("one", to: owned)
        owned.close()
    }

    @Test("A file system without room for the first files of a host is refused, with what it has")
    func noRoom() throws {
        #expect(HostDirectory.refusal(available: 1 << 20, at: "/copies") == nil)
        let error = try #require(HostDirectory.refusal(available: 100 << 10, at: "/copies"))
        #expect(error.code == .diskFull && error.message.contains("100 KiB"))
        #expect(error.message.contains("With 113 MiB free"))
        let folder = try TemporaryFolder()
        try HostDirectory.examineRoom(folder("copies"))
    }

    @Test(
        "A journal of its own in the place of a host's working copy is refused when it is looked at, as when it is opened"
    )
    func otherJournal() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let owned = try host.open()
        try add("one", to: owned)
        let directory = owned.directory
        owned.close()
        try HostDirectory.examineOwnCopy(folder.path)
        try LMDBJournal(directory: folder("other")).close()
        let note = try String(contentsOfFile: directory + "/copy", encoding: .utf8)
        try FileManager.default.removeItem(atPath: directory)
        try FileManager.default.moveItem(atPath: folder("other"), toPath: directory)
        try Data(note.utf8).write(to: URL(fileURLWithPath: directory + "/copy"))
        let seen = #expect(throws: JournalError.self) { try HostDirectory.examineOwnCopy(folder.path) }
        #expect(seen?.code == .alreadyExists && seen?.message.contains("no copy of a journal in PostgreSQL") == true)
        let opened = #expect(throws: JournalError.self) { _ = try host.open() }
        #expect(opened?.message == seen?.message)
    }

    @Test("A place where working copies can't be is an error that says why")
    func places() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", "")
        #expect(throws: JournalError.self) { try HostDirectory.examine(folder("file")) }
        #expect(throws: JournalError.self) { try HostDirectory.examine(folder("file/copies")) }
        #expect(throws: JournalError.self) { try HostDirectory.examine(folder("no/copies")) }
        #expect(try !HostDirectory.examine(folder("copies")))
        // As after `cp -rL`.
        try FileManager.default.createDirectory(
            atPath: folder("followed/own.journal"), withIntermediateDirectories: true)
        let followed = #expect(throws: JournalError.self) { try HostDirectory.examine(folder("followed")) }
        #expect(followed?.code == .alreadyExists && followed?.message.contains("move it away") == true)
        #expect(try HostDirectory.examine(folder.path + "/"))
    }
}
