import Foundation
import Holdfast
import Scratch
import Testing

/// What became of pushes, asked of a service that runs: by its admin listener, and by the tool.
@Suite("Outcomes of a running service", .serialized, .timeLimit(.minutes(3)))
struct OutcomesPageTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let refused = String(repeating: "0", count: 56) + "10000003"

    /// A service with a mock that refuses one token.
    private func world() async throws -> ServiceWorld {
        let world = try await ServiceWorld(mockFlags: ["--reject", "\(Self.refused)=Unregistered"])
        try world.folder.write("operators", Self.token)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("operators"))
        try world.writeConfiguration(admin: ", token-file: operators")
        return world
    }

    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("Whoever has the token is told what became of a push, and nobody else") func page() async throws {
        let world = try await world()
        try await world.serve()
        #expect(try await world.send(20, journal: "sender").result().status == 0)
        let wrong = "authorization: Bearer \(Self.token)x\r\n"
        let right = "authorization: Bearer \(Self.token)\r\n"
        for fields in ["", wrong, "authorization: Basic \(Self.token)\r\n", right + right] {
            let answer = try await world.ask("/outcomes?token=\(Self.refused)", fields: fields).lowercased()
            #expect(answer.hasPrefix("http/1.1 401 ") && answer.contains("\r\nwww-authenticate: bearer "), "\(answer)")
            #expect(!answer.contains("unregistered") && !answer.contains(Self.token))
        }
        _ = try await world.ask("/outcomes/stream", fields: wrong)
        let told = try world.log.split(separator: "\n").filter { $0.contains("a wrong token was presented") }
        #expect(told.count == 2 && told.allSatisfy { $0.contains("from 127.0.0.1") }, "\(told)")
        var found: [[String: Any]] = []
        #expect(
            try await waitUntilAsync {
                let answer = try await world.get("/outcomes?token=\(Self.refused)", fields: right)
                guard answer.status == 200 else { return false }
                found = try #require(try lines(answer.text).first?["outcomes"] as? [[String: Any]])
                return found.count == 1
            })
        #expect(found.first?["reason"] as? String == "Unregistered" && found.first?["status"] as? Int == 410)
        #expect((found.first?["words"] as? String)?.contains("the service answered 410 Unregistered at") == true)
        let list = try await world.get("/outcomes?after=0&limit=1000", fields: right)
        #expect(try #require(try lines(list.text).first?["outcomes"] as? [Any]).count == 20, "\(list.text)")
        #expect(try await world.get("/outcomes?after=21", fields: right).status == 422)
        #expect(try await world.get("/outcomes?after=x", fields: right).status == 400)
        let long = try await world.get("/outcomes?after=20&wait=9s", fields: right)
        #expect(long.status == 400 && long.text.contains("no duration up to 8s"), "\(long.text)")
        // A scrape needs no token, and tells how much there is.
        #expect(try await world.get("/metrics").text.contains("\nholdfast_history_outcomes 20\n"))
        #expect(try await world.stop().status == 0)
    }

    @Test("Those who wait leave connections for probes, and whoever goes makes room for another")
    func waits() async throws {
        let world = try await world()
        try world.writeConfiguration(admin: ", token-file: operators, connections: 6, streams: 2")
        try await world.serve()
        let fields = "authorization: Bearer \(Self.token)\r\n"
        let path = "/outcomes?after=0&wait=8s"
        func waiters(_ count: Int) -> [Task<String, any Error>] {
            (0..<count).map { _ in
                Task {
                    var answer = ""
                    repeat { answer = try await world.ask(path, fields: fields) } while answer.hasPrefix("HTTP/1.1 503")
                    return answer
                }
            }
        }
        /// Refused, so all places are taken.
        func isFull() async throws -> Bool {
            let probe = Task { try await world.get(path, fields: fields) }
            let late = Task {
                try await Task.sleep(for: .milliseconds(300))
                probe.cancel()
            }
            defer { late.cancel() }
            do { return try await probe.value.status == 503 } catch { return false }
        }
        let first = waiters(2)
        #expect(try await waitUntilAsync { try await isFull() })
        for _ in 0..<8 { #expect(try await world.get("/health/live").status == 200) }
        let refused = try await world.ask(path, fields: fields).lowercased()
        #expect(refused.contains("retry-after: 5") && refused.contains("2 requests wait for outcomes"), "\(refused)")
        for task in first { task.cancel() }
        let start = ContinuousClock.now
        // A place is free at once: this one waits, until it goes as well.
        #expect(try await waitUntilAsync { try await !isFull() })
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(try await world.stop().status == 0)
    }

    @Test("With the history off, rejections are told all the same: by the page, the socket and the tool")
    func historyOff() async throws {
        let world = try await world()
        let text = try world.folder.read("holdfast.yaml")
        try world.folder.write(
            "holdfast.yaml",
            text.replacingOccurrences(of: "{path: push.journal}", with: "{path: push.journal, history: off}"))
        try await world.serve()
        #expect(try await world.send(5, journal: "sender").result().status == 0)
        let journal = world.folder("push.journal")
        #expect(
            try await waitUntilAsync {
                try await Tool.run("journal", "status", "--journal", journal, "--json").count("unconfirmed") == 0
            })
        let socket = try RunningTool(
            [
                "-sS", "--unix-socket", "\(journal)/control.sock",
                "http://holdfast/v1/outcomes/find?topic=\(ServiceWorld.topic)",
            ],
            program: "/usr/bin/curl")
        let fields = "authorization: Bearer \(Self.token)\r\n"
        let page = try await world.get("/outcomes?topic=\(ServiceWorld.topic)", fields: fields)
        #expect(page.status == 200, "\(page.text)")
        for answer in [try #require(try lines(page.text).first), try await socket.result().json()] {
            let found = try #require(answer["outcomes"] as? [[String: Any]])
            #expect(found.count == 1 && found.first?["reason"] as? String == "Unregistered", "\(answer)")
            #expect(answer["isKept"] as? Bool == false && found.first?["cursor"] == nil)
        }
        let find = try await Tool.run("journal", "find", "--journal", journal, "--json")
        #expect(try find.lines().compactMap { $0["reason"] as? String } == ["Unregistered"])
        #expect(try await world.get("/outcomes?after=0", fields: fields).status == 404)
        #expect(try await world.stop().status == 0)
    }

    @Test("Without a token in the configuration there is no such page, and a new token is taken by a reload")
    func configured() async throws {
        let world = try await world()
        let service = try await world.serve()
        let old = "authorization: Bearer \(Self.token)\r\n"
        let new = "authorization: Bearer \(String(Self.token.reversed()))x\r\n"
        #expect(try await world.get("/outcomes", fields: old).status == 200)
        try world.folder.write("operators", "\(String(Self.token.reversed()))x")
        service.kill(SIGHUP)
        #expect(try await waitUntilAsync { try await world.get("/outcomes", fields: new).status == 200 })
        #expect(try await world.get("/outcomes", fields: old).status == 401)
        #expect(try await world.stop().status == 0)
        try world.writeConfiguration()
        try await world.serve()
        #expect(try await world.get("/outcomes", fields: new).status == 404)
        #expect(try await world.stop().status == 0)
    }

    @Test("Who follows has every outcome once, over a kill -9 of the service, and the journal keeps its place")
    func followed() async throws {
        let world = try await world()
        let service = try await world.serve()
        let journal = world.folder("push.journal")
        let follow = {
            try Tool.start(["outcomes", "follow", "--journal", journal, "--reader", "r", "--after", "0", "--json"])
        }
        let first = try follow()
        #expect(try await world.send(50, journal: "one").result().status == 0)
        #expect(try await waitUntil { try first.output.split(separator: "\n").count == 50 })
        service.kill(SIGKILL)
        _ = try await service.result()
        try await world.serve()
        // The refused token is on the blacklist by now: what is not accepted has no outcome.
        #expect(try await world.send(50, journal: "two").result().status == 1)
        #expect(try await waitUntil { try first.output.split(separator: "\n").count == 99 })
        #expect(try lines(first.output).compactMap { $0["cursor"] as? Int } == Array(1...99))
        #expect(try first.errors.contains("waiting for a process that uses the journal"))
        var readers: [[String: Any]] = []
        #expect(
            try await waitUntilAsync {
                readers = try await Tool.run("outcomes", "readers", "--journal", journal, "--json").lines()
                return readers.first?["cursor"] as? Int == 99
            })
        #expect(readers.first?["lag"] as? Int == 0 && readers.first?["reader"] as? String == "r")
        first.kill(SIGTERM)
        _ = try await first.result()
        let moved = try await Tool.run(
            "outcomes", "readers", "--journal", journal, "--move", "r", "--to", "96", "--json")
        #expect(moved.status == 0 && moved.output == #"{"cursor":96,"reader":"r"}"# + "\n", "\(moved.errors)")
        let second = try Tool.start(["outcomes", "follow", "--journal", journal, "--reader", "r"])
        #expect(try await waitUntil { try second.output.split(separator: "\n").count == 4 })
        #expect(try second.output.hasPrefix("CURSOR"))
        second.kill(SIGTERM)
        _ = try await second.result()
        #expect(try await world.stop().status == 0)
    }

    @Test("What nobody has read does not count as read") func closedPipe() async throws {
        let world = try await world()
        try await world.serve()
        let journal = world.folder("push.journal")
        #expect(try await Tool.run("outcomes", "follow", "--journal", world.folder("none"), "--json").status == 75)
        #expect(try await world.send(5, journal: "one").result().status == 0)
        let shell = """
            "$1" outcomes follow --journal "$2" --reader r --after 0 --json | true
            """
        for _ in 0..<2 {
            let run = try RunningTool(["-c", shell, "sh", Tool.path, journal], program: "/bin/sh")
            #expect(try await run.result().status == 0)
        }
        let readers = try await Tool.run("outcomes", "readers", "--journal", journal, "--json").lines()
        #expect(readers.first?["cursor"] as? Int == 0 && readers.first?["lag"] as? Int == 5)
        #expect(try await world.stop().status == 0)
    }

    @Test("A journal in use is searched without disturbing its owner") func live() async throws {
        let world = try await world()
        try await world.serve()
        #expect(try await world.send(2000, journal: "sender").result().status == 0)
        let journal = world.folder("push.journal")
        #expect(
            try await waitUntilAsync {
                try await Tool.run("journal", "status", "--journal", journal, "--json").count("unconfirmed") == 0
            })
        let one = try await Tool.run("journal", "find", "--journal", journal, "--token", Self.refused)
        #expect(one.status == 0 && one.output.contains("the service\n") || one.output.contains("410"), "\(one.output)")
        let text = one.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
            separator: " ")
        #expect(text.contains("and the service answered 410 Unregistered at"), "\(text)")
        #expect(text.contains("The token is on the blacklist since"))
        #expect(!one.output.contains(Self.refused))
        let all = try await Tool.run("journal", "find", "--journal", journal, "--since", "1h", "--all", "--json")
        #expect(try all.lines().count == 2000)
        let socket = try RunningTool(
            [
                "-sS", "--unix-socket", "\(journal)/control.sock",
                "http://holdfast/v1/outcomes/find?token=\(Self.refused)",
            ], program: "/usr/bin/curl")
        #expect(try await socket.result().json()["outcomes"] as? [Any] != nil)
        #expect(try await world.stop().status == 0)
    }
}
