import Foundation
import HoldfastPQ
import TestPostgres
import Testing

@Suite("Connecting", .enabled(if: PostgresProgram.isWanted))
struct ConnectingTests {
    private let cluster: Cluster

    init() throws { cluster = try Servers.plain.get() }

    @Test("A session is set up, and its facts are known")
    func facts() throws {
        let session = PQSession(
            applicationName: "holdfast beat", statementTimeout: .seconds(7), settings: ["search_path": "pg_catalog"])
        let connection = try connect(cluster.tcp("user=secret password='correct horse'"), session)
        let facts = connection.facts
        #expect(facts.user == "secret" && facts.database == "postgres" && facts.port == "\(cluster.port)")
        #expect(facts.host == "127.0.0.1" && facts.address == "127.0.0.1" && facts.isLocal)
        #expect(facts.serverVersion >= 150_000)
        #expect(facts.encryption == nil && facts.security == .disable && !facts.isServerVerified)
        #expect(!facts.isInRecovery)
        #expect(facts.settings["synchronous_commit"] == "on")
        #expect(facts.settings["statement_timeout"] == "7000")
        #expect(facts.settings["application_name"] == "holdfast beat")
        #expect(try connection.number("SELECT pg_backend_pid()::int8") == Int64(facts.backend))
        #expect(try connection.run("SHOW search_path").row(0).text(0) == "pg_catalog")
        connection.close()
        connection.close()
        #expect(!connection.isUsable)
        failure(.unreachable) { try connection.run("SELECT 1") }
    }

    @Test("What a role was given as its own settings does not weaken a session")
    func roleSettings() throws {
        try cluster.psql(
            "CREATE ROLE weak LOGIN", "ALTER ROLE weak SET synchronous_commit = off",
            "ALTER ROLE weak SET client_min_messages = error", "ALTER ROLE weak SET statement_timeout = '5s'",
            "ALTER ROLE weak SET default_transaction_isolation = serializable")
        let settings = try connect(cluster.tcp("user=weak")).facts.settings
        #expect(settings["synchronous_commit"] == "on")
        #expect(settings["client_min_messages"] == "warning")
        #expect(settings["statement_timeout"] == "0")
        #expect(settings["default_transaction_isolation"] == "read committed")
    }

    @Test("Not even the first statement of a session runs under what its role was given")
    func roleTimeouts() throws {
        try cluster.psql(
            "CREATE ROLE hurried LOGIN", "ALTER ROLE hurried SET statement_timeout = '1ms'",
            "ALTER ROLE hurried SET lock_timeout = '1ms'",
            "ALTER ROLE hurried SET idle_in_transaction_session_timeout = '1ms'")
        let connection = try connect(cluster.tcp("user=hurried options='-c statement_timeout=2 -c geqo=off'"))
        defer { connection.close() }
        #expect(connection.facts.settings["statement_timeout"] == "0")
        #expect(connection.facts.settings["lock_timeout"] == "0")
        #expect(connection.facts.settings["idle_in_transaction_session_timeout"] == "60000")
        let sources = try connection.run(
            "SELECT name::text FROM pg_settings WHERE source = 'client' AND name IN ('geqo') AND setting = 'off'")
        #expect(try sources.row(0).text(0) == "geqo")
    }

    @Test("A pooler that takes no settings with the start of a session gets it without them")
    func refusedStartUp() throws {
        let proxy = try FaultProxy(to: cluster.port)
        // As pgbouncer says it.
        let fields = ["SFATAL", "C08P01", "Munsupported startup parameter: options", ""]
        var message: [UInt8] = []
        for field in fields { message += Array(field.utf8) + [0] }
        let head: [UInt8] = [UInt8(ascii: "E"), 0, 0, 0, UInt8(message.count + 4)]
        proxy.fail(.refuse("options", with: head + message))
        let connection = try connect(cluster.tcp(port: proxy.port))
        #expect(connection.facts.settings["default_transaction_isolation"] == "read committed")
        connection.close()
        // What the string itself wants is refused.
        failure(.refused, "08P01") { try connect(cluster.tcp("user=plain options='-c geqo=off'", port: proxy.port)) }
    }

    @Test("The server's log has nothing of a session that may not set what superusers may")
    func cleanLog() throws {
        let connection = try connect(cluster.tcp("user=secret password='correct horse'"))
        #expect(try connection.number("SELECT count(*) FROM pg_settings WHERE name = 'lc_messages'") == 1)
        connection.close()
        #expect(!cluster.log.contains("lc_messages"), "\(cluster.log)")
        let superuser = try connect("host=\(cluster.folder) port=\(cluster.port) user=postgres dbname=postgres")
        #expect(superuser.facts.settings["lc_messages"] == "C")
        superuser.close()
    }

    @Test("A session of another setting than the server knows is refused")
    func unknownSetting() throws {
        failure(.refused, "22023") {
            try connect(cluster.tcp(), PQSession(applicationName: "a", settings: ["synchronous_commit": "nonsense"]))
        }
    }

    @Test("A setting that the server does not know is refused")
    func unknownSettings() throws {
        failure(.refused, "42704") {
            try connect(cluster.tcp(), PQSession(applicationName: "a", settings: ["no_such_setting": "1"]))
        }
    }

    @Test("The socket is local, and needs no encryption")
    func socket() throws {
        let facts = try connect(cluster.socket).facts
        #expect(facts.isLocal && facts.encryption == nil && facts.address == nil)
    }

    @Test("A wrong password is refused with its SQLSTATE, and told nowhere")
    func password() throws {
        let text = cluster.tcp("user=secret password='wrong horse'")
        let error = failure(.refused, "28P01") { try connect(text) }
        #expect(error?.description.contains("password authentication failed") == true)
        var everything = ""
        dump(error, to: &everything)
        #expect(!everything.isEmpty && !everything.contains("horse"))
        #expect("\(try PQTarget(text))".contains("horse") == false)
        failure(.configuration) { try connect(cluster.tcp("user=secret")) }
        // libpq's own file of passwords, by the host's name.
        let file = "\(cluster.folder)/passwords"
        try Data("127.0.0.1:\(cluster.port):*:secret:correct horse\n".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(try connect(cluster.tcp("user=secret passfile=\(file)")).facts.user == "secret")
    }

    @Test("A database or a role that does not exist is refused; a role with too many sessions is to be tried again")
    func refused() throws {
        failure(.refused, "3D000") {
            try connect("host=127.0.0.1 port=\(cluster.port) user=plain dbname=nothing sslmode=disable")
        }
        failure(.refused, "28000") { try connect(cluster.tcp("user=nobody_of_this_name")) }
        try cluster.psql("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
        let first = try connect(cluster.tcp("user=crowded"))
        failure(.unreachable, "53300") { try connect(cluster.tcp("user=crowded")) }
        first.close()
    }

    @Test("A name is resolved apart, and every address of it is tried")
    func names() throws {
        let facts = try connect("host=localhost port=\(cluster.port) dbname=postgres user=plain").facts
        #expect(facts.host == "localhost" && facts.address == "127.0.0.1" && facts.isLocal)
        let start = ContinuousClock.now
        failure(.unreachable) { try connect("host=no-such-host.invalid sslmode=disable", by: soon(0.3)) }
        #expect(.now - start < .seconds(5))
    }

    @Test("Hosts are tried in their order; a dead one, and one that does not answer, cost their share of the time")
    func hosts() throws {
        let silent = try ScriptedServer(saying: [], closes: false)
        let dead = try Socket.refusing()
        let text = """
            host=127.0.0.1,127.0.0.1,127.0.0.1 port=\(dead.port),\(silent.port),\(cluster.port) dbname=postgres user=plain \
            sslmode=disable target_session_attrs=read-write
            """
        let start = ContinuousClock.now
        #expect(try connect(text, by: soon(2)).facts.port == "\(cluster.port)")
        #expect(.now - start > .milliseconds(900))
        let error = failure(.unreachable) {
            try connect("host=127.0.0.1,127.0.0.1 port=\(dead.port),\(silent.port) sslmode=disable", by: soon(0.2))
        }
        #expect(error?.description.contains("\(dead.port)") == true)
        #expect(error?.description.contains("\(silent.port)") == true)
    }

    @Test("A server that says nothing is left at the deadline, and when another thread says so")
    func silence() throws {
        let silent = try ScriptedServer(saying: [], closes: false)
        for mode in ["disable", "require"] {
            let text = "host=127.0.0.1 port=\(silent.port) user=u dbname=d sslmode=\(mode)"
            let start = ContinuousClock.now
            failure(.unreachable, cause: .deadline) { try connect(text, by: soon(0.1)) }
            #expect(.now - start < .seconds(5))
            let interruption = try PQInterruption()
            let attempt = Background { try connect(text, by: soon(), interruption).facts }
            interruption.interrupt()
            failure(.interrupted) { try attempt.value() }
        }
    }

    @Test(
        "A server that is none is unreachable",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n\r\n", "", "\u{1}\u{2}\u{3}", "E\0\0\0\u{5}\0", "R\0\0\0\u{8}\0\0\0\u{63}",
            "S", "SSSSSSSSSSSSSSSSSSSSSSSSSSSSS", "N", "E\u{7f}\u{7f}\u{7f}\u{7f}", "Z\0\0\0\u{5}I",
        ])
    func garbage(text: String) throws {
        for closes in [true, false] {
            let server = try ScriptedServer(saying: Array(text.utf8), closes: closes)
            for mode in ["disable", "require"] {
                failure(.unreachable) {
                    try connect(
                        "host=127.0.0.1 port=\(server.port) user=u password=hunter2 dbname=d sslmode=\(mode)",
                        by: soon(0.05))
                }
            }
        }
    }

    @Test("Nobody listens: unreachable, also on a socket")
    func nobody() throws {
        failure(.unreachable, cause: .connectionLost) {
            try connect("host=127.0.0.1 port=\(try FreePort.take()) user=u dbname=d")
        }
        failure(.unreachable, cause: .connectionLost) { try connect("host=/nowhere user=u dbname=d") }
    }
}
