internal import Foundation
internal import HoldfastPlatform
internal import Synchronization

/// A PostgreSQL server of a test's own, in a temporary directory, on a free port of the loopback and on a socket. Both go
/// away with it, also when the process of the test is killed.
///
/// Users: `postgres` (superuser, let in without a password), `plain` (the same, with no rights), `secret` (asked for a
/// password over TCP, `correct horse`), `certified` (let in by a certificate of its name, over TLS only).
package final class Cluster: Sendable {
    /// The directory of everything, with the socket.
    package let folder: String
    package let port: Int
    private let keeper: Keeper

    package enum Stop: String, Sendable {
        case fast
        case immediate
    }

    /// A new server, started.
    ///
    /// - Parameter settings: lines of its configuration, over those here.
    package convenience init(_ settings: [String: String] = [:]) throws {
        try self.init(settings) { data in
            try PostgresProgram.run(PostgresProgram.prefix + ["cp", "-a", try Template.shared.get().data, data])
        }
    }

    /// A standby of a running server, which streams from it.
    ///
    /// - Parameter name: by which the primary knows it, as in `synchronous_standby_names`.
    package convenience init(standbyOf primary: Cluster, name: String, _ settings: [String: String] = [:]) throws {
        let source = "host=\(primary.folder) port=\(primary.port) user=postgres application_name=\(name)"
        try self.init(settings) { data in
            try PostgresProgram.run(
                "pg_basebackup", ["-D", data, "-R", "--no-sync", "-c", "fast", "-X", "stream", "-d", source])
        }
    }

    private init(_ settings: [String: String], fill: (String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.path
        // A socket's path has room for 107 bytes.
        folder = "\(root.count < 60 ? root : "/tmp")/pg-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try PostgresProgram.run(["chown", "postgres:", folder]) }
        port = try FreePort.take()
        keeper = try Keeper(folder)
        try fill(data)
        var lines = [
            "port": "\(port)", "unix_socket_directories": "'\(folder)'", "listen_addresses": "'127.0.0.1'",
            "fsync": "off", "max_connections": "30", "shared_buffers": "8MB", "logging_collector": "off",
            "max_wal_senders": "5", "wal_level": "replica", "log_min_messages": "warning",
            // Tests wait for what the server does; nobody waits for these.
            "autovacuum": "off", "checkpoint_timeout": "1h", "wal_retrieve_retry_interval": "100ms",
        ]
        lines.merge(settings) { _, own in own }
        try configure(lines)
        try start()
    }

    private var data: String { "\(folder)/data" }

    /// Starts a server that was stopped, and waits until it takes connections.
    package func start() throws {
        // After a kill -9, the former server's sessions need a moment to notice.
        var attempts = 50
        while true {
            do {
                _ = try PostgresProgram.run("pg_ctl", ["-D", data, "-l", "\(folder)/log", "-w", "start"])
                return
            } catch {
                attempts -= 1
                if attempts == 0 || !log.contains("still in use") { throw error }
                usleep(50_000)
            }
        }
    }

    package func stop(_ mode: Stop) throws {
        try PostgresProgram.run("pg_ctl", ["-D", data, "-m", mode.rawValue, "-w", "stop"])
    }

    /// Ends the server as kill -9 does, so that nobody says goodbye to anybody.
    package func killHard() throws {
        let text = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
        guard let first = text.split(separator: "\n").first, let process = Int32(first), process > 1 else {
            throw PostgresFailure("postmaster.pid has no process")
        }
        kill(process, SIGKILL)
    }

    /// Makes a standby the primary.
    package func promote() throws { try PostgresProgram.run("pg_ctl", ["-D", data, "-w", "promote"]) }

    package var log: String { (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "" }

    /// Runs statements as a superuser, by psql.
    ///
    /// - Returns: the values of the last statement's rows, with `|` between columns.
    @discardableResult
    package func psql(_ sql: String...) throws -> String {
        let place = ["-h", folder, "-p", "\(port)", "-U", "postgres", "-d", "postgres"]
        let commands = sql.flatMap { ["-c", $0] }
        let text = try PostgresProgram.run(
            "psql", place + ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"] + commands)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Changes settings for the next start.
    package func configure(_ settings: [String: String]) throws {
        let old = try String(contentsOfFile: "\(data)/postgresql.conf", encoding: .utf8)
        let lines = settings.map { "\($0.key) = \($0.value)" }.sorted()
        try write("postgresql.conf", Array((old + lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Changes settings of the running server.
    package func reload(_ settings: [String: String]) throws {
        for (name, value) in settings { try psql("ALTER SYSTEM SET \(name) = \(value)") }
        try PostgresProgram.run("pg_ctl", ["-D", data, "reload"])
    }

    /// Puts a file into the server's directory, for the server's eyes only.
    package func write(_ name: String, _ bytes: [UInt8]) throws {
        let path = "\(data)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        if getuid() == 0 { try PostgresProgram.run(["chown", "postgres:", path]) }
    }
}
