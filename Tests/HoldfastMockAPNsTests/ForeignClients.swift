import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

/// One request, as curl sends it.
struct Curl {
    static let token = String(repeating: "ab", count: 32)

    var method = "POST"
    var path = "/3/device/\(Curl.token)"
    var headers = ["apns-topic: com.example.app"]
    var body = #"{"aps":{"alert":"Hi"}}"#

    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String

        /// The `reason` of the body; nil where there is none.
        var reason: String? { json["reason"] as? String }
        var timestamp: Int64? { json["timestamp"] as? Int64 ?? (json["timestamp"] as? Int).map(Int64.init) }

        private var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    func send(to server: MockAPNsServer) async throws -> Answer { try await send(to: server, at: server.address) }

    /// - Parameter address: one of the server's.
    func send(to server: MockAPNsServer, at address: String) async throws -> Answer {
        var arguments = ["-s", "-i", "--http2", "--cacert", server.certificateAuthorityFile, "-X", method]
        // A header without a value is written with a semicolon; else curl leaves it out.
        for header in headers + ["content-type:"] { arguments += ["-H", header] }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data(body.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        if !body.isEmpty { arguments += ["--data-binary", "@\(file.path)"] }
        let command = try await Command.run("curl", arguments + ["https://\(address)\(path)"])
        try #require(command.status == 0, "curl: \(command.status) \(command.text)")
        return try Self.parse(command.text)
    }

    private static func parse(_ text: String) throws -> Answer {
        let (head, body) = try #require(
            text.range(of: "\r\n\r\n").map { (text[..<$0.lowerBound], text[$0.upperBound...]) })
        var lines = head.components(separatedBy: "\r\n")
        let status = try #require(lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) })
        var headers: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return Answer(status: status, headers: headers, body: String(body))
    }
}

/// Several requests on one connection, as nghttp sends them, and the frames that it got.
struct NGHTTP {
    let text: String

    /// - Parameter tokens: one request for each, all at once.
    /// - Parameter options: of nghttp's own.
    init(_ server: MockAPNsServer, tokens: [String], options: [String] = []) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data(#"{"aps":{"alert":"Hi"}}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var arguments = ["-nv", "--no-dep", "--no-content-length", "-t", "10", "-d", file.path]
        arguments += ["-H", "apns-topic: com.example.app"] + options
        // nghttp drops repeated addresses: the tokens are to differ.
        arguments += tokens.map { "https://\(server.address)/3/device/\($0)" }
        let printed = try await Command.run("nghttp", arguments).text
        text = printed.replacing(/\u{1b}\[[0-9;]*m/, with: "")
    }

    func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
}

/// What h2load reports.
struct H2Load {
    let text: String
    let succeeded: Int

    init(_ server: MockAPNsServer, requests: Int, streams: Int, clients: Int = 1, scheme: String = "https") async throws
    {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("body-\(UUID().uuidString)")
        try Data(#"{"aps":{"alert":"Hi"}}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let command = try await Command.run(
            "h2load",
            [
                "-n", "\(requests)", "-c", "\(clients)", "-m", "\(streams)", "-t", "1", "-d", file.path, "-H",
                "apns-topic: com.example.app", "\(scheme)://\(server.address)/3/device/\(Curl.token)",
            ])
        text = command.text
        let match = try #require(text.firstMatch(of: /status codes: (\d+) 2xx/), "\(text)")
        succeeded = Int(match.1) ?? -1
    }
}
