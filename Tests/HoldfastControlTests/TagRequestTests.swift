import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastControl

/// Orders about tags as any client of HTTP gives them, and what becomes of them in a journal.
@Suite("Requests about tags on the control socket")
struct TagRequestTests {
    private struct Answer {
        let status: Int
        let head: String
        let form: [String: Any]

        var code: String? { (form["error"] as? [String: Any])?["code"] as? String }
    }

    /// Asks one thing after the other over one connection.
    private final class Asker {
        private let client: RawClient
        private var count = 0

        init(_ folder: Folder) async throws { client = try await RawClient(folder) }

        func post(_ path: String, _ body: String) async throws -> Answer {
            try await answer { client.post("/v1/tags/\(path)", body) }
        }

        func say(_ request: String) async throws -> Answer { try await answer { client.say(request) } }

        /// The paused tags, as the status tells them.
        func list() async throws -> [[String: Any]] {
            let answer = try await answer { client.get("/v1/status") }
            return answer.form["pausedTags"] as? [[String: Any]] ?? []
        }

        private func answer(_ ask: () -> Void) async throws -> Answer {
            let start = client.text.utf8.count
            ask()
            count += 1
            try #require(await waitUntil { client.statuses.count == count && client.text.hasSuffix("}\n") })
            let parts = String(decoding: client.text.utf8.dropFirst(start), as: UTF8.self).components(
                separatedBy: "\r\n\r\n")
            let form = try JSONSerialization.jsonObject(with: Data(parts[1].utf8)) as? [String: Any]
            return Answer(
                status: try #require(client.statuses.last), head: parts[0].lowercased(), form: try #require(form))
        }
    }

    private func asking(_ body: @Sendable (Asker) async throws -> Void) async throws {
        let folder = try Folder()
        try await serving(JournalDesk(journal: InMemoryJournal()), in: folder) { _ in
            try await body(try await Asker(folder))
        }
    }

    @Test("A tag is paused, paused again with another reason, listed and resumed, as text or as bytes")
    func orders() async throws {
        try await asking { asker in
            #expect(try await asker.list().isEmpty)
            let paused = try await asker.post("pause", #"{"tag":"spring","reason":"wrong price"}"#)
            #expect(
                paused.status == 200
                    && paused.form as? [String: String] == [
                        "tag": "spring", "state": "paused", "reason": "wrong price",
                    ])
            let since = try await asker.list().first?["since"] as? String
            #expect(try await asker.post("pause", #"{"tag":"spring"}"#).status == 200)
            let bytes = try await asker.post("pause", #"{"tag-base64":"/wA="}"#)
            #expect(bytes.status == 200 && bytes.form["tag-base64"] as? String == "/wA=")
            let longest = String(repeating: "t", count: 256)
            #expect(try await asker.post("pause", #"{"tag":"\#(longest)"}"#).status == 200)
            let listed = try await asker.list()
            #expect(listed.count == 3 && listed.contains { $0["tag"] as? String == longest })
            let spring = listed.first { $0["tag"] as? String == "spring" }
            #expect(spring?["reason"] == nil && spring?["held"] as? Int == 0 && spring?["since"] as? String == since)
            let resumed = try await asker.post("resume", #"{"tag-base64":"/wA="}"#)
            #expect(resumed.status == 200 && resumed.form["state"] as? String == "running")
            #expect(try await asker.list().count == 2)
            let all = try await asker.post("resume", #"{"all":true}"#)
            #expect(all.status == 200 && all.form as? [String: String] == ["state": "running"])
            #expect(try await asker.list().isEmpty)
            // Nothing is paused, which is what was asked for.
            #expect(try await asker.post("resume", #"{"all":true}"#).status == 200)
        }
    }

    @Test("A tag that is unknown, empty or too long is refused, and so is one too many; nothing changes")
    func refused() async throws {
        try await asking { asker in
            #expect(try await asker.post("pause", #"{"tag":"spring"}"#).status == 200)
            let unknown = try await asker.post("resume", #"{"tag":"autumn"}"#)
            #expect(unknown.status == 404 && unknown.code == "not found", "\(unknown.form)")
            let long = String(repeating: "t", count: 257)
            for body in [#"{"tag":""}"#, #"{"tag":"\#(long)"}"#, #"{"tag-base64":""}"#] {
                let answer = try await asker.post("pause", body)
                #expect(answer.status == 422 && answer.code == "invalid entry", "\(body): \(answer.form)")
            }
            #expect(try await asker.list().count == 1)
            for number in 1..<64 {
                #expect(try await asker.post("pause", #"{"tag":"\#(number)"}"#).status == 200)
            }
            let excess = try await asker.post("pause", #"{"tag":"one more"}"#)
            #expect(excess.status == 422 && excess.code == "invalid entry", "\(excess.form)")
            #expect(try await asker.list().count == 64)
            #expect(try await asker.post("resume", #"{"tag":"spring"}"#).status == 200)
            #expect(try await asker.post("resume", #"{"tag":"spring"}"#).status == 404)
            #expect(try await asker.list().count == 63)
        }
    }

    @Test("What is no order about a tag, or comes by another method, is told so")
    func malformed() async throws {
        try await asking { asker in
            for (path, body) in [
                ("pause", "{}"), ("resume", "{}"), ("pause", #"{"all":true}"#), ("pause", #"{"tag":5}"#),
                ("resume", #"{"tag":"a","all":true}"#), ("resume", #"{"all":false}"#), ("pause", #"["spring"]"#),
                ("pause", #"{"tag-base64":"%"}"#), ("pause", #"{"tag":"spring","reason":7}"#), ("pause", "spring"),
            ] {
                let answer = try await asker.post(path, body)
                #expect(answer.status == 400 && answer.code == "malformed", "\(path) \(body): \(answer.form)")
            }
            for path in ["pause", "resume"] {
                for method in ["GET", "PUT", "DELETE"] {
                    let answer = try await asker.say(
                        "\(method) /v1/tags/\(path) HTTP/1.1\r\nHost: holdfast\r\nContent-Length: 0\r\n\r\n")
                    #expect(answer.status == 405 && answer.head.contains("\r\nallow: post"), "\(answer.head)")
                }
            }
            let list = try await asker.say("GET /v1/tags HTTP/1.1\r\nHost: holdfast\r\n\r\n")
            #expect(list.status == 404 && list.code == "unknownRequest")
            #expect(try await asker.list().isEmpty)
        }
    }
}
