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
            ("GET /v1/status HTTP/1.1\r\n\r\n", 400, "malformed"),
            ("GET /v1/status HTTP/1.1\r\nHost: holdfast\r\nHost: evil\r\n\r\n", 400, "malformed"),
            ("OPTIONS * HTTP/1.1\r\nHost: holdfast\r\n\r\n", 404, "unknownRequest"),
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
        "What is no HTTP is told so in JSON, and its connection ends",
        arguments: [
            ("hello\r\n", 400, "malformed", "no method of HTTP"),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}", 400, "malformed", "no method of HTTP"),
            ("get /v1 HTTP/1.1\r\nHost: holdfast\r\n\r\n", 400, "malformed", "no method of HTTP"),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "malformed", "no request of HTTP/1.1"),
            ("GET /v1 HTTP/3.1\r\nHost: holdfast\r\n\r\n", 505, "malformed", "send HTTP/1.1"),
            ("GET /v1 HTTP/1.1\r\nHo st: holdfast\r\n\r\n", 400, "malformed", "no request of HTTP/1.1"),
            (Ask.order + "Content-Length: -1\r\n\r\n", 400, "malformed", "how long its body is"),
            (Ask.order + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", 400, "malformed", "how long its body is"),
            (Ask.order + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "malformed", "not chunked"),
            (
                "GET /v1 HTTP/1.1\r\nHost: holdfast\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", 431,
                "tooLarge", "more than 16384 bytes"
            ),
            (
                "GET /v1 HTTP/1.1\r\nHost: holdfast\r\n\(String(repeating: "X: y\r\n", count: 150))\r\n", 431,
                "tooLarge",
                "more than 100 header fields"
            ),
        ])
    func noHTTP(bytes: String, status: Int, code: String, words: String) async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.say(bytes)
            #expect(await waitUntil { !client.isOpen })
            #expect(client.statuses == [status])
            #expect(client.text.contains("\r\nContent-Type: application/json\r\n"))
            #expect(client.text.contains("\r\nConnection: close\r\n"))
            #expect(
                client.text.contains("\r\n\r\n{\"error\":{\"code\":\"\(code)\",\"kind\":\"control\",\"message\":\""))
            #expect(client.text.contains(words) && client.text.hasSuffix("\"}}\n"), "\(client.text)")
        }
        #expect(desk.state.withLock(\.asked) == [])
    }

    @Test("A request that ends before it is complete is told so, whether its head or its body is cut off")
    func cutOff() async throws {
        let folder = try Folder()
        try await serving(StubDesk(), in: folder) { _ in
            for bytes in ["GET /v1 HT", Ask.order + "Content-Length: 36\r\n\r\n{"] {
                let client = try await RawClient(folder)
                client.say(bytes)
                client.sayNoMore()
                #expect(await waitUntil { !client.isOpen })
                #expect(client.statuses == [400] && client.text.contains("ended before it was complete"))
            }
        }
    }

    @Test("Requests sent ahead of what is no HTTP have their answers before it has its own")
    func faultBehindOthers() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            let request = "GET /v1/status HTTP/1.1\r\nHost: holdfast\r\n\r\n"
            client.say(request + request + "GET /x HTTP/1.1\r\nHost: holdfast\r\n\r\nhello\r\n\r\n" + request)
            #expect(await waitUntil { !client.isOpen })
            #expect(client.statuses == [200, 200, 404, 400])
        }
        #expect(desk.state.withLock(\.asked) == ["status", "status"])
    }

    @Test(
        "The connection ends where the client expects it, and stays open where it does not",
        arguments: [
            ("HTTP/1.1\r\nConnection: close", true), ("HTTP/1.1\r\nConnection: Close", true),
            ("HTTP/1.1\r\nConnection: upgrade, close", true), ("HTTP/1.0", true), ("HTTP/1.1", false),
            ("HTTP/1.1\r\nConnection: keep-alive", false), ("HTTP/1.0\r\nConnection: keep-alive", false),
        ])
    func closing(version: String, ends: Bool) async throws {
        let folder = try Folder()
        try await serving(StubDesk(), in: folder) { _ in
            let client = try await RawClient(folder)
            client.say("GET /v1 \(version)\r\nHost: holdfast\r\n\r\n")
            #expect(await waitUntil { client.statuses == [200] && client.text.hasSuffix("}\n") })
            #expect(client.text.contains("\r\nConnection: close\r\n") == ends)
            guard ends else {
                client.get("/v1")
                return #expect(await waitUntil { client.statuses == [200, 200] })
            }
            #expect(await waitUntil { !client.isOpen })
        }
    }

    @Test("HEAD has the head that GET has, and no body behind it, also where it is refused")
    func head() async throws {
        let folder = try Folder()
        try await serving(StubDesk(), in: folder) { _ in
            let client = try await RawClient(folder)
            for path in ["/v1", "/v1/lanes/pause", "/x"] {
                client.say("HEAD \(path) HTTP/1.1\r\nHost: holdfast\r\n\r\n")
            }
            client.get("/v1/status")
            #expect(await waitUntil { client.statuses.count == 4 })
            #expect(client.statuses == [200, 405, 404, 200])
            #expect(client.text.components(separatedBy: "\r\n\r\n").prefix(3).allSatisfy { $0.hasPrefix("HTTP/1.1 ") })
        }
    }

    @Test("A client that waits to be told to send its body is told so")
    func continues() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.say(Ask.order + "Expect: 100-continue\r\nContent-Length: \(Ask.body.utf8.count)\r\n\r\n")
            #expect(await waitUntil { client.statuses == [100] })
            client.say(Ask.body)
            #expect(await waitUntil { client.statuses == [100, 200] })
        }
        #expect(desk.state.withLock(\.asked) == ["resume r/immediate/at-least-once"])
    }

    @Test(
        "A body is told what of it is wrong, and where",
        arguments: [
            (#"{"lane":"#, "it is no JSON"), ("[]", "it has a value of another type"), ("{}", "lane is missing"),
            (#"{"lane":7}"#, "lane has a value of another type"), (#"{"lane":null}"#, "lane is null"),
            (#"{"lane":"x"}"#, #"\"x\" names no lane"#),
            (#"{"lane":"/immediate/at-least-once"}"#, "names no lane"),
            (#"{"lane":"r/immediate/twice"}"#, "give at-least-once or at-most-once"),
        ])
    func faults(body: String, words: String) async throws {
        let answer = try await answer(Ask.order + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains(words), "\(answer)")
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
