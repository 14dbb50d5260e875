import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastHTTP2
@testable import HoldfastRequests
@testable import HoldfastTesting

/// Answers that come from something else than the push service.
@Suite(.timeLimit(.minutes(1))) struct ForeignAnswerWireTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let body: String
        /// The header that names the notification, as Apple's answers have it.
        let id: String?
        let verdict: SendResult.Verdict

        init(_ status: Int, _ body: String, id: String? = nil, _ verdict: SendResult.Verdict) {
            (self.status, self.body, self.id, self.verdict) = (status, body, id, verdict)
        }

        var testDescription: String { "\(status) \(body.debugDescription)" }
    }

    private static let page = "<html>\u{1B}[1m\"Not\"\r\nfound</html>"

    @Test(
        "A page is no answer, whatever its status; a 5xx asks for patience all the same",
        arguments: [
            Case(200, page, .foreign), Case(200, "OK", .foreign), Case(200, "[]", .foreign),
            Case(200, #"{"status":"ok"}"#, .foreign), Case(200, "{}", id: "apns-id", .confirmed),
            Case(200, "{}", id: "apns-request-id", .confirmed), Case(200, page, id: "apns-id", .foreign),
            Case(200, "", .confirmed), Case(302, page, .foreign),
            Case(400, page, .foreign), Case(401, "{}", .foreign),
            Case(403, page, .foreign), Case(404, page, .foreign), Case(407, page, .foreign), Case(410, page, .foreign),
            Case(421, #"{"error":"misdirected"}"#, .foreign), Case(429, page, .deferred(.service)),
            Case(502, page, .deferred(.service)), Case(503, page, .deferred(.service)),
        ])
    func pages(_ example: Case) async throws {
        var configuration = MockAPNsConfiguration()
        configuration.behavior = MockBehavior { _ in
            MockAnswer(
                .response(
                    status: example.status,
                    headers: [("server", "nginx/1.2"), ("content-type", "text/html")]
                        + (example.id.map { [($0, "00000000-0000-0001-0000-000000000002")] } ?? []),
                    body: Array(example.body.utf8)))
        }
        let mock = try await MockAPNsServer.start(configuration)
        let bench = try await WireBench(APNsConnector(APNsConnector.Configuration(mock)))
        bench.handOut(1)
        #expect(await bench.untilAnswered())
        let result = bench.result(1)
        #expect(result?.verdict == example.verdict)
        #expect(result?.mayHaveBeenTaken == (example.status >= 500))
        if example.verdict == .foreign {
            let size = example.body.isEmpty ? "without a body" : "a body of \(example.body.utf8.count) bytes"
            #expect(result?.detail == "server nginx, text/html, \(size)")
        }
        await bench.finish()
        try await mock.stop()
    }

    private static let secret = String(repeating: "feedbeef", count: 8)

    @Test(
        "Who answered is named by words alone, and nothing is repeated that a server may have echoed",
        arguments: [
            ([("server", "Apache/2.4.1 (Unix)")], "server Apache, a body of 64 bytes"),
            ([("server", "echo " + secret), ("content-type", "x/" + secret)], "server echo, a body of 64 bytes"),
            ([("server", secret), ("via", "1.1 " + secret)], "a body of 64 bytes"),
            ([("content-type", "text/" + secret)], "a body of 64 bytes"),
            (
                [("via", "1.1 proxy.example:3128 (squid/4.1)"), ("content-type", "application/problem+json; a=b")],
                "via proxy.example, application/problem+json, a body of 64 bytes"
            ),
            ([("server", "\u{1B}[2J"), ("via", "1.1"), ("content-type", "text")], "a body of 64 bytes"),
        ] as [([(String, String)], String)])
    func senders(_ headers: [(String, String)], _ words: String) {
        let response = HTTP2Response(
            status: 404, headers: headers.map { HeaderField(name: $0.0, value: $0.1) },
            body: Array(Self.secret.utf8))
        #expect(response.sender == words)
    }

    @Test("An error's reason and a GOAWAY's are never kept unless they are words")
    func reasons() {
        for text in [Self.secret, "Forbidden " + Self.secret, "x\\u001b[2J"] {
            let body = ErrorBody(Array(#"{"reason":"\#(text)"}"#.utf8))
            #expect(body.reason == Reason.other.rawValue)
            #expect(GoAwayReason.result(body.reason, detail: "").reason == .other)
        }
    }
}
