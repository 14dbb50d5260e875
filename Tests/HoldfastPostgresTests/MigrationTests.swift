import Foundation
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("Migrations of the schema", .enabled(if: PostgresProgram.isWanted))
struct MigrationTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema(isMade: false) }

    private static func adding(_ version: Int, readableFrom: Int, _ sql: String = "SELECT 1") -> Migration {
        Migration(version: version, readableFrom: readableFrom) { [sql.replacing("S.", with: "\($0).")] }
    }

    /// Version 1, on which the versions of these tests build.
    private static let first = Array(Migration.all.prefix(1))

    private func migrator(_ more: Migration...) -> Migrator {
        Migrator(schema: schema.name, migrations: Self.first + more)
    }

    private func versions() throws -> String {
        try schema.psql("SELECT string_agg(version::text, ',' ORDER BY version) FROM S.schema")
    }

    @Test("A schema is made once, and a second migration finds nothing to do")
    func once() throws {
        let connection = try schema.asOwner()
        #expect(try migrator().migrate(connection, by: soon()) == [1])
        #expect(try migrator().migrate(connection, by: soon()) == [])
        #expect(try schema.psql("SELECT version, readable_from, by FROM S.schema") == "1|1|\(schema.owner)")
    }

    @Test("An older schema is brought forward, and keeps its rows")
    func forward() throws {
        let connection = try schema.asOwner()
        try migrator().migrate(connection, by: soon())
        try schema.psql("SELECT S.create_journal('a')")
        let second = Self.adding(2, readableFrom: 1, "ALTER TABLE S.journals ADD COLUMN b int4 DEFAULT 7")
        #expect(try migrator(second, Self.adding(3, readableFrom: 3)).migrate(connection, by: soon()) == [2, 3])
        #expect(try schema.psql("SELECT name, b FROM S.journals") == "a|7")
        #expect(try versions() == "1,2,3")
    }

    @Test("A migration that fails leaves the version before it, whole, and the connection usable")
    func failing() throws {
        let connection = try schema.asOwner()
        let second = Self.adding(2, readableFrom: 1, "CREATE TABLE S.more (a int4)")
        let third = Self.adding(3, readableFrom: 1, "ALTER TABLE S.nothing ADD COLUMN b int4")
        #expect(throws: SchemaError.self) { try migrator(second, third).migrate(connection, by: soon()) }
        #expect(try versions() == "1,2")
        #expect(try migrator(second).migrate(connection, by: soon()) == [])
    }

    @Test("Several migrators at once make every version once")
    func atOnce() throws {
        let migrator = migrator(Self.adding(2, readableFrom: 1), Self.adding(3, readableFrom: 1))
        let schema = self.schema
        let all = try (0..<4).map { _ in
            let connection = try schema.asOwner()
            return Background { try migrator.migrate(connection, service: schema.service, by: soon()) }
        }
        #expect(try all.flatMap { try $0.value() }.sorted() == [1, 2, 3])
    }

    @Test("A program refuses a newer schema, unless that says that the program may use it")
    func newer() throws {
        let connection = try schema.asOwner()
        try migrator().migrate(connection, service: schema.service, by: soon())
        let service = try schema.asService()
        try schema.psql("INSERT INTO S.schema (version, readable_from) VALUES (2, 1)")
        try migrator().check(service, by: soon())
        #expect(try migrator().migrate(connection, by: soon()) == [])

        try schema.psql("INSERT INTO S.schema (version, readable_from) VALUES (3, 2)")
        for (check, connection) in [(true, service), (false, connection)] {
            let error = #expect(throws: SchemaError.self) {
                if check { return try migrator().check(connection, by: soon()) }
                try migrator().migrate(connection, by: soon())
            }
            #expect("\(error!)".contains("version 3, and this program knows it up to 1"))
        }
        // The same schema, for a program that knows version 2.
        try migrator(Self.adding(2, readableFrom: 1)).check(service, by: soon())
    }

    @Test("A program refuses an older schema, and one that is not there, and says that it must be migrated")
    func older() throws {
        let service = try schema.asService()
        let missing = #expect(throws: SchemaError.self) { try migrator().check(service, by: soon()) }
        #expect("\(missing!)".contains("has no tables of Holdfast's in schema \(schema.name)"))
        try migrator().migrate(try schema.asOwner(), service: schema.service, by: soon())
        let older = #expect(throws: SchemaError.self) {
            try migrator(Self.adding(2, readableFrom: 1)).check(service, by: soon())
        }
        #expect("\(older!)".contains("version 1, and this program needs 2"))
    }

    @Test("The printed text makes the same schema, with the same rights")
    func printed() throws {
        let second = Self.adding(2, readableFrom: 1, "CREATE TABLE S.more (a int4)")
        try migrator(second).migrate(try schema.asOwner(), service: schema.service, by: soon())
        let other = try OwnSchema(isMade: false)
        let migrator = Migrator(schema: other.name, migrations: Self.first + [second])
        // In two parts, as an upgrade would be.
        let first = try Migrator(schema: other.name, migrations: Self.first).text()
        for text in [first, try migrator.text(after: 1, service: other.service)] {
            try other.cluster.psql("SET ROLE \(other.owner)", text)
        }
        #expect(try other.dump() == schema.dump())
        #expect(try migrator.migrate(try other.asOwner(), by: soon()) == [])
        // Once more it fails, and changes nothing.
        #expect(throws: PostgresFailure.self) { try other.cluster.psql(first) }
        #expect(try other.dump() == schema.dump())
    }

    @Test(
        "A printed text for another version than is there names both, says what to print, and changes nothing",
        arguments: [0, 1, 3, 4])
    func printedForOther(version: Int) throws {
        let second = Self.adding(2, readableFrom: 1)
        try migrator(second).migrate(try schema.asOwner(), by: soon())
        let newest = migrator(second, Self.adding(3, readableFrom: 1), Self.adding(4, readableFrom: 1))
        // Behind the last version it is rights alone.
        let text = try newest.text(after: version, service: schema.service)
        let before = try schema.dump()
        let error = #expect(throws: PostgresFailure.self) {
            try schema.cluster.psql("SET ROLE \(schema.owner)", text)
        }
        let words = "\(error!)"
        let what = version == 0 ? "a database without it" : "version \(version)"
        #expect(
            words.contains("schema \(schema.name) has version 2, and these statements are for \(what)"), "\(words)")
        #expect(words.contains("--print --from 2"), "\(words)")
        #expect(try versions() == "1,2" && schema.dump() == before)
        try schema.cluster.psql("SET ROLE \(schema.owner)", try newest.text(after: 2, service: schema.service))
        #expect(try versions() == "1,2,3,4")
    }

    @Test("A printed text from a version on does not begin where there is no schema")
    func printedForNone() throws {
        let text = try migrator(Self.adding(2, readableFrom: 1)).text(after: 1)
        let error = #expect(throws: PostgresFailure.self) {
            try schema.cluster.psql("SET ROLE \(schema.owner)", text)
        }
        #expect("\(error!)".contains("schema \(schema.name) is not there, and these statements are for version 1"))
    }

    @Test("The text of a version that was published is what it was", arguments: 1...Migration.all.count)
    func golden(version: Int) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let path = folder.appendingPathComponent("Golden/\(version).sql")
        let migrator = Migrator(migrations: Array(Migration.all.prefix(version)))
        let text = try migrator.text(after: version - 1, service: "service", submitter: version < 4 ? nil : "app")
        if ProcessInfo.processInfo.environment["HOLDFAST_WRITE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: path)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == text)
    }

    @Test("Journals of version 1 get a log, and programs that note no ownerships are refused")
    func logsOfOldJournals() throws {
        let connection = try schema.asOwner()
        try migrator().migrate(connection, service: schema.service, by: soon())
        try schema.psql("SELECT S.create_journal('a'), S.create_journal('b')")
        let newest = Migrator(schema: schema.name)
        let (service, submitter) = (schema.service, schema.submitter)
        let made = try newest.migrate(connection, service: service, submitter: submitter, by: soon())
        #expect(made == Array(2...Migration.all.count))
        let user = try schema.asService()
        let calls = OwnershipCalls(schema.name)
        #expect(try calls.createJournal("b", user, by: soon()) == 2)
        #expect(try calls.createJournal("c", user, by: soon()) == 3)
        for journal in Int32(1)...3 {
            #expect(try LogCalls(schema.name, journal: journal).state(user, by: soon()).last == 0)
        }
        let tables =
            "SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema.name)' AND tablename ~ '^(log|checkpoint)_[0-9]+_[01]$'"
        #expect(try schema.psql(tables) == "12")
        #expect(throws: SchemaError.self) { try migrator().check(user, by: soon()) }
        // A schema that was made at once is the same as one that was upgraded.
        let other = try OwnSchema()
        for name in ["a", "b", "c"] {
            _ = try OwnershipCalls(other.name).createJournal(name, other.asService(), by: soon())
        }
        #expect(try other.dump() == schema.dump())
    }

    @Test("A role that may not create the schema is told how it can be made, and that way works")
    func mayNotCreate() throws {
        try schema.cluster.psql("REVOKE CREATE ON DATABASE postgres FROM \(schema.owner)")
        let connection = try schema.asOwner()
        let error = #expect(throws: SchemaError.self) { try migrator().migrate(connection, by: soon()) }
        let words = "\(error!)"
        #expect(words.contains("role \(schema.owner) may not create schema \(schema.name) in database postgres"))
        let advice = try #require(words.firstMatch(of: /run (CREATE SCHEMA .*) there/)).1
        try schema.cluster.psql(String(advice))
        #expect(try migrator().migrate(connection, by: soon()) == [1])
    }

    @Test("A role that does not own the schema is told who does")
    func notOwner() throws {
        try migrator().migrate(try schema.asOwner(), service: schema.service, by: soon())
        let connection = try schema.asService()
        let error = #expect(throws: SchemaError.self) {
            try migrator(Self.adding(2, readableFrom: 1)).migrate(connection, by: soon())
        }
        let advice = "migrate as \(schema.owner), which owns it"
        #expect("\(error!)" == "role \(schema.service) may not change schema \(schema.name): \(advice)")
    }

    @Test("A role for the service that does not exist is named, with the statement that makes it")
    func noSuchRole() throws {
        let connection = try schema.asOwner()
        let role = "Odd \"role\" \(UUID().uuidString.prefix(8))"
        let error = #expect(throws: SchemaError.self) {
            try migrator().migrate(connection, service: role, by: soon())
        }
        let words = "\(error!)"
        // Nothing is made by a call that fails for a word of its caller's.
        #expect(words.contains("nothing was changed"))
        #expect(try schema.psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema.name)'") == "0")
        let advice = try #require(words.firstMatch(of: /run (CREATE ROLE .*) LOGIN/)).1
        try schema.cluster.psql(String(advice))
        try migrator().migrate(connection, service: role, by: soon())
    }

    @Test("A connection that is lost in the middle leaves a version or the one before it, and the rest can be done")
    func lost() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        for fault in [FaultProxy.Fault.cutBefore("CREATE TABLE"), .cutAfter("CREATE TABLE")] {
            let schema = try OwnSchema(isMade: false)
            let migrator = Migrator(schema: schema.name)
            proxy.fail(nil)
            let target = try PQTarget(schema.cluster.tcp("user=\(schema.owner)", port: proxy.port))
            let session = PQSession(applicationName: "tests")
            let connection = try PQConnection(target, session, by: soon(), PQInterruption())
            proxy.fail(fault)
            #expect(throws: SchemaError.self) { try migrator.migrate(connection, by: soon()) }
            try migrator.migrate(try schema.asOwner(), service: schema.service, by: soon())
            try migrator.check(try schema.asService(), by: soon())
        }
    }

    @Test("Names that could be something else are refused")
    func names() throws {
        let long = String(repeating: "a", count: 64)
        for bad in ["", "Big", "a-b", "a;b", "1a", "pg_a", "public", "information_schema", long] {
            #expect(throws: SchemaError.self, "\(bad)") { try SchemaName(bad) }
        }
        for bad in ["", "public", "none", "a\0b", long] {
            #expect(throws: SchemaError.self, "\(bad)") { try migrator().text(service: bad) }
        }
    }
}
