import Foundation
import Holdfast
import Scratch
import Testing

/// The real program, the real journal and the real mock: what is scheduled, under kill -9.
@Suite("Scheduled notifications and kill -9", .timeLimit(.minutes(3)))
struct ScheduledKillTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private func write(_ count: Int, _ members: String) throws {
        let lines = (1...count).map {
            #"{"token":"\#(Self.token($0))","apns-topic":"com.example.app","payload":{"id":"n\#($0)"},\#(members)}"#
        }
        try folder.write("in", lines.joined(separator: "\n") + "\n")
    }

    private var journal: [String: String] { ["HOLDFAST_JOURNAL": folder("j")] }

    private func status() async throws -> Tool.Result {
        try await Tool.run("journal", "status", "--json", environment: journal)
    }

    @Test("Killed again and again, none goes before its time, none is lost, and no more than a window goes twice")
    func killed() async throws {
        let mock = try await MockProcess(in: folder)
        let due = EngineClock.system.wall().seconds + 12
        try write(3000, #""deliver-after":\#(due),"context":"c""#)
        let queued = try await Tool.run(
            "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--queue-only", "--json")
        #expect(queued.status == 0, "\(queued.errors)")
        let figures = try await status()
        #expect(try figures.count("scheduled") == 3000 && figures.count("deferred") == 0)
        let list = try await Tool.run(
            "journal", "list", "--state", "scheduled", "--limit", "2", "--json", environment: journal)
        #expect(list.output.split(separator: "\n").count == 2)
        #expect(
            list.output.contains(#""scheduledFor":"\#(Timestamp.format(WallTime(seconds: due)))""#), "\(list.output)")
        let show = try await Tool.run("journal", "show", "7", environment: journal)
        #expect(show.output.contains("scheduled") && show.output.contains("It may be delivered from"), "\(show.output)")

        // Before its time.
        for _ in 0..<3 {
            let recover = try Tool.start(["recover", "--json"], environment: journal)
            try await Task.sleep(for: .milliseconds(Int.random(in: 300...1500)))
            #expect(recover.isRunning)
            recover.kill(SIGKILL)
            _ = try await recover.result()
            #expect(EngineClock.system.wall().seconds < due)
            #expect(try mock.taken() == 0)
        }
        #expect(try await status().count("scheduled") == 3000)

        // In the middle of it.
        let recover = try Tool.start(["recover", "--json"], environment: journal)
        while EngineClock.system.wall() < WallTime(milliseconds: due * 1000 - 100) {
            #expect(try mock.taken() == 0)
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await waitUntil { try mock.taken() > 200 })
        recover.kill(SIGKILL)
        _ = try await recover.result()
        let last = try await Tool.run("recover", "--json", environment: journal)
        #expect(last.status == 0, "\(last.errors)")
        let totals = try #require(try await status().json()["totals"] as? [String: Int])
        #expect(totals["confirmed"] == 3000 && totals["accepted"] == 3000)
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(try audit.count("lost") == 0 && audit.count("duplicates") <= 2000, "\(audit.output)")
        let verified = try await Tool.run("journal", "verify", environment: journal)
        #expect(verified.status == 0, "\(verified.output)")
    }

    @Test("Exported and imported, scheduled ones keep their times; those of which the newest wins are told")
    func carriedOver() async throws {
        let mock = try await MockProcess(in: folder)
        let due = EngineClock.system.wall().seconds + 4
        try write(20, #""deliver-after":\#(due),"apns-collapse-id":"c""#)
        let other = (1...10).map { _ in
            #"{"token":"\#(Self.token(99))","apns-topic":"com.example.app","payload":{},"apns-collapse-id":"x","#
                + #""newest-wins":true,"deliver-after":\#(due)}"#
        }
        try folder.write("in", try folder.read("in") + other.joined(separator: "\n") + "\n")
        let queued = try await Tool.run(
            "send", folder("in"), "--journal", folder("a"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--queue-only")
        #expect(queued.status == 0, "\(queued.errors)")
        let exported = try await Tool.run("journal", "export", "--journal", folder("a"), "-o", folder("lines"))
        #expect(exported.status == 0)
        let imported = try await Tool.run("journal", "import", folder("lines"), "--journal", folder("j"))
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try await status().count("scheduled") == 30)
        let older = try await Tool.run("journal", "show", "21", environment: journal)
        #expect(older.output.contains("It does not go: notification 30,"), "\(older.output)")
        let newest = try await Tool.run("journal", "show", "30", environment: journal)
        #expect(newest.output.contains("It goes when a process delivers the journal"), "\(newest.output)")
        let recover = try await Tool.run(
            "recover", "--endpoint", mock.endpoint, "--trust", mock.trust, "--json", environment: journal)
        #expect(EngineClock.system.wall().seconds >= due)
        #expect(try recover.count("confirmed") == 21 && recover.count("superseded") == 9, "\(recover.output)")
        #expect(try mock.taken() == 21)
    }
}
