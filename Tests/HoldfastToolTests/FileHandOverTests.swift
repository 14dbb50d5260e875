import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastTesting
import Logging
import Scratch
import ServiceLifecycle
import Testing

/// A file for a journal that another process uses.
@Suite("Handing a file over to the process that uses the journal", .serialized)
struct FileHandOverTests {
    private let world: OperatorWorld
    private var report: String { world.folder("report") }

    init() throws { world = try OperatorWorld() }

    private func line(_ number: Int, _ members: String = "") -> String {
        #"{"token":"\#(OperatorWorld.token(number))","apns-topic":"a","payload":{"aps":{"alert":"Hi"}}\#(members)}"#
    }

    private func write(_ lines: [String]) throws {
        try world.folder.write("in", lines.joined(separator: "\n") + "\n")
    }

    private func arguments(_ more: [String]) -> [String] {
        ["send", world.folder("in"), "--journal", world.journal] + more
    }

    private func send(_ more: String...) async throws -> Tool.Result {
        try await Tool.start(arguments(more)).result()
    }

    /// By line of the input.
    private func outcomes() throws -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        for text in try world.folder.read("report").split(separator: "\n") {
            let line = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            found[try #require(line["line"] as? Int), default: []].append(try #require(line["outcome"] as? String))
        }
        return found
    }

    @Test("Its owner takes the lines and sends them; summary, report and exit code are those of a run of its own")
    func outcomesOfLines() async throws {
        world.connector.answer { notification in
            notification.recipient.text == OperatorWorld.token(OperatorWorld.refused)
                ? SendResult(apnsStatus: 413, reason: "PayloadTooLarge") : .confirmed
        }
        let tokens = (100..<1300).map { "\"\(OperatorWorld.token($0))\"" }.joined(separator: ",")
        try write(
            (1...700).map { line($0) } + [
                "{bad", #"{"tokens":[\#(tokens)],"apns-topic":"a","payload":{}}"#,
                line(2000, #","producer":"campaign""#),
            ])
        try await world.withEngine { engine in
            let sent = try await send("--report", report, "--json")
            #expect(sent.status == 65, "\(sent.errors)")
            #expect(try sent.count("accepted") == 1901 && sent.count("confirmed") == 1900 && sent.count("left") == 0)
            #expect(try sent.json()["rejected"] as? [String: Int] == ["PayloadTooLarge": 1])
            #expect(try sent.count("malformed") == 1 && sent.count("exitCode") == 65)
            #expect((try sent.json()["owner"] as? String)?.hasPrefix("process ") == true)
            #expect(engine.status().submitted == 1901)
            #expect(try engine.producers().first { $0.name == "campaign" }?.totals.confirmed == 1)
            let outcomes = try outcomes()
            #expect(outcomes.count == 703 && outcomes[702]?.count == 1200 && outcomes[701] == ["malformed"])
            #expect(outcomes[3] == ["rejected"] && outcomes[700] == ["confirmed"])
            #expect(!FileManager.default.fileExists(atPath: report + ".resume"))
            // Whole, so that there is nothing to go on with; and once more is a new sending.
            let again = try await send("--resume")
            #expect(again.status == 0 && again.errors.contains("were taken before"), "\(again.errors)")
            #expect(engine.status().submitted == 1901)
            try world.folder.write("in", line(1))
            let piped = try await Tool.start(["send", "-", "--journal", world.journal], input: line(5) + "\n").result()
            #expect(piped.status == 0 && piped.output.contains("confirmed"), "\(piped.errors)")
        }
    }

    @Test("Killed in the middle, each line arrives once in the end, and is in the report once")
    func killed() async throws {
        try write((1...6000).map { line($0) })
        try await world.withEngine { engine in
            var isBegun = false
            for _ in 0..<3 {
                let tool = try Tool.start(arguments(["--report", report] + (isBegun ? ["--resume"] : [])))
                let before = engine.status().submitted
                #expect(await waitUntil { engine.status().submitted > before + 600 || !tool.isRunning })
                tool.kill(SIGKILL)
                _ = try await tool.result()
                isBegun = true
            }
            let begun = try await send()
            #expect(begun.status == 64 && begun.errors.contains("Use --resume"), "\(begun.errors)")
            let last = try await send("--report", report, "--resume")
            #expect(last.status == 0, "\(last.errors)")
            #expect(engine.status().submitted == 6000 && engine.status().confirmed == 6000)
            let outcomes = try outcomes()
            #expect(outcomes.count == 6000 && outcomes.values.allSatisfy { $0 == ["confirmed"] })
        }
    }

    @Test("What waits is waited for until a signal comes, or for as long as --give-up-after says; the owner keeps it")
    func paused() async throws {
        try write((1...20).map { line($0) })
        try await world.withEngine { engine in
            for guarantee in Guarantee.allCases {
                let lane = LaneKey(route: "default", urgency: .immediate, guarantee: guarantee)
                try await engine.desk.pause(lane, reason: "incident")
            }
            let waiting = try Tool.start(arguments(["--report", report]))
            #expect(try await waitUntil { try waiting.errors.contains("incident") })
            waiting.kill(SIGINT)
            let left = try await waiting.result()
            #expect(left.status == 75 && left.output.contains("goes on with them"), "\(left.output)")
            #expect(try outcomes()[5] == ["unconfirmed"])
            #expect(try world.folder.read("report").contains("its lane stands still: paused"))
            let bounded = try await send("--report", report, "--resume", "--give-up-after", "300ms")
            #expect(bounded.status == 75 && bounded.errors.contains("gave up after"), "\(bounded.errors)")
            for guarantee in Guarantee.allCases {
                try await engine.desk.resume(LaneKey(route: "default", urgency: .immediate, guarantee: guarantee))
            }
            let last = try await send("--report", report, "--resume")
            #expect(last.status == 0, "\(last.errors)")
            #expect(try outcomes().count == 20 && outcomes().values.allSatisfy { $0 == ["confirmed"] })
            // Scheduled ones are the owner's.
            try write([line(1, #","deliver-after":\#(Int(Date().timeIntervalSince1970) + 3600)"#), line(2)])
            let scheduled = try await send("--restart", "--json")
            #expect(scheduled.status == 0, "\(scheduled.errors)")
            #expect(try scheduled.count("scheduled") == 1 && scheduled.count("confirmed") == 1)
        }
    }

    @Test("Flags that are for its owner are refused, and a bad line takes nothing with --strict")
    func refused() async throws {
        try write([line(1), "{bad"])
        try await world.withEngine { engine in
            let flag = try await send("--window", "5")
            #expect(flag.status == 64 && flag.errors.contains("leave --window out"), "\(flag.errors)")
            let strict = try await send("--strict")
            #expect(strict.status == 65 && strict.errors.contains("nothing was taken"), "\(strict.errors)")
            #expect(engine.status().submitted == 0)
        }
        var configuration = EngineConfiguration()
        configuration.history = .none
        try await world.withEngine(configuration) { engine in
            let silent = try await send()
            #expect(silent.status == 64 && silent.errors.contains("keeps no history"), "\(silent.errors)")
            #expect(engine.status().submitted == 0)
        }
    }

    @Test("A report that can't be written any more: what was taken is in the summary all the same")
    func reportFull() async throws {
        try write((1...3000).map { line($0) })
        try await world.withEngine { engine in
            let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""
            let sent = try await RunningTool(
                ["-c", script, Tool.path] + arguments(["--report", report, "--json"]), program: "/bin/sh"
            ).result()
            #expect(sent.status == 74, "\(sent.errors)")
            let submitted = engine.status().submitted
            #expect(try sent.count("accepted") == submitted && sent.count("lines") == submitted)
            let last = try await send("--resume", "--report", report)
            #expect(last.status == 0, "\(last.errors)")
            #expect(try outcomes().values.allSatisfy { $0 == ["confirmed"] } && outcomes().count == 3000)
        }
    }

    @Test("A full journal makes it wait, and it goes on when there is room")
    func full() async throws {
        try write((1...1500).map { line($0) })
        var options = LMDBJournal.Options()
        options.entryLimit = 600
        try await world.withEngine(EngineConfiguration(), options: options) { engine in
            for guarantee in Guarantee.allCases {
                let lane = LaneKey(route: "default", urgency: .immediate, guarantee: guarantee)
                try? await engine.desk.pause(lane, reason: "incident")
            }
            let tool = try Tool.start(arguments([]))
            #expect(await waitUntil { engine.status().submitted >= 500 })
            #expect(try await waitUntil { try tool.errors.contains("; waiting") })
            #expect(tool.isRunning)
            for guarantee in Guarantee.allCases {
                try? await engine.desk.resume(LaneKey(route: "default", urgency: .immediate, guarantee: guarantee))
            }
            let result = try await tool.result()
            #expect(result.status == 0, "\(result.errors)")
            #expect(engine.status().confirmed == 1500)
        }
    }

    /// What has ended was looked for one by one among all outcomes, for hours.
    @Test("Others' pushes that end while it waits for room do not keep it from going on", .timeLimit(.minutes(1)))
    func fullWithOthers() async throws {
        try write((1...14_000).map { line($0) })
        var options = LMDBJournal.Options()
        options.entryLimit = 12_100
        let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
        try await world.withEngine(EngineConfiguration(), options: options) { engine in
            try await engine.desk.pause(lane, reason: "incident")
            let tool = try Tool.start(arguments([]))
            #expect(try await waitUntil { try tool.errors.contains("; waiting") })
            var other = PushNotification(
                token: try DeviceToken(OperatorWorld.token(20_000)), topic: "a", payload: Array("{}".utf8))
            other.guarantee = .atMostOnce
            _ = try await engine.producer.submit(other)
            #expect(await waitUntil { engine.status().confirmed == 1 })
            try await engine.desk.resume(lane)
            let result = try await tool.result()
            #expect(result.status == 0, "\(result.errors)")
            #expect(engine.status().confirmed == 14_001)
        }
    }

    @Test("Of two that give one file one ends, and no line is called refused that the other had taken")
    func two() async throws {
        try write((1...1500).map { line($0) })
        var options = LMDBJournal.Options()
        options.entryLimit = 600
        try await world.withEngine(EngineConfiguration(), options: options) { engine in
            let lanes = Guarantee.allCases.map { LaneKey(route: "default", urgency: .immediate, guarantee: $0) }
            for lane in lanes { try await engine.desk.pause(lane, reason: "incident") }
            let first = try Tool.start(arguments(["--report", report]))
            #expect(try await waitUntil { try first.errors.contains("; waiting") })
            // With the same report.
            let same = try await send("--resume", "--report", report)
            #expect(same.status == 73, "\(same.errors)")
            #expect(same.errors.contains("the report \(report) is being written by another `send`"), "\(same.errors)")
            #expect(engine.status().submitted == 500)
            // Without one, while the first stands still.
            first.kill(SIGSTOP)
            for lane in lanes { try await engine.desk.resume(lane) }
            let second = try await send("--resume")
            #expect(second.status == 0, "\(second.errors)")
            first.kill(SIGCONT)
            let ended = try await first.result()
            #expect(ended.status == 73, "\(ended.errors)")
            #expect(ended.errors.contains("another `send` takes the same file"), "\(ended.errors)")
            #expect(try outcomes().count == 500 && outcomes().values.allSatisfy { $0 == ["confirmed"] })
            // The other's are none of its own.
            let last = try await send("--resume", "--report", report, "--json")
            #expect(try last.status == 1 && last.count("untold") == 1000, "\(last.errors)")
            let outcomes = try outcomes()
            #expect(outcomes.count == 1500 && outcomes[500] == ["confirmed"])
            #expect((501...1500).allSatisfy { outcomes[$0] == ["untold"] })
            #expect(try world.folder.read("report").contains("unknown to this report: taken by another run"))
            #expect(engine.status().submitted == 1500)
        }
    }

    @Test("A service that is just starting is waited for until it takes the file")
    func starting() async throws {
        try write((1...3).map { line($0) })
        let opened = try LMDBJournal(directory: world.journal)
        defer { opened.close() }
        let engine = try PushEngine(
            journal: opened, routes: [Route(connector: world.connector)], configuration: EngineConfiguration())
        let tool = try Tool.start(arguments(["--report", report]))
        #expect(try await waitUntil { try tool.errors.contains("waiting until it takes a file") || !tool.isRunning })
        let control = ControlSocket(desk: engine.desk, journal: world.journal, logger: Logger(label: "test"))
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: control), .init(service: engine)], logger: Logger(label: "test")))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result = try? await tool.result()
            #expect(result?.status == 0, "\(result?.errors ?? "")")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(try outcomes() == [1: ["confirmed"], 2: ["confirmed"], 3: ["confirmed"]])
    }
}
