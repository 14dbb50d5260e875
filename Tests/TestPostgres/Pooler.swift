internal import Foundation
internal import HoldfastPlatform

/// A pgbouncer of a test's own before a cluster. It ends with the test's process.
package final class Pooler: Sendable {
    private static let program = "/usr/sbin/pgbouncer"
    package static let isInstalled = FileManager.default.isExecutableFile(atPath: program)

    package let port: Int
    private let writer: Int32
    private let child: Child

    /// - Parameters:
    ///   - mode: `session` or `transaction`.
    ///   - user: the only one that it lets in.
    package init(to cluster: Cluster, mode: String, user: String) throws {
        port = try FreePort.take()
        let file = "\(cluster.folder)/pooler-\(port).ini"
        let lines = [
            "[databases]", "* = host=\(cluster.folder) port=\(cluster.port)", "[pgbouncer]", "listen_addr = 127.0.0.1",
            "listen_port = \(port)", "unix_socket_dir =", "auth_type = trust", "auth_file = \(file).users",
            "pool_mode = \(mode)",
            "ignore_startup_parameters = extra_float_digits",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        try Data("\"\(user)\" \"\"\n".utf8).write(to: URL(fileURLWithPath: "\(file).users"))
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw PostgresFailure("no pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        writer = ends[1]
        defer { close(ends[0]) }
        let command = (PostgresProgram.prefix + [Self.program, "-q", file]).joined(separator: " ")
        child = try Child(["sh", "-c", "trap '' INT TERM; \(command) & cat; kill -9 $!"], input: ends[0])
    }

    deinit {
        close(writer)
        child.wait()
    }
}
