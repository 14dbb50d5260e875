import Foundation
import HoldfastMockFCM
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastFCM

/// Google's answers, each as a row of the table, and from the wire to what the engine is told.
@Suite("Each answer of FCM means what the table says", .timeLimit(.minutes(1))) struct AnswerTableTests {
    struct Row: Sendable, CustomStringConvertible {
        let status: Int
        let word: String
        /// What the details name.
        let subject: String?
        let verdict: SendResult.Verdict
        let mayHaveBeenTaken: Bool

        init(_ status: Int, _ word: String, _ verdict: SendResult.Verdict, naming subject: String? = nil) {
            (self.status, self.word, self.verdict, self.subject) = (status, word, verdict, subject)
            mayHaveBeenTaken = status >= 500
        }

        var description: String { "\(status) \(word)\(subject.map { " naming \($0)" } ?? "")" }
        var rejection: MockRejection { MockRejection(word, status: status, subject: subject) }
    }

    static let rows: [Row] =
        [
            Row(404, "UNREGISTERED", .rejected(.token)),
            Row(404, "NOT_FOUND", .laneStopped(.credentials)),
            Row(400, "INVALID_ARGUMENT", .rejected(.suspectToken), naming: "token"),
            Row(400, "INVALID_ARGUMENT", .rejected(.suspectToken), naming: "fid"),
            Row(400, "INVALID_ARGUMENT", .rejected(.notification)),
            Row(400, "INVALID_ARGUMENT", .rejected(.notification), naming: "data"),
            Row(413, "INVALID_ARGUMENT", .rejected(.notification)),
            Row(401, "THIRD_PARTY_AUTH_ERROR", .rejected(.notification)),
            Row(403, "SENDER_ID_MISMATCH", .rejected(.suspectToken)),
            Row(403, "PERMISSION_DENIED", .laneStopped(.credentials)),
            Row(429, "QUOTA_EXCEEDED", .deferred(.token), naming: "device"),
            Row(429, "QUOTA_EXCEEDED", .deferred(.token), naming: "topic"),
            Row(429, "QUOTA_EXCEEDED", .deferred(.service)),
            Row(429, "RESOURCE_EXHAUSTED", .deferred(.service)),
            Row(500, "INTERNAL", .deferred(.service)), Row(503, "UNAVAILABLE", .deferred(.service)),
            Row(502, "UNAVAILABLE", .deferred(.service)), Row(504, "DEADLINE_EXCEEDED", .deferred(.service)),
            // A service that is not well is believed nothing about a token.
            Row(500, "UNREGISTERED", .deferred(.service)),
            // Words that nobody has heard of.
            Row(400, "NEW_WORD", .rejected(.notification)), Row(403, "NEW_WORD", .laneStopped(.credentials)),
            Row(404, "NEW_WORD", .laneStopped(.credentials)), Row(405, "NEW_WORD", .rejected(.request)),
            Row(410, "NEW_WORD", .rejected(.notification)), Row(429, "NEW_WORD", .deferred(.service)),
            Row(501, "NEW_WORD", .deferred(.service)), Row(302, "NEW_WORD", .foreign),
            // Misdirected, by its own word.
            Row(421, "INVALID_ARGUMENT", .foreign),
        ]

    @Test("Each row, from the wire to the engine") func wire() async throws {
        let mock = try await MockFCMServer.start()
        let configuration = try FCMConnector.Configuration(mock)
        for row in Self.rows {
            mock.setScript([.request(MockAnswer(.rejected(row.rejection)))])
            let bench = try await FCMBench(FCMConnector(configuration))
            bench.handOut([try FCMSample.message(1, .firebaseToken)])
            #expect(await bench.untilAnswered(), "\(row)")
            let result = bench.result(1)
            #expect(result?.verdict == row.verdict, "\(row)")
            #expect(result?.status == row.status, "\(row)")
            #expect(result?.mayHaveBeenTaken == row.mayHaveBeenTaken, "\(row)")
            #expect(result?.reason?.rawValue == row.word, "\(row)")
            let wait: Duration? = row.status == 429 && row.verdict == .deferred(.service) ? .seconds(60) : nil
            #expect(result?.retryAfter == wait, "\(row)")
            await bench.finish()
        }
        try await mock.stop()
    }

    @Test("A success is confirmed") func success() async throws {
        let mock = try await MockFCMServer.start()
        let bench = try await FCMBench(FCMConnector(FCMConnector.Configuration(mock)))
        bench.handOut([try FCMSample.message(1)])
        #expect(await bench.untilAnswered())
        #expect(bench.result(1)?.verdict == .confirmed)
        #expect(mock.counters.accepted == 1)
        await bench.finish()
        try await mock.stop()
    }

    @Test("Answers that are not Google's settle nothing, but ask for patience where they say so")
    func foreign() async throws {
        let rows: [(status: Int, body: String, verdict: SendResult.Verdict)] = [
            (200, "", .foreign), (200, "<html>", .foreign), (200, "{}", .foreign), (404, "<html>", .foreign),
            (200, #"{"name":""}"#, .foreign), (200, #"{"name":"Hotel WLAN login"}"#, .foreign),
            (200, #"{"name":"projects/p/messages/1","error":{"code":503}}"#, .foreign),
            (200, #"{"name":"projects/p/messages/"}"#, .foreign),
            (200, #"{"name":"projects//messages/1"}"#, .foreign),
            (200, #"{"name":"projects/p/messages/1/2"}"#, .foreign),
            (200, #"{"name":"projects/p"}"#, .foreign), (200, #"{"name":"projects/"}"#, .foreign),
            (200, #"{"name":["projects/p/messages/1"]}"#, .foreign),
            (200, #"{"name":"projects/p/messages/1","name":"projects/p/messages/2"}"#, .foreign),
            (200, #"{"more":{},"name":"projects/p/messages/1"}"#, .confirmed),
            (403, "{\"error\":1}", .foreign), (401, "denied", .foreign), (400, "", .foreign),
            (429, "", .deferred(.service)), (503, "<html>", .deferred(.service)),
        ]
        let mock = try await MockFCMServer.start()
        let configuration = try FCMConnector.Configuration(mock)
        for row in rows {
            mock.setScript([.request(MockAnswer(.response(status: row.status, body: Array(row.body.utf8))))])
            let bench = try await FCMBench(FCMConnector(configuration))
            bench.handOut([try FCMSample.message(1)])
            #expect(await bench.untilAnswered(), "\(row)")
            #expect(bench.result(1)?.verdict == row.verdict, "\(row)")
            await bench.finish()
        }
        try await mock.stop()
    }

    @Test("The wait is Retry-After's, else that of Google's details, else a minute for a quota")
    func waits() {
        let details = #"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7.5s"}]}}"#
        let said = FCMAnswer(status: 429, body: Array(details.utf8), retryAfter: .seconds(9))
        #expect(SendResult(fcm: said).retryAfter == .seconds(9))
        let detailed = FCMAnswer(status: 429, body: Array(details.utf8))
        #expect(SendResult(fcm: detailed).retryAfter == .milliseconds(7500))
        #expect(SendResult(fcm: FCMAnswer(status: 429, errorCode: "QUOTA_EXCEEDED")).retryAfter == .seconds(60))
        #expect(SendResult(fcm: FCMAnswer(status: 503, errorCode: "UNAVAILABLE")).retryAfter == nil)
        let device = FCMAnswer(status: 429, errorCode: "QUOTA_EXCEEDED", subject: .target)
        #expect(SendResult(fcm: device).retryAfter == nil)
    }

    @Test("A bad token is told by the message where no field names it, as older answers have it")
    func olderAnswers() {
        let body =
            #"{"error":{"code":400,"message":"The registration token is not a valid FCM registration token","#
            + #""status":"INVALID_ARGUMENT","details":[{"errorCode":"INVALID_ARGUMENT"}]}}"#
        #expect(SendResult(fcm: FCMAnswer(status: 400, body: Array(body.utf8))).verdict == .rejected(.suspectToken))
        // Cut off, it is no word of Google's.
        let cut = FCMAnswer(status: 400, body: Array(body.utf8.dropLast()))
        #expect(SendResult(fcm: cut).verdict == .foreign)
    }

    @Test(
        "A target counts as unregistered only as Google says it: 404, with the word in FcmError",
        arguments: [403, 410])
    func unregisteredOtherwise(status: Int) {
        #expect(SendResult(fcm: FCMAnswer(status: status, errorCode: "UNREGISTERED")).verdict != .rejected(.token))
        #expect(SendResult(fcm: FCMAnswer(status: 404, code: "UNREGISTERED")).verdict == .laneStopped(.credentials))
        #expect(SendResult(fcm: FCMAnswer(status: 404, errorCode: "UNREGISTERED")).verdict == .rejected(.token))
    }

    @Test("Text that is no word is not repeated") func noWords() {
        let result = SendResult(fcm: FCMAnswer(status: 400, errorCode: "token abc is bad"))
        #expect(result.reason == .other && result.verdict == .rejected(.notification))
    }

    @Test("A refused access token is replaced once, and nothing is lost or counted; the second refusal stops the route")
    func unauthenticated() async throws {
        let mock = try await MockFCMServer.start()
        let connector = try FCMConnector(FCMConnector.Configuration(mock))
        let first = try await FCMBench(connector)
        mock.revokeAccessTokens()
        first.handOut([try FCMSample.message(1)])
        #expect(await first.untilAnswered())
        #expect(first.result(1)?.verdict == .neverProcessed(.newConnection))
        #expect(await first.untilEnded())
        let second = try await FCMBench(connector)
        #expect(mock.counters.tokens == 2)
        second.handOut([try FCMSample.message(1)])
        #expect(await second.untilAnswered())
        #expect(second.result(1)?.verdict == .confirmed)
        // That token was taken: when it is refused, another is fetched again.
        mock.revokeAccessTokens()
        mock.setTokenAnswer { _ in .useless }
        second.handOut([try FCMSample.message(2)])
        #expect(await second.untilEnded())
        #expect(second.result(2)?.verdict == .neverProcessed(.newConnection))
        let third = try await FCMBench(connector)
        third.handOut([try FCMSample.message(2)])
        #expect(await third.untilAnswered())
        #expect(third.result(1)?.verdict == .laneStopped(.credentials))
        for bench in [first, second, third] { await bench.finish() }
        try await mock.stop()
    }
}
