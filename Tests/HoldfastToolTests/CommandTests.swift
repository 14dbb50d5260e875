import Foundation
import Scratch
import Testing

/// The commands together, against a mock push service in a process of its own.
@Suite("The commands", .serialized)
struct CommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("send delivers a file over TLS, with provider tokens that are verified, and says so")
    func sends() async throws {
        let mock = try await MockProcess("--verify-tokens", in: folder)
        try write(1000)
        let result = try await send(
            mock, "--key", folder("certs/AuthKey.p8"), "--key-id", "MOCKKEYID1", "--team-id", "MOCKTEAMID", "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 1000)
        #expect(try result.count("left") == 0)
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(audit.status == 0)
        #expect(
            audit.output
                == #"{"accepted":1000,"damaged":0,"duplicates":0,"expected":1000,"lost":0,"taken":1000,"unexpected":0}"#
                + "\n")
        #expect(try await mock.stop().status == 0)
    }

    @Test("What the service rejects is told by reason, and the audit misses it")
    func rejections() async throws {
        let mock = try await MockProcess("--reject", "\(token(3))=Unregistered", in: folder)
        try write(10)
        let result = try await send(mock)
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.output.contains("Unregistered 1"), "\(result.output)")
        let listed = try await Tool.run("journal", "list", "--journal", folder("j"), "--state", "rejected", "--json")
        #expect(listed.output.contains(#""reason":"Unregistered""#), "\(listed.output)")
        #expect(!listed.output.contains(token(3)))
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(audit.status == 1)
        #expect(try audit.count("lost") == 1)
    }

    @Test("One notification by hand goes the way of all others, and its outcome is printed")
    func byHand() async throws {
        let mock = try await MockProcess("--reject", "\(token(3))=Unregistered", in: folder)
        func send(_ flags: String...) async throws -> Tool.Result {
            try await Tool.start(["send", "--journal", folder("j")] + flags).result()
        }
        let route = ["--endpoint", mock.endpoint, "--trust", mock.trust, "--topic", "com.example"]
        let incomplete = try await send("--token", token(1), "--alert", "Hi", "--endpoint", mock.endpoint)
        #expect(incomplete.status == 64 && incomplete.errors.contains("--topic"), "\(incomplete.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("j")))
        let first = try await Tool.start(
            ["send", "--journal", folder("j"), "--token", token(1), "--alert", "Hi", "--badge", "1"] + route
        ).result()
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        #expect(first.output.hasPrefix("0000…0001  confirmed  apns-id "), "\(first.output)")
        #expect(try mock.taken() == 1)
        // The journal remembers where to, and under which topic.
        let both = try await send("--token", token(2), "--token", token(3), "--content-available", "--json")
        #expect(both.status == 1, "\(both.errors)")
        let reports = try #require(try both.json()["notifications"] as? [[String: Any]])
        #expect(reports.map { $0["outcome"] as? String } == ["confirmed", "rejected"])
        #expect(reports.map { $0["reason"] as? String } == [nil, "Unregistered"])
        #expect(try both.count("accepted") == 2 && both.count("left") == 0)
        #expect(!both.output.contains(token(3)))
        let blacklisted = try await send("--token", token(3), "--alert", "Hi")
        #expect(blacklisted.status == 65 && blacklisted.output.contains("refused: Blacklisted: Unregistered since"))
        // One notification's topic is not the journal's.
        let other = try await send("--token", token(5), "--alert", "Hi", "--topic", "com.example.other")
        let broadcast = try await send("--channel", "AAAA", "--event", "end", "--alert", "Over")
        #expect(other.status == 0 && broadcast.status == 0, "\(broadcast.errors)")
        #expect(broadcast.output.hasPrefix("AAAA  confirmed  apns-id "), "\(broadcast.output)")
        let ledger = try folder.read("ledger")
        #expect(ledger.contains(#""channel":"AAAA""#) && ledger.contains("com.example.other"), "\(ledger)")
        let queued = try await send("--token", token(4), "--alert", "Hi", "--queue-only")
        #expect(queued.status == 0 && queued.output.contains("unconfirmed"), "\(queued.output)")
        #expect(try mock.taken() == 4)
    }

    @Test("Queue, look, recover with nothing but the journal")
    func recovers() async throws {
        let mock = try await MockProcess(in: folder)
        try write(2500)
        let queued = try await send(mock, "--queue-only")
        #expect(queued.status == 0, "\(queued.errors)")
        let journal = ["HOLDFAST_JOURNAL": folder("j")]
        let dry = try await Tool.run("recover", "--dry-run", "--json", environment: journal)
        #expect(try dry.count("unconfirmed") == 2500 && dry.count("possiblySent") == 0)
        #expect(try mock.taken() == 0)

        let list = try await Tool.run(
            "journal", "list", "--limit", "2400", "--after", "50", "--json", environment: journal)
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 2400)
        #expect(lines.first?.contains(#""uid":51}"#) == true, "\(lines.first ?? "")")
        let show = try await Tool.run("journal", "show", "7", "--reveal", environment: journal)
        #expect(show.output.contains(token(7)) && show.output.contains(#"{"n":7}"#), "\(show.output)")

        let recovered = try await Tool.run("recover", "--json", environment: journal)
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.count("confirmed") == 2500 && recovered.count("possibleDuplicates") == 0)
        let status = try await Tool.run("journal", "status", "--json", environment: journal)
        for name in ["unconfirmed", "possiblySent", "deferred", "rejections", "blacklist"] {
            #expect(try status.count(name) == 0)
        }
        #expect(try status.count("nextUID") == 2501)
        let ended = try await Tool.run("journal", "show", "7", environment: journal)
        #expect(ended.status == 0 && ended.output.contains("confirmed"), "\(ended.output)")
        #expect(try await Tool.run("journal", "show", "2501", environment: journal).status == 66)
    }

    @Test("Standard input is taken as it comes")
    func standardInput() async throws {
        let mock = try await MockProcess(in: folder)
        let result = try await Tool.start(
            ["send", "-", "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust, "--json"],
            input: (1...500).map(BadInputTests.line).joined()
        ).result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 500)
        let resumed = try await Tool.start(["send", "-", "--journal", folder("j"), "--resume"]).result()
        #expect(resumed.status == 64, "\(resumed.errors)")
    }

    @Test(
        "A signal ends send in order, with the summary; recover and --resume do the rest, each line once",
        arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) async throws {
        let mock = try await MockProcess("--delay", "20", in: folder)
        try write(20_000)
        let tool = try Tool.start(sendArguments(mock) + ["--json"])
        let isUnderWay = try await waitUntil { try mock.taken() >= 100 }
        #expect(isUnderWay)
        tool.kill(signal)
        let interrupted = try await tool.result(limit: .seconds(15))
        #expect(interrupted.status == 75, "\(interrupted.errors)")
        #expect(try interrupted.json()["interrupted"] as? Bool == true)
        let begun = try await send(mock)
        if try interrupted.json()["inputFinished"] as? Bool == false {
            #expect(begun.status == 64, "\(begun.errors)")
            #expect(begun.errors.contains("--resume"))
        }
        let rest = try await send(mock, "--resume")
        #expect(rest.status == 0, "\(rest.errors)")
        // In order: what was in flight was waited for, and nothing goes twice.
        let audit = try await Tool.run("mock", "audit", folder("ledger"), "--input", folder("in"), "--json")
        #expect(audit.status == 0 || begun.status == 0, "\(audit.output)")
    }

    @Test(
        "kill -9 at random moments, recover, resume: nothing accepted is lost, duplicates are at most the window",
        arguments: 0..<5)
    func kills(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let count = 8000
        let mock = try await MockProcess("--delay", "10", in: folder)
        try write(count)
        let tool = try Tool.start(sendArguments(mock))
        // The moment is when the service has taken so many, from none at all to nearly all.
        let moment = Int(seed % UInt64(count))
        let isThere = try await waitUntil { try mock.taken() >= moment || !tool.isRunning }
        #expect(isThere)
        tool.kill(SIGKILL)
        _ = try await tool.result()

        let recovered = try await Tool.run("recover", "--journal", folder("j"), "--json")
        #expect(recovered.status == 0, "seed \(seed): \(recovered.errors)")
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.count("unconfirmed") == 0, "seed \(seed)")
        let totals = try #require(try status.json()["totals"] as? [String: Any])
        #expect(totals["confirmed"] as? Int == totals["accepted"] as? Int, "seed \(seed)")
        let rest = try await send(mock, "--resume")
        #expect(rest.status == 0, "seed \(seed): \(rest.errors)")
        let audit = try await Tool.run(
            "mock", "audit", folder("ledger"), "--input", folder("in"), "--allow-duplicates", "2000", "--json")
        #expect(audit.status == 0, "seed \(seed): \(audit.output)")
        #expect(try audit.count("lost") == 0 && audit.count("unexpected") == 0, "seed \(seed)")
    }

    @Test("The version and the completions are there")
    func version() async throws {
        #expect(try await Tool.run("--version").status == 0)
        #expect(try await Tool.run("--generate-completion-script", "bash").output.contains("holdfast"))
        #expect(try await Tool.run("--help").output.contains("Exit codes"))
    }

    private func token(_ number: Int) -> String {
        String(repeating: "0", count: 64 - String(number).count) + String(number)
    }

    private func write(_ count: Int) throws { try folder.write("in", (1...count).map(BadInputTests.line).joined()) }

    private func sendArguments(_ mock: MockProcess) -> [String] {
        ["send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust]
    }

    private func send(_ mock: MockProcess, _ flags: String...) async throws -> Tool.Result {
        try await Tool.start(sendArguments(mock) + flags).result()
    }
}
