import HoldfastMockAPNs
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
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
            let words = example.body.isEmpty ? "without a body" : "\""
            #expect(result?.detail?.hasPrefix("server nginx/1.2, text/html, \(words)") == true)
            #expect(result?.detail?.utf8.allSatisfy { (0x20..<0x7F).contains($0) } == true)
            if example.body == Self.page {
                #expect(result?.detail == #"server nginx/1.2, text/html, "<html> [1m Not found</html>""#)
            }
        }
        await bench.finish()
        try await mock.stop()
    }
}
