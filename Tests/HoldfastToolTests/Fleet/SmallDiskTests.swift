import Foundation
import Scratch
import TestPostgres
import Testing

/// Hosts whose working copies lie on a file system of their own, in a mount namespace. Skipped where mounting is not allowed.
@Suite("A host of a fleet on a small or full disk", .serialized, .enabled(if: PostgresProgram.isWanted))
struct SmallDiskTests {
    private static let notAllowed: Int32 = 126

    /// Runs lines of a shell, to which `$0` is the program, `$1` the mounted directory, `$2` the configuration, `$3` a file that is
    /// not there yet.
    private func start(_ world: FleetWorld, megabytes: Int, _ lines: String) throws -> RunningTool {
        try world.configure("gamma", user: world.service)
        try FileManager.default.createDirectory(atPath: world.folder("gamma"), withIntermediateDirectories: true)
        let script =
            "unshare -m true || exit 126\nexec unshare -m sh -c 'mount -t tmpfs -o size=\(megabytes)m tmpfs \"$1\" || exit 126\n"
            + lines + "' \"$0\" \"$@\""
        return try RunningTool(
            ["-c", script, Tool.path, world.folder("gamma"), world.configuration("gamma"), world.folder("go")],
            program: "/bin/sh")
    }

    @Test("A file system that is too small is refused by serve, its check and the doctor, with the MiB that are needed")
    func small() async throws {
        let world = try await FleetWorld()
        let tool = try start(
            world, megabytes: 112,
            """
            "$0" serve --check --config "$2" 2>&1; echo "check: $?"
            "$0" doctor --no-network --json --config "$2" 2>&1; echo "doctor: $?"
            exec "$0" serve --config "$2" 2>&1
            """)
        let result = try await tool.result()
        guard result.status != Self.notAllowed else { return print("skipped: cannot mount tmpfs here") }
        #expect(result.status == 74, "\(result.output)")
        #expect(result.output.contains("check: 74") && result.output.contains("doctor: 78"), "\(result.output)")
        let refusals = result.output.components(separatedBy: "112 MiB in all, and a host needs 113 MiB").count - 1
        #expect(refusals >= 3, "\(result.output)")
    }

    @Test("The least file system that is not refused takes notifications")
    func least() async throws {
        let world = try await FleetWorld()
        let tool = try start(world, megabytes: 113, "exec \"$0\" serve --config \"$2\"")
        defer { tool.kill(SIGKILL) }
        _ = try await waitUntil { try !tool.isRunning || tool.errors.contains("serving http2 on ") }
        let errors = try tool.errors
        guard tool.isRunning else {
            #expect(try await tool.result().status == Self.notAllowed, "\(errors)")
            return print("skipped: cannot mount tmpfs here")
        }
        #expect(!errors.contains("no room"), "\(errors)")
    }

    @Test("On a full disk a host waits for room, and the doctor and the check call it full with the same words")
    func full() async throws {
        let world = try await FleetWorld()
        let tool = try start(
            world, megabytes: 160,
            """
            cat /dev/zero >"$1/fill" 2>/dev/null
            "$0" serve --check --config "$2" >&2; echo "check: $?" >&2
            "$0" doctor --no-network --json --config "$2" >&2; echo "doctor: $?" >&2
            (for i in $(seq 600); do [ -e "$3" ] && break; sleep 0.1; done; rm "$1/fill") &
            exec "$0" serve --config "$2"
            """)
        defer { tool.kill(SIGKILL) }
        _ = try await waitUntil { try !tool.isRunning || tool.errors.contains("this host has no room") }
        let before = try tool.errors
        guard tool.isRunning else {
            #expect(try await tool.result().status == Self.notAllowed, "\(before)")
            return print("skipped: cannot mount tmpfs here")
        }
        #expect(before.contains("check: 74") && before.contains("doctor: 78"), "\(before)")
        #expect(before.components(separatedBy: "a host can't begin with less than 256").count > 3, "\(before)")
        #expect(before.contains("With 113 MiB free"), "\(before)")
        try world.folder.write("go", "")
        #expect(try await waitUntil { try tool.errors.contains("serving http2 on ") })
    }

    @Test(
        "While a host waits for room, its status says so and what to do, and the doctor knows its admin address as its own"
    )
    func waiting() async throws {
        let world = try await FleetWorld()
        let tool = try start(
            world, megabytes: 160,
            """
            cat /dev/zero >"$1/fill" 2>/dev/null
            (for i in $(seq 600); do [ -e "$3" ] && break; sleep 0.1; done
            "$0" status --config "$2" >&2; echo "status: $?" >&2
            "$0" status --json --config "$2" >&2
            "$0" doctor --no-network --json --config "$2" >&2; echo "doctor: $?" >&2; rm "$1/fill") &
            exec "$0" serve --config "$2"
            """)
        defer { tool.kill(SIGKILL) }
        let admin = "health and metrics on 127.0.0.1:"
        _ = try await waitUntil {
            let errors = try tool.errors
            return !tool.isRunning || errors.contains("this host has no room") && errors.contains(admin)
        }
        let before = try tool.errors
        guard tool.isRunning else {
            #expect(try await tool.result().status == Self.notAllowed, "\(before)")
            return print("skipped: cannot mount tmpfs here")
        }
        let port = try #require(before.range(of: admin)).upperBound
        var text = try String(contentsOfFile: world.configuration("gamma"), encoding: .utf8)
        text.replace(
            "admin: {listen: \"127.0.0.1:0\"",
            with: "admin: {listen: \"127.0.0.1:\(before[port...].prefix { $0.isNumber })\"")
        try world.folder.write("gamma.yaml", text)
        try world.folder.write("go", "")
        #expect(try await waitUntil { try tool.errors.contains("doctor: ") })
        let told = try tool.errors
        #expect(told.contains("status: 1") && told.contains("fault disk-refusing (for "), "\(told)")
        #expect(told.contains("is in use by process \(tool.processIdentifier)"), "\(told)")
        #expect(told.contains("next: make room where working copies lie"), "\(told)")
        #expect(told.contains(#""kind":"disk-refusing""#), "\(told)")
        #expect(told.contains("doctor: 78") && told.contains("has been starting for "), "\(told)")
        #expect(told.contains("the running service listens on 127.0.0.1:") && !told.contains("is taken by"), "\(told)")
        #expect(try await waitUntil { try tool.errors.contains("serving http2 on ") })
    }
}
