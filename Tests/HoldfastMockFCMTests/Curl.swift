import Foundation
import HoldfastMockFCM
import RawClients
import Testing

/// One request, as curl sends it.
struct Curl {
    var path = "/v1/projects/mock-project/messages:send"
    var headers: [String] = ["content-type: application/json"]
    var body = #"{"message":{"fid":"abc","notification":{"title":"Hi"}}}"#

    struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String

        private var error: [String: Any] {
            let root = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return root?["error"] as? [String: Any] ?? [:]
        }

        /// The error's `status`.
        var code: String? { error["status"] as? String }
        var message: String? { error["message"] as? String }
        /// A member of one of the error's details.
        func detail(_ name: String) -> Any? {
            (error["details"] as? [[String: Any]])?.compactMap { $0[name] }.first
        }
        /// Of an endpoint of tokens.
        var text: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    /// Sends a message with this access token; nil for none.
    func send(to server: MockFCMServer, token: String? = nil) async throws -> Answer {
        let authorization = token.map { ["authorization: Bearer \($0)"] } ?? []
        return try await Self.post(
            "https://\(server.address)\(path)", headers + authorization, body, ["--http2"], server)
    }

    /// Asks for an access token.
    static func ask(_ server: MockFCMServer, _ form: String) async throws -> Answer {
        try await post(
            server.tokenURI, ["content-type: application/x-www-form-urlencoded"], form, ["--http1.1"], server)
    }

    private static func post(
        _ url: String, _ headers: [String], _ body: String, _ flags: [String], _ server: MockFCMServer
    ) async throws -> Answer {
        var arguments =
            ["-s", "-i", "--cacert", server.certificateAuthorityFile, "-X", "POST", "--data-binary", body] + flags
        for header in headers { arguments += ["-H", header] }
        let command = try await Command.run("curl", arguments + [url])
        try #require(command.status == 0, "curl: \(command.status) \(command.text)")
        let (head, rest) = try #require(
            command.text.range(of: "\r\n\r\n").map { (command.text[..<$0.lowerBound], command.text[$0.upperBound...]) })
        var lines = head.components(separatedBy: "\r\n")
        let status = try #require(lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) })
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[String(parts[0]).lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return Answer(status: status, headers: fields, body: String(rest))
    }
}
