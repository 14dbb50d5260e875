import Foundation
import HoldfastOpenSSL
import HoldfastTesting
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/1.1 on the same port", .timeLimit(.minutes(1)))
struct HTTP1Tests {
    private static let path = "/v1/projects/\(Google.project)/messages:send"

    private static func post(
        _ body: [UInt8] = Google.message(), path: String = path, _ more: [String] = []
    ) -> [UInt8] {
        let head = ["POST \(path) HTTP/1.1", "Host: fcm.googleapis.com", "Content-Length: \(body.count)"] + more
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// The answers in what a client has heard: status lines, and what is behind the head of each.
    private static func answers(_ bytes: [UInt8]) -> [(status: String, head: String, body: String)] {
        String(decoding: bytes, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").dropFirst().map { text in
            let parts = text.components(separatedBy: "\r\n\r\n")
            return (String(text.prefix(3)), parts[0].lowercased(), parts.dropFirst().joined())
        }
    }

    private func until(_ client: RawClient, _ count: Int) async -> [(status: String, head: String, body: String)] {
        _ = await Patience(.seconds(20)).wait { client.hasEnded || Self.answers(client.received).count >= count }
        return Self.answers(client.received)
    }

    @Test("Requests on one connection are answered one after the other, also those that were written at once")
    func keepsAlive() async throws {
        try await Google.world { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.post())
            var answers = await until(client, 1)
            #expect(answers.map(\.status) == ["200"] && answers[0].body.contains(Google.name), "\(answers)")
            #expect(answers[0].head.contains("content-length: \(answers[0].body.utf8.count)"))
            try await client.send(Self.post() + Self.post(Array("{".utf8)) + Self.post(path: "/nowhere"))
            answers = await until(client, 4)
            #expect(answers.map(\.status) == ["200", "200", "400", "404"], "\(answers)")
            #expect(GoogleAnswer(body: answers[2].body).status == "INVALID_ARGUMENT")
            #expect(world.journal.entries.count == 2 && !client.hasEnded)
            await client.close()
        }
    }

    @Test("A request that arrives in pieces is one")
    func pieces() async throws {
        try await Google.world { world in
            let client = try await RawClient(port: world.port)
            for byte in Self.post(Google.message(), ["Expect: 100-continue"]) {
                try await client.send([byte])
            }
            let answers = await until(client, 2)
            #expect(answers.map(\.status) == ["100", "200"], "\(answers)")
            #expect(world.journal.entries.count == 1)
            await client.close()
        }
    }

    @Test("A chunked body is taken, and HTTP/1.0 and `connection: close` end the connection")
    func ends() async throws {
        try await Google.world { world in
            let body = Google.message()
            let chunked =
                "POST \(Self.path) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + String(body.count, radix: 16) + "\r\n" + String(decoding: body, as: UTF8.self) + "\r\n0\r\n\r\n"
            let old = "POST \(Self.path) HTTP/1.0\r\nContent-Length: \(body.count)\r\n\r\n"
            for request in [Array(chunked.utf8), Array(old.utf8) + body] {
                let client = try await RawClient(port: world.port)
                try await client.send(request)
                let heard = try #require(await client.untilEnd())
                #expect(
                    String(decoding: heard, as: UTF8.self).contains(" 200 "),
                    "\(String(decoding: heard, as: UTF8.self))")
                await client.close()
            }
            #expect(world.journal.entries.count == 2)
        }
    }

    @Test("Bytes that are no HTTP end the connection, and are counted")
    func malformed() async throws {
        try await Google.world { world in
            for bytes in ["GET\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "PRX / HTTP/9.9\r\n\r\n"] {
                let client = try await RawClient(port: world.port)
                try await client.send(Array(bytes.utf8))
                let heard = try #require(await client.untilEnd(), "\(bytes)")
                #expect(String(decoding: heard, as: UTF8.self).hasPrefix("HTTP/1.1 400"))
                await client.close()
            }
            try await eventually("they are counted") { world.figures.faults["protocol"] == 3 }
        }
    }

    @Test("A request that does not end is told so and costs its connection; a head that is too long is refused")
    func slow() async throws {
        try await Google.world(Change { $0.limits.write = .milliseconds(200) }) { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.post().dropLast())
            let heard = try #require(await client.untilEnd())
            #expect(Self.answers(heard).map(\.status) == ["408"])
            #expect(world.figures.faults["slow"] == 1)
            await client.close()
            let long = try await RawClient(port: world.port)
            try await long.send(Self.post(Google.message(), ["X-Long: " + String(repeating: "x", count: 20_000)]))
            #expect(await long.untilEnd() != nil)
            await long.close()
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("A client that ends its side behind its requests gets their answers, and then the connection's end")
    func halfClosed() async throws {
        try await Google.world(delivers: true) { world in
            let waiting = Self.post(Google.message(), ["holdfast-answer: wait=20s"])
            for (number, requests) in [Self.post(), Self.post() + Self.post(), waiting].enumerated() {
                let client = try await RawClient(port: world.port)
                try await client.send(requests)
                try await client.closeOutput()
                let heard = try #require(await client.untilEnd())
                #expect(Self.answers(heard).map(\.status) == (number == 1 ? ["200", "200"] : ["200"]), "\(number)")
                await client.close()
            }
            // Half of a request is none, and a quiet connection ends.
            for begun in [Self.post() + Self.post().dropLast(), Self.post()] {
                let client = try await RawClient(port: world.port)
                try await client.send(begun)
                #expect(await until(client, 1).first?.status == "200")
                try await client.closeOutput()
                #expect(await client.untilEnd() != nil)
                await client.close()
            }
            #expect(world.figures.accepted == 6)
        }
    }

    @Test("What came in one piece with the request before, and does not go on, ends as one that came alone")
    func begunBehindAnother() async throws {
        try await Google.world(Change { $0.limits.write = .milliseconds(300) }) { world in
            let whole = Self.post()
            for begun in [Array("P".utf8), Array("POST /v1".utf8), whole.dropLast(), Array(whole.dropLast(70))] {
                let client = try await RawClient(port: world.port)
                try await client.send(whole + begun)
                let heard = try #require(await client.untilEnd())
                #expect(Self.answers(heard).map(\.status) == ["200", "408"], "\(begun.count)")
                await client.close()
            }
            // Whole ones leave nothing behind them that would be waited for, nor do lines' ends.
            let client = try await RawClient(port: world.port)
            try await client.send(whole + whole + Array("\r\n".utf8))
            try await Task.sleep(for: .milliseconds(700))
            try await client.send(whole)
            #expect(await until(client, 3).map(\.status) == ["200", "200", "200"] && !client.hasEnded)
            await client.close()
        }
    }

    @Test("A head that trickles in is a request that does not end, the first and each one behind it")
    func slowHeads() async throws {
        let change = Change<HTTP2IngressConfiguration> {
            $0.limits.write = .milliseconds(300)
            $0.limits.handshake = .milliseconds(100)
        }
        try await Google.world(change) { world in
            for before in [[], Self.post(), Self.post() + Self.post()] {
                let client = try await RawClient(port: world.port)
                // The second one's beginning comes in one piece with the first request.
                try await client.send(before + Array("POST /v1".utf8))
                let deadline = ContinuousClock.now + .seconds(20)
                while !client.hasEnded, ContinuousClock.now < deadline {
                    client.offer(Array("x".utf8))
                    try await Task.sleep(for: .milliseconds(20))
                }
                let answers = Self.answers(client.received)
                let expected =
                    before.isEmpty
                    ? ["408"] : before.count == Self.post().count ? ["200", "408"] : ["200", "200", "408"]
                #expect(client.hasEnded && answers.map(\.status) == expected, "\(answers)")
                #expect(answers.last?.head.contains("connection: close") ?? false)
                await client.close()
            }
            #expect(world.figures.faults["slow"] == 3 && world.figures.faults["handshake"] == nil)
        }
    }

    @Test("A kept connection may be idle for longer than a request may take, also with an empty line behind a body")
    func idle() async throws {
        try await Google.world(Change { $0.limits.write = .milliseconds(100) }) { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.post() + Array("\r\n".utf8))
            _ = await until(client, 1)
            try await client.send(Array("\r\n".utf8))
            // Nothing to wait for: what must not come would come within this time.
            #expect(await client.untilEnd(limit: .milliseconds(500)) == nil)
            try await client.send(Self.post())
            #expect(await until(client, 2).map(\.status) == ["200", "200"])
            await client.close()
        }
    }

    @Test("A body of any length is read, and refused once")
    func greatBody() async throws {
        try await Google.world { world in
            let client = try await RawClient(port: world.port)
            try await client.send(Self.post([UInt8](repeating: 0x20, count: 300_000)) + Self.post())
            let answers = await until(client, 2)
            #expect(answers.map(\.status) == ["400", "200"], "\(answers)")
            #expect(GoogleAnswer(body: answers[0].body).message?.hasPrefix("Message is too big") ?? false)
            await client.close()
        }
    }

    @Test("An orderly end answers what was read, and closes connections that say nothing")
    func drains() async throws {
        try await Google.world { world in
            let idle = try await RawClient(port: world.port)
            try await idle.send(Self.post())
            _ = await until(idle, 1)
            world.task.cancel()
            #expect(await idle.untilEnd() != nil)
            await idle.close()
        }
    }

    @Test("Apple's requests are taken over HTTP/1.1, too, and HEAD has no body")
    func apple() async throws {
        try await withHTTP2World { world in
            let client = try await RawClient(port: world.port)
            try await client.send(
                Self.post(
                    Array(#"{"aps":{}}"#.utf8), path: "/3/device/\(HTTP2World.token)",
                    ["apns-topic: \(HTTP2World.topic)"]))
            let answers = await until(client, 1)
            #expect(answers.map(\.status) == ["200"] && answers[0].head.contains("apns-id"))
            try await client.send(Array("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            let head = await until(client, 2)
            #expect(head.map(\.status) == ["200", "405"] && head[1].body.isEmpty)
            #expect(world.journal.entries.count == 1)
            await client.close()
        }
    }

    @Test(
        "curl sends over each, by ALPN, and is told its project's error",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")),
        arguments: ["--http1.1", "--http2", "--no-alpn"])
    func curl(version: String) async throws {
        let authority = try TestAuthority()
        let identity = try authority.identity()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString).pem").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(try authority.authority.certificate.pem()).write(to: URL(fileURLWithPath: file))
        try await Google.world(Change { $0.tls = ServerTLS(identity: identity) }) { world in
            func curl(_ body: String) async throws -> (status: String, body: String, version: String) {
                let output = try await Command.run(
                    "/usr/bin/curl",
                    [
                        "-sS", version, "--cacert", file, "-H", "content-type: application/json", "-d", body, "-w",
                        "\n%{http_code}\n%{http_version}", "https://127.0.0.1:\(world.port)\(Self.path)",
                    ]
                ).text
                let lines = output.components(separatedBy: "\n")
                return (lines[lines.count - 2], lines.dropLast(2).joined(separator: "\n"), lines[lines.count - 1])
            }
            let taken = try await curl(#"{"message":{"token":"a"}}"#)
            #expect(taken.status == "200" && taken.version == (version == "--http2" ? "2" : "1.1"), "\(taken)")
            let refused = try await curl("{}")
            #expect(refused.status == "400" && GoogleAnswer(body: refused.body).status == "INVALID_ARGUMENT")
            #expect(world.journal.entries.count == 1)
        }
    }
}
