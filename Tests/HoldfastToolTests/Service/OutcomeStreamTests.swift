import Foundation
import Holdfast
import Scratch
import Testing

/// `/outcomes/stream`, read by curl.
@Suite("Outcomes as server-sent events", .serialized, .timeLimit(.minutes(3)))
struct OutcomeStreamTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    private func world(_ admin: String = "", more: String = "") async throws -> ServiceWorld {
        let world = try await ServiceWorld()
        try world.folder.write("operators", Self.token)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("operators"))
        try world.writeConfiguration(admin: ", token-file: operators\(admin)", more: more)
        return world
    }

    private func follow(
        _ world: ServiceWorld, _ query: String = "", _ fields: [String] = [], token: String = OutcomeStreamTests.token
    ) throws -> RunningTool {
        let port = try #require(try world.port("health and metrics on "))
        let headers = (["Authorization: Bearer \(token)"] + fields).flatMap { ["-H", $0] }
        return try RunningTool(
            ["-sSN", "-w", "\n%{http_code}\n"] + headers + ["http://127.0.0.1:\(port)/outcomes/stream\(query)"],
            program: "/usr/bin/curl")
    }

    /// The events that have come in whole.
    private func events(_ stream: RunningTool) throws -> [[String: String]] {
        try stream.output.components(separatedBy: "\n\n").dropLast().map { text in
            var event: [String: String] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                event[String(parts[0])] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            }
            return event
        }
    }

    private func cursors(_ stream: RunningTool) throws -> [Int] {
        try events(stream).filter { $0["event"] == "outcome" }.map { event in
            let data = Data((event["data"] ?? "").utf8)
            let form = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(form["cursor"].map { "\($0)" } == event["id"])
            return try #require(form["cursor"] as? Int)
        }
    }

    @Test(
        "A client that is cut goes on with the last id it had, over a kill -9 of the service, and has each event once")
    func resumed() async throws {
        let world = try await world()
        var service = try await world.serve()
        let first = try follow(world, "?after=0")
        #expect(try await world.send(40, journal: "one").result().status == 0)
        #expect(try await waitUntil { try cursors(first).count == 40 })
        #expect(try events(first).first == ["retry": "2000"])
        first.kill(SIGKILL)
        service.kill(SIGKILL)
        _ = try await service.result()
        service = try await world.serve()
        #expect(try await world.send(40, journal: "two").result().status == 0)
        // What it has of the query is the first connection's.
        let second = try follow(world, "?after=0", ["Last-Event-ID: 40"])
        #expect(try await waitUntil { try cursors(second).count == 40 })
        #expect(try cursors(first) + cursors(second) == Array(1...80))
        // Orderly, it ends the stream, and not by cutting it.
        let ended = try await world.stop()
        #expect(ended.status == 0)
        let result = try await second.result()
        #expect(
            result.status == 0 && result.output.hasSuffix("\n200\n"), "\(result.status) \(result.output.suffix(300))")
    }

    @Test(
        "Without the token, with a wrong cursor, and beyond the limit there is an error, and none of it disturbs others"
    )
    func refused() async throws {
        let world = try await world(", streams: 2")
        try await world.serve()
        for (query, fields, token, status) in [
            ("", [], "x", 401), ("?after=x", [], Self.token, 400), ("?aftr=1", [], Self.token, 400),
            ("?after=7", [], Self.token, 422), ("", ["Last-Event-ID: abc"], Self.token, 400),
        ] {
            let result = try await follow(world, query, fields, token: token).result()
            #expect(result.output.hasSuffix("\n\(status)\n"), "\(query) \(fields): \(result.output)")
        }
        let streams = [try follow(world), try follow(world, "?producer=nobody")]
        #expect(try await waitUntil { try streams.allSatisfy { try !events($0).isEmpty } })
        let third = try await follow(world).result()
        #expect(third.output.contains("admin.streams") && third.output.hasSuffix("\n503\n"), "\(third.output)")
        #expect(try await world.send(5, journal: "one").result().status == 0)
        #expect(try await waitUntil { try cursors(streams[0]).count == 5 })
        #expect(try cursors(streams[1]).isEmpty)
        #expect(try await world.get("/health/ready").status == 200)
        // One that goes makes room for another.
        streams[0].kill(SIGKILL)
        streams[1].kill(SIGKILL)
        #expect(
            try await waitUntilAsync(limit: .seconds(60)) {
                let again = try follow(world)
                defer { again.kill(SIGKILL) }
                // One that is refused ends.
                return await !waitUntil(limit: .seconds(2)) { !again.isRunning }
            })
        #expect(try await world.stop().status == 0)
    }

    @Test("A client with a token that was exchanged is told nothing more")
    func exchanged() async throws {
        let world = try await world()
        let service = try await world.serve()
        let stream = try follow(world)
        #expect(try await waitUntil { try !events(stream).isEmpty })
        #expect(try await world.send(3, journal: "one").result().status == 0)
        #expect(try await waitUntil { try cursors(stream).count == 3 })
        let next = "another-token-of-the-operators"
        try world.folder.write("operators", next)
        service.kill(SIGHUP)
        #expect(
            try await waitUntilAsync {
                try await follow(world, "?after=x", token: next).result().output.hasSuffix("\n400\n")
            })
        #expect(try await world.send(3, journal: "two").result().status == 0)
        let result = try await stream.result()
        #expect(try cursors(stream) == [1, 2, 3] && result.output.hasSuffix("\n200\n"))
        let again = try follow(world, "?after=3", token: next)
        #expect(try await waitUntil { try cursors(again) == [4, 5, 6] })
    }

    @Test("A history that is turned off and on again by reloads is told to everybody who is connected")
    func turnedOff() async throws {
        let world = try await world()
        let journal = world.folder("push.journal")
        let service = try await world.serve()
        let stream = try follow(world, "?after=0")
        let tool = try Tool.start(["outcomes", "follow", "--journal", journal, "--after", "0", "--json"])
        #expect(try await world.send(3, journal: "one").result().status == 0)
        #expect(try await waitUntil { try cursors(stream).count == 3 && tool.output.split(separator: "\n").count == 3 })
        let on = try world.folder.read("holdfast.yaml")
        try world.folder.write(
            "holdfast.yaml",
            on.replacingOccurrences(of: "{path: push.journal}", with: "{path: push.journal, history: off}"))
        service.kill(SIGHUP)
        #expect(try await waitUntil { try events(stream).last?["event"] == "off" })
        #expect(try await waitUntil { try tool.errors.contains("until journal.history is on again") })
        // What is left is told to a new client, and then that it is off.
        let late = try follow(world, "?after=0")
        #expect(try await waitUntil { try events(late).last?["event"] == "off" || !late.isRunning })
        #expect(try cursors(late) == [1, 2, 3])
        late.kill(SIGKILL)
        #expect(try await world.send(2, journal: "two").result().status == 0)
        #expect(
            try await waitUntilAsync {
                try await Tool.run("journal", "status", "--journal", journal, "--json").count("unconfirmed") == 0
            })
        try world.folder.write("holdfast.yaml", on)
        service.kill(SIGHUP)
        #expect(try await waitUntil { try world.log.components(separatedBy: "is taken up").count == 3 })
        #expect(try await world.send(2, journal: "three").result().status == 0)
        #expect(try await waitUntil { try cursors(stream) == [1, 2, 3, 4, 5] })
        let told = try events(stream).filter { $0["event"] != nil && $0["event"] != "outcome" }
        #expect(told.map { $0["event"] } == ["off", "gap"])
        #expect(told.last?["data"] == #"{"missed":0,"wasOff":true}"# && told.last?["id"] == "3")
        #expect(try await waitUntil { try tool.output.split(separator: "\n").count == 6 })
        #expect(try tool.output.contains(#""wasOff":true"#) && tool.errors.contains("nobody knows how many"))
        stream.kill(SIGKILL)
        tool.kill(SIGKILL)
        #expect(try await world.stop().status == 0)
    }

    @Test("A client that does not read holds up nobody") func slow() async throws {
        let world = try await world()
        try await world.serve()
        let slow = try follow(world, "?after=0")
        #expect(try await waitUntil { try !events(slow).isEmpty })
        slow.kill(SIGSTOP)
        let quick = try follow(world, "?after=0")
        #expect(try await world.send(5000, journal: "one").result().status == 0)
        #expect(
            try await waitUntilAsync(limit: .seconds(60)) {
                try quick.output.components(separatedBy: "event: outcome\n").count == 5001
            })
        quick.kill(SIGKILL)
        slow.kill(SIGKILL)
        #expect(try await world.stop().status == 0)
    }
}
