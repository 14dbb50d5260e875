import Foundation
import Holdfast
import Scratch
import TestPostgres
import Testing

/// What is said of a database that can't be used, and by which code.
@Suite("Databases that can't be used", .serialized, .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct DatabaseCommandTests {
    private let cluster: Cluster
    private let schema: String

    init() throws {
        cluster = try Servers.plain.get()
        schema = "s_\(UUID().uuidString.prefix(8).lowercased())"
    }

    /// - Returns: the path of a configuration with this database.
    private func hostFile(_ database: String, in folder: TemporaryFolder) throws -> String {
        try folder.write(
            "host.yaml",
            """
            journal: {postgres: "\(database)", path: copies, schema: \(schema)}
            routes: [{name: default, endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        return folder("host.yaml")
    }

    private func schemas() throws -> String {
        try cluster.psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'")
    }

    @Test("A role that does not exist leaves the database as it was, and a database that does not exist is called so")
    func migrate() async throws {
        for flag in ["--service", "--submitter", "--operators"] {
            let result = try await Tool.run(
                "postgres", "migrate", "--database", cluster.socket, "--schema", schema, flag, "nobody_here")
            #expect(
                result.status == 78 && result.errors.contains("there is no role nobody_here, and nothing was changed"))
            #expect(try schemas() == "0")
        }
        let nowhere = cluster.socket.replacing("dbname=postgres", with: "dbname=nowhere")
        for command in [["migrate"], ["status"]] {
            let result = try await Tool.start(["postgres"] + command + ["--database", nowhere]).result()
            #expect(result.status == 66, "\(command): \(result.errors)")
            #expect(result.errors.contains("\"nowhere\" does not exist") && result.errors.contains("CREATE DATABASE"))
        }
    }

    @Test("Tables that are locked are no database that can't be reached, and who has locked them is named")
    func locked() async throws {
        let made = try await Tool.run("postgres", "migrate", "--database", cluster.socket, "--schema", schema)
        #expect(made.status == 0, "\(made.errors)")
        let (cluster, schema) = (cluster, schema)
        let holding = Background {
            try cluster.psql("BEGIN; LOCK TABLE \(schema).journals; SELECT pg_sleep(60); COMMIT")
        }
        let holder = "SELECT pid FROM pg_locks WHERE relation = '\(schema).journals'::regclass AND granted"
        #expect(try eventually { try cluster.psql(holder) != "" })
        let number = try cluster.psql(holder)
        let folder = try TemporaryFolder()
        let host = try hostFile(cluster.socket, in: folder)
        let commands = [
            ["postgres", "status", "--database", cluster.socket, "--schema", schema],
            ["serve", "--check", "--config", host], ["lanes", "list", "--fleet", "--config", host],
            ["lanes", "list", "--journal-name", "host1", "--timeout", "1s", "--config", host],
            ["doctor", "--config", host],
        ]
        for (command, tool) in try commands.map({ ($0, try Tool.start($0)) }) {
            let result = try await tool.result()
            #expect(result.status != 0)
            let said = result.output + result.errors
            #expect(
                said.contains("its calls wait for a lock that session \(number) (role postgres, psql) holds"),
                "\(command): \(said)")
            #expect(said.contains("pg_terminate_backend"), "\(command): \(said)")
        }
        try cluster.psql("SELECT pg_terminate_backend(\(number))")
        #expect(throws: PostgresFailure.self) { try holding.value() }
    }

    @Test("A schema that is not there has one code, whichever command meets it")
    func noSchema() async throws {
        let folder = try TemporaryFolder()
        let host = try hostFile(cluster.tcp(), in: folder)
        for command in [
            ["serve", "--check", "--config", host],
            ["postgres", "status", "--database", cluster.tcp(), "--schema", schema],
        ] {
            let result = try await Tool.start(command).result()
            let said = result.output + result.errors
            #expect(result.status == 66 && said.contains("no tables of Holdfast's"), "\(command): \(said)")
        }
    }

    @Test("A role whose transactions begin read-only is told by the status, as it is by a check")
    func readOnly() async throws {
        let role = "reader_\(schema)"
        try cluster.psql("CREATE ROLE \(role) LOGIN")
        let made = try await Tool.run(
            "postgres", "migrate", "--database", cluster.socket, "--schema", schema, "--service", role)
        #expect(made.status == 0, "\(made.errors)")
        let again = try await Tool.run(
            "postgres", "migrate", "--database", cluster.socket, "--schema", schema, "--service", role)
        #expect(again.output.contains("already; granted role \(role) what it needs"), "\(again.output)")
        func status() async throws -> Tool.Result {
            try await Tool.run(
                "postgres", "status", "--database", cluster.tcp("user=\(role)"), "--schema", schema, "--json")
        }
        #expect(try await !status().output.contains("read-only"))
        try cluster.psql("ALTER ROLE \(role) SET default_transaction_read_only = on")
        let found = try await status()
        #expect(found.output.contains("role \(role) in database postgres begins read-only"), "\(found.output)")
        #expect(found.output.contains("RESET default_transaction_read_only") && found.status == 0, "\(found.errors)")
        let folder = try TemporaryFolder()
        let check = try await Tool.run(
            "serve", "--check", "--config", hostFile(cluster.tcp("user=\(role)"), in: folder))
        let said = check.output + check.errors
        #expect(check.status != 0 && said.contains("begins read-only"), "\(said)")
    }

    @Test("A check tells a password that is wrong from one that is missing, and both from a database that is not there")
    func check() async throws {
        let folder = try TemporaryFolder()
        func check(_ database: String) async throws -> Tool.Result {
            try await Tool.run("serve", "--check", "--config", hostFile(database, in: folder))
        }
        let wrong = try await check(cluster.tcp("user=secret password=not-to-be-seen"))
        #expect(wrong.status == 77 && wrong.output.contains("password"), "\(wrong.output)\(wrong.errors)")
        #expect(!wrong.output.contains("not-to-be-seen") && !wrong.errors.contains("not-to-be-seen"))
        let missing = try await check(cluster.tcp("user=secret passfile=/dev/null"))
        #expect(missing.status == 78 && missing.output.contains("~/.pgpass"), "\(missing.output)\(missing.errors)")
        let nowhere = try await check(cluster.tcp().replacing("dbname=postgres", with: "dbname=nowhere"))
        #expect(nowhere.status == 66 && nowhere.output.contains("does not exist"), "\(nowhere.output)\(nowhere.errors)")
    }

    @Test("Without a cluster_name, a server with standbys is told what that costs")
    func clusterName() async throws {
        let cluster = try Cluster()
        #expect(try await Tool.run("postgres", "migrate", "--database", cluster.socket, "--schema", schema).status == 0)
        func status() async throws -> String {
            try await Tool.run("postgres", "status", "--database", cluster.socket, "--schema", schema).output
        }
        #expect(try await !status().contains("cluster_name"))
        let standby = try Cluster(standbyOf: cluster, name: "copy")
        #expect(
            try await waitUntilAsync { try await status().contains("The server has standbys, and no cluster_name") })
        try cluster.configure(["cluster_name": "'db1'"])
        try cluster.stop(.fast)
        try cluster.start()
        #expect(try await !status().contains("no cluster_name"))
        _ = standby
    }
}
