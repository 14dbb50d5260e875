import Foundation
import Holdfast
import HoldfastPage
import Scratch
import Testing

/// The operators' page of a service that runs, over HTTP. What a browser makes of it: InteropTests.
@Suite("The operators' page", .serialized, .timeLimit(.minutes(3)))
struct OperatorPageTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let bearer = "authorization: Bearer \(token)\r\ncontent-type: application/json\r\n"
    private static let refused = String(repeating: "0", count: 56) + "10000003"
    private static let lane = "example/immediate/at-least-once"

    private func world() async throws -> ServiceWorld {
        let world = try await ServiceWorld(mockFlags: ["--reject", "\(Self.refused)=Unregistered"])
        try world.folder.write("operators", Self.token)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("operators"))
        try world.writeConfiguration(admin: ", token-file: operators")
        return world
    }

    private func json(_ world: ServiceWorld, _ path: String) async throws -> AnyJSON {
        let answer = try await world.get("/api/\(path)")
        #expect(answer.status == 200, "\(path): \(answer.text)")
        return try AnyJSON(answer.text)
    }

    private func tool(_ world: ServiceWorld, _ words: String...) async throws -> [NSDictionary] {
        let result = try await Tool.start(words + ["--journal", world.folder("push.journal"), "--json"]).result()
        return try result.lines().map { $0 as NSDictionary }
    }

    private func dictionary(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    /// Query or body of each operation, where it takes one.
    private func inputs(rejected: String) -> [String: String] {
        [
            "/api/entry": "uid=\(rejected)", "/api/campaign": "tag=x", "/api/entries": "state=rejected&limit=10",
            "/api/lanes/pause": #"{"lane":"\#(Self.lane)","reason":"a trial"}"#,
            "/api/lanes/resume": #"{"lane":"\#(Self.lane)"}"#, "/api/routes/connect": #"{"route":"example"}"#,
            "/api/tags/pause": #"{"tag":"x","reason":"a trial"}"#, "/api/tags/resume": #"{"tag":"x"}"#,
            "/api/rejections/retry": #"{"uids":"999999"}"#, "/api/rejections/discard": #"{"uids":"999999"}"#,
            "/api/entries/withdraw": #"{"tag":"nobody's"}"#,
            "/api/fleet/lanes/pause": #"{"all":true}"#, "/api/fleet/lanes/resume": #"{"all":true}"#,
            "/api/fleet/tags/pause": #"{"tag":"x"}"#, "/api/fleet/tags/resume": #"{"tag":"x"}"#,
            "/api/blacklist/remove": #"{"token":"\#(Self.refused)"}"#, "/api/session": #"{"token":"\#(Self.token)"}"#,
        ]
    }

    @Test("Each answer is as openapi.json describes it, and has what the tool prints") func described() async throws {
        let world = try await world()
        try await world.serve()
        #expect(try await world.send(20, journal: "sender").result().status == 0)
        var rejected = ""
        #expect(
            try await waitUntilAsync {
                let row = try await json(world, "find?token=\(Self.refused)")["found"]?.array.first
                guard case .number(let uid)? = row?["uid"] else { return false }
                rejected = "\(Int(uid))"
                return row?["outcome"]?.text == "rejected"
            })
        let list = try await tool(world, "blacklist", "list")
        #expect(try await world.get("/api/tags/pause", fields: Self.bearer, body: #"{"tag":"x"}"#).status == 200)
        try await compare(world, rejected)
        try await pages(world)
        #expect(try dictionaries(try await world.get("/api/blacklist").text, "entries") == list && list.count == 1)
        let check = try SchemaCheck(try await world.get("/api/openapi.json").text)
        let inputs = inputs(rejected: rejected)
        for (path, method, schema) in check.operations where path != "/api/events" && path != "/api/openapi.json" {
            let input = inputs[path] ?? ""
            let answer =
                method == "get"
                ? try await world.get("\(path)?\(path == "/api/session" ? "" : input)")
                : try await world.get(path, fields: Self.bearer, body: input.isEmpty ? "{}" : input)
            // A journal of a directory belongs to no fleet.
            guard !path.hasPrefix("/api/fleet") else {
                #expect(answer.status == 404 && answer.text.contains("belongs to no fleet"), "\(path): \(answer.text)")
                continue
            }
            let faults = answer.status == 200 ? check.faults(try AnyJSON(answer.text), schema) : [answer.text]
            #expect(faults.isEmpty, "\(method) \(path): \(faults.prefix(5))")
        }
        #expect(try await world.stop().status == 0)
    }

    private func dictionaries(_ text: String, _ name: String) throws -> [NSDictionary] {
        try #require(try dictionary(text)[name] as? [NSDictionary])
    }

    /// What is found page by page is what is found at once, whether it has ended or waits.
    private func pages(_ world: ServiceWorld) async throws {
        func found(_ query: String) async throws -> [NSDictionary] {
            try dictionaries(try await world.get("/api/find?\(query)").text, "found")
        }
        let all = try await found("limit=100")
        #expect(all.count == 20)
        var paged: [NSDictionary] = []
        for skip in stride(from: 0, to: 28, by: 7) { paged += try await found("limit=7&skip=\(skip)") }
        #expect(paged == all)
        for (skip, isMore) in [(13, false), (12, true), (20, false)] {
            let text = try await world.get("/api/find?limit=7&skip=\(skip)").text
            #expect(text.contains("\"more\":\(isMore)"), "\(skip): \(text)")
        }
        #expect(try await world.get("/api/find?skip=10001").status == 400)
    }

    /// What the tool prints is what the page is made of.
    private func compare(_ world: ServiceWorld, _ rejected: String) async throws {
        let lanes = try await tool(world, "lanes", "list")
        #expect(try dictionaries(try await world.get("/api/lanes").text, "lanes") == lanes && lanes.count > 0)
        let rows = try await tool(world, "rejections", "list")
        #expect(try dictionaries(try await world.get("/api/entries?state=rejected").text, "entries") == rows)
        func comparable(_ entry: NSDictionary) -> NSDictionary {
            var entry = entry as? [String: NSObject] ?? [:]
            // How long ago that was changes.
            entry["explanation"] = nil
            return entry as NSDictionary
        }
        let shown = try #require(try await tool(world, "journal", "show", rejected).first)
        let entry = try dictionary(try await world.get("/api/entry?uid=\(rejected)").text)
        #expect(comparable(entry) == comparable(shown))
        #expect((entry["explanation"] as? [String])?.count == (shown["explanation"] as? [String])?.count)
        let status = try dictionary(try await world.get("/api/status").text)
        let conditions = try #require(status["conditions"] as? [NSDictionary])
        // What operators hold up, too.
        #expect(conditions.map { $0["kind"] as? String } == ["tag-paused"])
        let told = try #require(try await tool(world, "journal", "status").first)
        for key in [
            "lanes", "totals", "producers", "unconfirmed", "rejections", "blacklist", "nextUID", "pausedTags", "owner",
        ] {
            #expect(status[key] as? NSObject == told[key] as? NSObject && told[key] != nil, "\(key)")
        }
    }

    @Test("The page lets nothing in from elsewhere, and says so in the head of each answer") func guarded() async throws
    {
        let world = try await world()
        try await world.serve()
        for path in ["/", "/page/app.js", "/api/service", "/api/session", "/api/nothing"] {
            let head = try await world.ask(path).split(separator: "\r\n\r\n")[0].lowercased()
            guard path != "/api/nothing" else { break }
            for field in [
                "http/1.1 200 ", "cache-control: no-store", "x-frame-options: deny", "x-content-type-options: nosniff",
                "frame-ancestors 'none'", "default-src 'none'", "cross-origin-resource-policy: same-origin",
            ] { #expect(head.contains(field), "\(path) \(field): \(head)") }
            #expect(!head.contains("unsafe-inline") && !head.contains("access-control-"))
        }
        // A foreign name that resolves to this machine.
        #expect(try await world.get("/api/status", host: "example.com").status == 421)
        let pause = #"{"lane":"\#(Self.lane)"}"#
        func post(_ fields: String, _ body: String) async throws -> Int {
            try await world.get("/api/lanes/pause", fields: fields, body: body).status
        }
        #expect(try await post("content-type: application/json\r\n", pause) == 401)
        #expect(try await post("content-type: text/plain\r\n", pause) == 415)
        #expect(try await post(Self.bearer + "origin: http://example.com\r\n", pause) == 403)
        #expect(try await post(Self.bearer, "{") == 400)
        #expect(try await post(Self.bearer, #"{"lane":"a/b/c"}"#) == 400)
        #expect(try await post(Self.bearer, #"{"lane":"\#(Self.lane)","more":1}"#) == 400)
        #expect(try await post(Self.bearer, String(repeating: " ", count: 70_000) + pause) == 413)
        #expect(try await world.get("/api/lanes/pause").status == 405)
        #expect(try await world.get("/api/status", fields: "x-forwarded-for: 192.0.2.1\r\n").status == 401)
        #expect(try await tool(world, "lanes", "list").allSatisfy { $0["state"] as? String == "running" })
        // Never all by silence.
        for path in ["rejections/retry", "rejections/discard", "entries/withdraw"] {
            #expect(try await world.get("/api/\(path)", fields: Self.bearer, body: "{}").status == 400)
            #expect(try await world.get("/api/\(path)", fields: Self.bearer, body: #"{"all":true}"#).status == 200)
        }
        try await tellsNothing(world)
        #expect(try await post(Self.bearer, pause) == 200)
        #expect(try world.log.contains("lane \(Self.lane) was paused; by who has the operators' token, from 127.0.0.1"))
        #expect(try !world.log.contains(Self.token))
        #expect(try await world.stop().status == 0)
        try world.writeConfiguration(admin: ", page: false")
        try await world.serve()
        #expect(try await world.get("/").status == 404)
        #expect(try await world.get("/health/live").status == 200)
        #expect(try await world.stop().status == 0)
    }

    /// A change that met nothing is told as that, and no filter at length.
    private func tellsNothing(_ world: ServiceWorld) async throws {
        let removed = try await world.get("/api/blacklist/remove", fields: Self.bearer, body: #"{"token":"00"}"#)
        #expect(removed.status == 200 && removed.text.contains(#""matched":0,"removed":0"#), "\(removed.text)")
        let tag = String(repeating: "a", count: 5000)
        for path in ["rejections/retry", "rejections/discard", "entries/withdraw"] {
            let body = #"{"tag":"\#(tag)"}"#
            #expect(try await world.get("/api/\(path)", fields: Self.bearer, body: body).status == 200)
        }
        let log = try world.log
        for words in [
            "nothing was taken off the blacklist: ", "nothing was sent again: none matched (all)",
            "nothing was deleted: none matched (all)", "nothing was taken back: none matched (tag aaa",
        ] { #expect(log.contains(words), "\(words)") }
        #expect(!log.contains(String(repeating: "a", count: 100)))
    }

    @Test(
        "Where everybody is meant the page takes the token also from this machine: a proxy need not say that it is one")
    func forEverybody() async throws {
        let world = try await world()
        try world.writeConfiguration(admin: ", token-file: operators, everybody: true")
        try await world.serve()
        for path in ["/api/status", "/api/service", "/api/events"] {
            #expect(try await world.get(path, host: "push.example.com").status == 401, "\(path)")
        }
        #expect(try await world.get("/api/status", fields: Self.bearer, host: "push.example.com").status == 200)
        #expect(try await world.get("/health/ready", host: "push.example.com").status == 200)
        #expect(try await world.stop().status == 0)
    }

    @Test("The page asks for its own files only, and every file of it is in the program") func files() throws {
        let assets = Dictionary(
            uniqueKeysWithValues: PageAssets.all.map { ($0.path, String(decoding: $0.bytes, as: UTF8.self)) })
        let names = Set(assets.keys)
        for (path, text) in assets where path != "api/openapi.json" && path != "page/icon.svg" {
            for match in text.matches(of: /(?:from|import|src=|href=)\s*\(?"([^"]+)"/) {
                let name = String(match.output.1)
                guard !name.hasPrefix("#") else { continue }
                let file = name.hasPrefix("./") ? "page/\(name.dropFirst(2))" : String(name.dropFirst())
                #expect(names.contains(file), "\(path) asks for \(name)")
            }
            #expect(!text.contains("http://") || text.contains("www.w3.org"), "\(path)")
            #expect(!text.contains("https://") && !text.contains("innerHTML") && !text.contains("style="), "\(path)")
        }
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/HoldfastPage/Assets").standardizedFileURL
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == names.count)
    }
}
