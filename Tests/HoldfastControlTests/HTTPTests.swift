import Foundation
import Holdfast
import Testing

@testable import HoldfastControl

private enum Ask {
    static let order: String =
        "POST /v1/lanes/resume HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n"
    static let body: String = #"{"lane":"r/immediate/at-least-once"}"#

    static func post(type: String?) -> String {
        "POST /v1/lanes/resume HTTP/1.1\r\nHost: holdfast\r\n" + (type.map { "Content-Type: \($0)\r\n" } ?? "")
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

private enum Curl {
    static let path: String? = ["/usr/bin/curl", "/usr/local/bin/curl"].first { path in
        FileManager.default.isExecutableFile(atPath: path)
    }
    // Skipped where curl is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    static let isWanted: Bool =
        path != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"
}

/// What any client of HTTP meets.
@Suite("HTTP on the socket")
struct HTTPTests {
    /// Says one request, and returns its answer.
    private func answer(_ request: String, _ desk: StubDesk = StubDesk()) async throws -> String {
        let folder = try Folder()
        let answer = Monitor("")
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.say(request)
            #expect(await waitUntil { client.text.hasSuffix("\n") && client.text.contains("\r\n\r\n{") })
            answer.withLock { $0 = client.text }
        }
        return answer.withLock { $0 }
    }

    @Test(
        "An order is a POST with JSON, and everything else is refused with what fits",
        arguments: [
            ("GET /v1/lanes/resume HTTP/1.1\r\nHost: holdfast\r\n\r\n", 405, "unknownRequest"),
            ("PUT /v1/lanes/resume HTTP/1.1\r\nHost: holdfast\r\nContent-Length: 0\r\n\r\n", 405, "unknownRequest"),
            ("POST /v1/status HTTP/1.1\r\nHost: holdfast\r\nContent-Length: 0\r\n\r\n", 405, "unknownRequest"),
            ("GET /v2/status HTTP/1.1\r\nHost: holdfast\r\n\r\n", 404, "unknownRequest"),
            ("GET / HTTP/1.1\r\nHost: holdfast\r\n\r\n", 404, "unknownRequest"),
            ("GET /v1/status HTTP/1.1\r\nHost: push.example.com\r\n\r\n", 421, "permissionDenied"),
            ("GET /v1/status HTTP/1.1\r\n\r\n", 421, "permissionDenied"),
            ("GET /v1/status HTTP/1.1\r\nHost: holdfast.example.com:80\r\n\r\n", 421, "permissionDenied"),
            ("GET /v1/status HTTP/1.1\r\nHost: holdfast\r\nOrigin: http://holdfast\r\n\r\n", 403, "permissionDenied"),
            (Ask.order + "Origin: null\r\nContent-Length: 0\r\n\r\n", 403, "permissionDenied"),
            (Ask.post(type: nil), 415, "malformed"), (Ask.post(type: "text/plain"), 415, "malformed"),
            (Ask.post(type: "application/x-www-form-urlencoded"), 415, "malformed"),
            (Ask.post(type: "application/json; charset=latin1"), 415, "malformed"),
            (Ask.order + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", 415, "malformed"),
        ])
    func refuses(request: String, status: Int, code: String) async throws {
        let desk = StubDesk()
        let answer = try await answer(request, desk)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.contains(#"{"error":{"code":"\#(code)","kind":"control","message":""#))
        if status == 405 { #expect(answer.lowercased().contains("\r\nallow: ")) }
        #expect(desk.state.withLock(\.asked) == [])
    }

    @Test(
        "A type with its character set, in any case, a port behind the host and a body in chunks are good",
        arguments: [
            Ask.post(type: "application/json; charset=utf-8"), Ask.post(type: "Application/JSON;charset=UTF-8"),
            Ask.post(type: "application/json").replacingOccurrences(of: "holdfast\r", with: "LOCALHOST:80\r"),
            Ask.order
                + "Transfer-Encoding: chunked\r\n\r\n4\r\n{\"la\r\n20\r\nne\":\"r/immediate/at-least-once\"}\r\n0\r\n\r\n",
        ])
    func takes(request: String) async throws {
        let desk = StubDesk()
        let answer = try await answer(request, desk)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\n{\"lane\":\"r/immediate/at-least-once\",\"state\":\"running\"}\n"))
        #expect(answer.lowercased().contains("\r\ncontent-type: application/json\r\n"))
        #expect(desk.state.withLock(\.asked) == ["resume r/immediate/at-least-once"])
    }

    @Test(
        "What the journal refuses has a status of HTTP that fits, and its own code",
        arguments: [
            (JournalError.Code.notFound, 404), (.inUse, 409), (.ownedByAnotherProcess, 409), (.diskFull, 507),
            (.invalidEntry, 422), (.readOnly, 403), (.closed, 503), (.undetermined, 500), (.damaged, 500),
        ])
    func statuses(code: JournalError.Code, status: Int) async throws {
        let desk = StubDesk()
        desk.state.withLock { $0.failure = JournalError(code, "why") }
        let answer = try await answer(Ask.post(type: "application/json"), desk)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.hasSuffix("{\"error\":{\"code\":\"\(code.name)\",\"kind\":\"journal\",\"message\":\"why\"}}\n"))
    }

    @Test("A process of another user is told so, and asks for nothing")
    func otherUser() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let nobody: @Sendable (PeerCredentials) -> Bool = { _ in false }
        try await serving(desk, in: folder, mayOperate: nobody) { _ in
            let client = try await RawClient(folder)
            client.get("/v1/status")
            client.post("/v1/lanes/resume", Ask.body)
            #expect(await waitUntil { !client.isOpen })
            #expect(client.statuses == [403] && client.text.contains(#""code":"permissionDenied""#))
            let error = await #expect(throws: ControlError.self) { try await RemoteDesk(journal: folder.path) }
            #expect(error?.code == .permissionDenied)
        }
        #expect(desk.state.withLock(\.asked) == [])
    }

    @Test("One who has said all and listens on gets the answer")
    func halfClosed() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.get("/v1/status")
            client.sayNoMore()
            #expect(await waitUntil { client.statuses == [200] && !client.isOpen })
        }
    }

    // MARK: curl

    @Test("curl reads the status, gives an order and is told what is wrong", .enabled(if: Curl.isWanted))
    func curlOperates() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        desk.state.withLock { state in
            state.status.lanes = [.init(key: lane, state: .running, unconfirmed: 7, deferred: 3, isServed: true)]
        }
        try await serving(desk, in: folder) { _ in
            let status = try await curl(folder, "http://holdfast/v1/status")
            #expect(
                status == "{\"lanes\":[{\"deferred\":3,\"isServed\":true,\"lane\":\"\(lane)\",\"state\":\"running\","
                    + "\"unconfirmed\":7}],\"routes\":[]}\n200")
            let json = ["-H", "Content-Type: application/json", "-d"]
            let paused = try await curl(
                folder, json + [#"{"lane":"\#(lane)","reason":"x"}"#, "http://holdfast/v1/lanes/pause"])
            #expect(paused == "{\"lane\":\"\(lane)\",\"reason\":\"x\",\"state\":\"paused\"}\n200")
            // What -d alone sends, as a page's form would.
            #expect(
                try await curl(folder, ["-d", "{}", "http://localhost/v1/credentials/reload"]).hasSuffix("}}\n415"))
            #expect(try await curl(folder, "http://push.example.com/v1/status").hasSuffix("}}\n421"))
        }
        #expect(desk.state.withLock(\.asked) == ["status", "pause \(lane) x"])
    }

    private func curl(_ folder: Folder, _ url: String) async throws -> String { try await curl(folder, [url]) }

    private func curl(_ folder: Folder, _ arguments: [String]) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Curl.path, "curl is needed"))
        // A socket's address is short, and the directory's may be long.
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.arguments =
            ["-sS", "--max-time", "60", "-w", "%{http_code}", "--unix-socket", "control.sock"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = try await Task.detached { try output.fileHandleForReading.readToEnd() ?? Data() }.value
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }
}
