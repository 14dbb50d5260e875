import Foundation
import Holdfast
import Scratch
import TestPostgres
import Testing

/// The primary is killed, its standby promoted, and then the old one is started as it was, before the other in all strings.
@Suite("A fleet whose old primary comes back", .timeLimit(.minutes(3)), .enabled(if: PostgresProgram.isWanted))
struct OldPrimaryCommandTests {
    @Test("Hosts stay with the server that was promoted, and log, health, status and doctor name the old one")
    func comesBack() async throws {
        let old = try Cluster(["max_connections": "100"])
        let new = try Cluster(standbyOf: old, name: "copy", ["max_connections": "100"])
        let streams = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        #expect(try eventually { try old.psql(streams) == "1" })
        let world = try await FleetWorld(on: old, or: new, ["alpha"])
        let caughtUp = "SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication"
        #expect(try eventually { try old.psql(caughtUp) == "t" })
        try old.stop(.immediate)
        try new.promote()
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'holdfast lease%'"
        #expect(try await waitUntil { try new.psql(sessions) == "1" })
        #expect(try await waitUntilAsync { try await world.page("alpha", "/health/ready").status == 200 })
        try old.start()

        // Other servers are asked every 30 s; whoever starts meets the old one at once.
        try await world.serve("beta")
        #expect(try await waitUntil { try world.log("beta").contains(":\(old.port) is an old primary") })
        let metric = "holdfast_condition{kind=\"old-primary\",about=\"database\",subject=\""
        #expect(try await world.page("beta", "/metrics").text.contains(metric))
        let health = try await world.page("beta", "/health/ready").text
        #expect(health.contains("is an old primary") && health.contains("timeline 1") && health.contains("timeline 2"))
        #expect(try new.psql(sessions) == "2")
        let anyHere = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ '^holdfast (lease|log)'"
        #expect(try old.psql(anyHere) == "0")
        #expect(
            try await waitUntilAsync(limit: .seconds(60)) {
                try await world.page("alpha", "/health/ready").text.contains("is an old primary")
            })
        _ = try await world.submit(to: "beta", 1...2)
        #expect(try await waitUntil { try world.mock.taken() == 2 })

        // A host whose sessions are cut off goes back to the same server.
        try new.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'holdfast %'")
        #expect(try await waitUntil { try new.psql(sessions) == "2" })
        #expect(try old.psql(anyHere) == "0")

        let status = try await world.tool("postgres", "status")
        #expect(status.status == 1 && status.output.contains("Two servers of one cluster can be written to"))
        #expect(
            status.output.contains("server 127.0.0.1:\(old.port): can be written to, timeline 1"), "\(status.output)")
        let doctor = try await world.tool(on: "beta", "doctor", "--no-probe")
        #expect(doctor.output.contains("Two servers of one cluster can be written to"), "\(doctor.output)")

        try old.stop(.fast)
        let after = try await world.tool("postgres", "status")
        #expect(after.status == 0 && after.output.contains("can't be asked"), "\(after.output)")
        #expect(
            try await waitUntilAsync(limit: .seconds(60)) {
                try await !world.page("beta", "/metrics").text.contains(metric)
            })
        #expect(try world.log("beta").contains("one server alone can be written to"))

        // The old one alone: only who has used the other knows of it.
        try new.stop(.fast)
        try old.start()
        let alone = try await world.tool(on: "beta", "postgres", "status")
        let warnings = alone.errors.split(separator: "\n").filter { $0.contains("it may be an old primary") }
        #expect(warnings.count == 1, "\(alone)")
        #expect(warnings.first?.contains("127.0.0.1:\(old.port) is used on timeline 1, and timeline 2") == true)
        let found = try await world.tool(on: "beta", "doctor", "--no-probe")
        #expect(found.output.contains("it may be an old primary"), "\(found.output)")
        #expect(!found.errors.contains("it may be an old primary"), "\(found.errors)")
    }
}
