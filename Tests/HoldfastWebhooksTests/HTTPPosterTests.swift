import Foundation
import Holdfast
import HoldfastOpenSSL
import HoldfastRequests
import HoldfastTransport
import Scratch
import Testing

@testable import HoldfastWebhooks

/// One request at a time to a server that we did not write, which fails in all the usual ways.
@Suite("A webhook's requests", .timeLimit(.minutes(1)))
struct HTTPPosterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func request(_ number: Int = 1) throws -> PostRequest {
        let id = "crm-\(number)-\(number)"
        let post = WebhookMachine.Post(
            items: 0..<0, first: OutcomeCursor(1), last: OutcomeCursor(1), attempt: 1, missed: 0,
            isPossibleDuplicate: false)
        let body = WebhookBody.bytes(post, id: id, webhook: "crm", timestamp: WallTime(seconds: 5), outcomes: [])
        let secret = try WebhookSecret(Samples.secret)
        return PostRequest(
            headers: [
                "webhook-id": id, "webhook-timestamp": "5",
                "webhook-signature": try WebhookSignature.value(id: id, timestamp: 5, body: body, secret: secret),
            ], body: body)
    }

    private func poster(_ port: Int, _ path: String = "/told?key=hidden") throws -> HTTPPoster {
        HTTPPoster(try Samples.configuration(to: "http://127.0.0.1:\(port)\(path)").target)
    }

    @Test(
        "Each answer, and each lack of one, is what it is",
        arguments: [
            ("ok", PostResult.taken(status: 200)), ("no-content", .taken(status: 204)), ("big", .taken(status: 200)),
            ("slow", .taken(status: 200)), ("500", .refused(status: 500, retryAfter: nil)),
            ("404", .refused(status: 404, retryAfter: nil)), ("redirect", .refused(status: 301, retryAfter: nil)),
            ("429", .refused(status: 429, retryAfter: .seconds(1))),
            ("close", .unclear("it closed the connection before it answered")),
            ("half", .unclear("it closed the connection in the middle of its answer")),
            ("never", .unclear("it did not answer within 800 ms")),
        ])
    func answers(_ mode: String, _ expected: PostResult) async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: mode)
        let poster = try poster(receiver.port)
        let result = await poster.post(try request(), within: .milliseconds(800))
        await poster.close()
        #expect(result == expected)
        let requests = try receiver.requests
        // A redirect is not followed.
        #expect(requests.count == 1 && requests.first?.signed == true && requests.first?.path == "/told?key=hidden")
        #expect(requests.first?.headerID == "crm-1-1" && requests.first?.type == "application/json")
    }

    @Test("What is no HTTP is an unclear answer", arguments: ["nonsense", "endless-head"])
    func nonsense(_ mode: String) async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: mode)
        let result = await (try poster(receiver.port)).post(try request(), within: .seconds(5))
        guard case .unclear(let words) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(words.contains("no HTTP") || words.contains("connection"), "\(words)")
    }

    @Test("One connection serves requests that follow each other, and a new one those that come later")
    func connections() async throws {
        let receiver = try await WebhookReceiver(in: folder)
        let poster = try poster(receiver.port)
        for number in 1...3 {
            #expect(await poster.post(try request(number), within: .seconds(5)) == .taken(status: 200))
        }
        await poster.close()
        #expect(await poster.post(try request(4), within: .seconds(5)) == .taken(status: 200))
        await poster.close()
        let connections = try receiver.requests.map(\.connection)
        #expect(connections.count == 4 && Set(connections).count == 2 && Set(connections[..<3]).count == 1)
    }

    @Test("Where nobody listens nothing was sent") func nobody() async throws {
        let receiver = try await WebhookReceiver(in: folder)
        receiver.kill()
        let result = await (try poster(receiver.port)).post(try request(), within: .seconds(5))
        guard case .notSent(let words) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(words.contains("127.0.0.1:\(receiver.port)") && !words.contains("hidden"), "\(words)")
    }

    @Test("A request that is cancelled ends at once, and nobody knows") func cancelled() async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: "never")
        let poster = try poster(receiver.port)
        let request = try request()
        let task = Task { await poster.post(request, within: .seconds(50)) }
        #expect(try await waitUntil { try receiver.requests.count == 1 })
        task.cancel()
        guard case .unclear = await task.value else {
            Issue.record("not unclear")
            return
        }
    }

    @Test("The receiver's certificate must be one that is trusted, and for its very name")
    func certificates() async throws {
        let authority = try CertificateAuthority(commonName: "Test authority")
        try folder.write("ca.pem", String(decoding: authority.certificate.pem(), as: UTF8.self))
        func receiver(_ names: [SubjectName]) async throws -> WebhookReceiver {
            let issued = try authority.issue(
                commonName: "receiver", names: names, start: .seconds(-60), lifetime: .seconds(86_400),
                usage: "serverAuth")
            try folder.write("cert.pem", String(decoding: issued.certificate.pem(), as: UTF8.self))
            try folder.write("key.pem", String(decoding: issued.key.pem(), as: UTF8.self))
            return try await WebhookReceiver(in: folder, certificate: (folder("cert.pem"), folder("key.pem")))
        }
        func post(to receiver: WebhookReceiver, trusting file: String?) async throws -> PostResult {
            var configuration = try Samples.configuration(to: "https://localhost:\(receiver.port)/told")
            if let file { configuration.trust = .file(file) }
            let poster = HTTPPoster(configuration.target)
            let result = await poster.post(try request(), within: .seconds(5))
            await poster.close()
            return result
        }
        let good = try await receiver([.dns("localhost")])
        #expect(try await post(to: good, trusting: folder("ca.pem")) == .taken(status: 200))
        for (server, trust) in [
            (good, nil), (try await receiver([.dns("else.example"), .ip("127.0.0.1")]), folder("ca.pem")),
        ] {
            let result = try await post(to: server, trusting: trust)
            guard case .notSent(let words) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(words.contains("the certificate of https://localhost"), "\(words)")
        }
        #expect(try good.requests.count == 1)
    }
}
