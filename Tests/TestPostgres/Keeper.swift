internal import HoldfastPlatform

/// Removes a server and its directory when the test's process is done with it, or is gone: a shell waits for the end of a
/// pipe whose other end nobody but the process has.
final class Keeper: Sendable {
    private let writer: Int32
    private let child: Child

    init(_ folder: String) throws {
        let stop = try PostgresProgram.command("pg_ctl", ["-D", "\(folder)/data", "-m", "immediate", "-W", "stop"])
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw PostgresFailure("no pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        writer = ends[1]
        defer { close(ends[0]) }
        // Twice, for files that the server makes while it ends.
        let script = "trap '' INT TERM; cat; \(stop.joined(separator: " ")); rm -rf \(folder); rm -rf \(folder)"
        child = try Child(["sh", "-c", script], input: ends[0])
    }

    deinit {
        close(writer)
        child.wait()
    }
}
