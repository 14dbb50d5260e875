import Foundation
import HoldfastFCM
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("Google's interface: messages", .timeLimit(.minutes(1)))
struct GoogleMessageTests {
    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    @Test("A message is on disk before its 200, for its target and project, and its name is its id")
    func accepts() async throws {
        try await Google.world { world in
            let client = try await world.client()
            let answer = try await client.send(
                Google.request([
                    ("holdfast-tag", "campaign-7"), ("holdfast-context", "order 12"), ("x-goog-api-client", "gccl/7"),
                ]),
                body: Google.message(
                    #""token":"device-1", "notification" : {"title":"Gr\u00fc\u00dfe"}, "android":{"ttl":"3600s","priority":"high"}"#
                ))
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json; charset=UTF-8")
            #expect(answer.headers["holdfast-outcome"] == nil)
            let entry = try #require(world.journal.entries.first?.notification)
            #expect(answer.name == Google.name + (entry.id?.description ?? ""))
            #expect(entry.recipient.serviceAddress?.kind == .firebaseToken && entry.recipient.text == "device-1")
            #expect(entry.topic == Google.project && entry.priority == .immediate && entry.pushType == nil)
            #expect(
                String(decoding: entry.payload, as: UTF8.self)
                    == #"{"notification":{"title":"Grüße"},"android":{"ttl":"3600s","priority":"high"}}"#)
            #expect(entry.tag == Array("campaign-7".utf8) && entry.context == Array("order 12".utf8))
            let left = (entry.expiration?.unixSeconds ?? 0) - EngineClock.system.wall().seconds
            #expect((3590...3600).contains(left))
            #expect(world.figures.accepted == 1)
        }
    }

    @Test(
        "Each kind of target is one of its own",
        arguments: [
            ("fid", ServiceAddress.Kind.firebaseInstallation), ("token", .firebaseToken), ("topic", .firebaseTopic),
            ("condition", .firebaseCondition),
        ])
    func targets(name: String, kind: ServiceAddress.Kind) async throws {
        try await Google.world { world in
            let answer = try await world.client().send(
                Google.request(), body: Google.message(#""\#(name)":"abc","data":{"a":"b"}"#))
            #expect(answer.status == 200)
            #expect(world.journal.entries.first?.notification.recipient == .service(try ServiceAddress(kind, "abc")))
        }
    }

    @Test("A ttl of 0 is not to be stored, and tried for a while all the same")
    func unstored() async throws {
        try await Google.world { world in
            let client = try await world.client()
            let body = Google.message(#""token":"a","android":{"ttl":"0s"}"#)
            #expect(try await client.send(Google.request(), body: body).status == 200)
            let once = try await client.send(Google.request([("holdfast-guarantee", "at-most-once")]), body: body)
            #expect(once.status == 200)
            guard case .unstored? = world.journal.entries.first?.notification.expiration else {
                return #expect(Bool(false), "it is \(String(describing: world.journal.entries.first))")
            }
            #expect(world.journal.entries.last?.notification.expiration == .once)
        }
    }

    @Test(
        "What is wrong is said in Google's words",
        arguments: [
            (#"{"message":"#, "", "INVALID_ARGUMENT"), ("[]", "", "INVALID_ARGUMENT"),
            (#"{"validate_only":true}"#, "message", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a"},"messages":[]}"#, "", "INVALID_ARGUMENT"),
            (#"{"message":{"notification":{}}}"#, "message", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a","topic":"b"}}"#, "message", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a","token":"b"}}"#, "message", "INVALID_ARGUMENT"),
            (#"{"message":{"token":7}}"#, "message.token", "INVALID_ARGUMENT"),
            (#"{"message":{"token":""}}"#, "message.token", "INVALID_ARGUMENT"),
            (#"{"message":{"topic":"/topics/news"}}"#, "message.topic", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a","data":{"n":1}}}"#, "message.data", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a","notification":"Hi"}}"#, "message.notification", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"a","android":{"ttl":"1h"}}}"#, "message.android.ttl", "INVALID_ARGUMENT"),
            (
                #"{"message":{"token":"a","android":{"priority":"urgent"}}}"#, "message.android.priority",
                "INVALID_ARGUMENT"
            ),
        ])
    func malformed(body: String, field: String, word: String) async throws {
        try await Google.world { world in
            let answer = try await world.client().send(Google.request(), body: Array(body.utf8))
            let error = GoogleAnswer(answer)
            #expect(answer.status == 400 && error.code == 400 && error.status == "INVALID_ARGUMENT", "\(answer)")
            #expect(error.errorCode == word && error.field ?? "" == field, "\(answer.body)")
            #expect(error.message?.isEmpty == false)
            #expect(world.journal.entries.isEmpty && world.figures.refused == [word: 1])
        }
    }

    @Test("Of two lengths, the greatest there is is taken, however it is written, and one byte more is too big")
    func size() async throws {
        try await Google.world { world in
            let client = try await world.client()
            let room = FCMConnector.payloadLimit - #"{"data":{"a":""}}"#.utf8.count
            // Cyrillic, as Python writes it: six bytes for two.
            let text = String(repeating: #"\u0436"#, count: room / 2)
            let last = room % 2 == 1 ? "x" : ""
            let greatest = Google.message(#""token":"t","data":{"a":"\#(text)\#(last)"}"#)
            #expect(try await client.send(Google.request(), body: greatest).status == 200)
            #expect(world.journal.entries.first?.notification.payload.count == FCMConnector.payloadLimit)
            for more in ["y", String(repeating: "y", count: 20_000)] {
                let answer = try await client.send(
                    Google.request(), body: Google.message(#""token":"t","data":{"a":"\#(text)\#(last)\#(more)"}"#))
                #expect(answer.status == 400 && GoogleAnswer(answer).message?.hasPrefix("Message is too big") ?? false)
            }
            #expect(world.journal.entries.count == 1)
        }
    }

    @Test("holdfast-id makes a repeat known; without it each is one of its own")
    func repeats() async throws {
        try await Google.world { world in
            for spaces in ["", "  "] {
                let client = try await world.client()
                let answer = try await client.send(
                    Google.request([("holdfast-id", Self.id)]),
                    body: Google.message(#""token":"a",\#(spaces)"data":{}"#))
                #expect(answer.status == 200 && answer.name == Google.name + Self.id)
            }
            #expect(world.journal.entries.count == 1 && world.figures.repeated == 1)
            let client = try await world.client()
            for _ in 0..<2 { _ = try await client.send(Google.request(), body: Google.message()) }
            #expect(world.journal.entries.count == 3)
            let bad = try await client.send(Google.request([("holdfast-id", "x")]), body: Google.message())
            #expect(bad.status == 400 && GoogleAnswer(bad).message?.contains("holdfast-id") ?? false)
        }
    }

    @Test("holdfast-id on a request of Apple's form is refused, and not passed over")
    func notForApple() async throws {
        try await withHTTP2World { world in
            let answer = try await world.client().send(HTTP2World.request([("holdfast-id", Self.id)]))
            #expect(answer.status == 400 && answer.reason == "UnknownHoldfastHeader")
        }
    }

    @Test("A message that is only to be checked is checked, and not on disk")
    func validates() async throws {
        try await Google.world { world in
            let client = try await world.client()
            for key in ["validate_only", "validateOnly"] {
                let answer = try await client.send(
                    Google.request(), body: Array(#"{"\#(key)":true,"message":{"token":"a"}}"#.utf8))
                #expect(answer.status == 200 && answer.name == Google.name + "fake_message_id")
            }
            let bad = try await client.send(
                Google.request([("holdfast-deliver-after", "4000000000")]),
                body: Array(#"{"validate_only":true,"message":{"token":"a"}}"#.utf8))
            #expect(bad.status == 400)
            let served = try await client.send(
                Google.request(project: "another-project"),
                body: Array(#"{"validate_only":true,"message":{"token":"a"}}"#.utf8))
            #expect(served.status == 404)
            #expect(world.journal.entries.isEmpty && world.figures.accepted == 0)
        }
    }

    @Test("A project without a route, and another path, are not found")
    func notFound() async throws {
        try await Google.world { world in
            let client = try await world.client()
            let other = try await client.send(Google.request(project: "another-project"), body: Google.message())
            #expect(other.status == 404 && GoogleAnswer(other).status == "NOT_FOUND")
            #expect(GoogleAnswer(other).errorCode == nil)
            for path in [
                "/v1/projects/demo-project/messages", "/v1/projects//messages:send", "/v1/projects/A/messages:send",
            ] {
                var request = Google.request()
                request[2].1 = path
                #expect(try await client.send(request, body: Google.message()).status == 404)
            }
            var get = Google.request()
            get[0].1 = "GET"
            #expect(try await client.send(get, body: []).status == 404)
            // As Google's own clients of the interface write it.
            var query = Google.request()
            query[2].1 += "?alt=json&prettyPrint=false"
            #expect(try await client.send(query, body: Google.message()).status == 200)
        }
    }

    @Test("A message to a route of Apple's is refused, and a device's notification to Google's, too")
    func wrongRoute() async throws {
        try await withHTTP2World(topics: [nil]) { world in
            let answer = try await world.client().send(Google.request(), body: Google.message())
            #expect(answer.status == 404 && GoogleAnswer(answer).status == "NOT_FOUND")
        }
        try await Google.world { world in
            let answer = try await world.client().send(HTTP2World.request(topic: Google.project))
            #expect(answer.status == 400 && answer.reason == "RecipientUnsupported")
        }
    }

    @Test("A full journal, and one that fails, are 429 with a time to come again, and never 503")
    func full() async throws {
        let journal = InMemoryJournal()
        journal.limitEntries(to: 1)
        try await Google.world(journal: journal, Change { $0.retryAfter = .seconds(7) }) { world in
            let client = try await world.client()
            #expect(try await client.send(Google.request(), body: Google.message()).status == 200)
            let answer = try await client.send(Google.request(), body: Google.message())
            #expect(answer.status == 429 && answer.headers["retry-after"] == "7")
            let error = GoogleAnswer(answer)
            #expect(error.status == "RESOURCE_EXHAUSTED" && error.errorCode == "QUOTA_EXCEEDED")
            journal.limitEntries(to: nil)
            journal.failWrites(with: JournalError(.inputOutput, "the disk is gone"))
            let failed = try await client.send(Google.request(), body: Google.message())
            #expect([429, 504].contains(failed.status), "\(failed)")
        }
    }

    @Test("Where a commit's end is not known, the answer says so, by a status that no library repeats")
    func undetermined() async throws {
        let journal = InMemoryJournal()
        try await Google.world(journal: journal) { world in
            journal.breakNextCommit(leaving: .all)
            let answer = try await world.client().send(Google.request(), body: Google.message())
            #expect(answer.status == 504 && GoogleAnswer(answer).status == "DEADLINE_EXCEEDED", "\(answer)")
            #expect(world.figures.unanswered == 1)
        }
    }

    @Test("Beyond the rate it is 429")
    func rate() async throws {
        try await Google.world(Change { $0.rate = RateLimit(perSecond: 0.01, burst: 1) }) { world in
            let client = try await world.client()
            #expect(try await client.send(Google.request(), body: Google.message()).status == 200)
            let answer = try await client.send(Google.request(), body: Google.message())
            #expect(answer.status == 429 && answer.headers["retry-after"] != nil)
            #expect(GoogleAnswer(answer).errorCode == "QUOTA_EXCEEDED")
        }
    }
}

/// What a sender is told of its target, and of what the service said.
@Suite("Google's interface: the service's own answer", .timeLimit(.minutes(1)))
struct GoogleAnswerTests {
    private static var waits: Change<HTTP2IngressConfiguration> { Change { $0.answerWait = .seconds(20) } }

    @Test("A confirmed message is told so")
    func confirmed() async throws {
        try await Google.world(delivers: true, Self.waits) { world in
            let answer = try await world.client().send(Google.request(), body: Google.message())
            #expect(answer.status == 200 && answer.headers["holdfast-outcome"] == "confirmed")
            #expect(answer.name?.hasPrefix(Google.name) ?? false)
        }
    }

    @Test("A target that the service does not know is 404 UNREGISTERED, then from the blacklist")
    func unregistered() async throws {
        let answer: InMemoryConnector.Answer = { _ in
            SendResult(fcm: FCMAnswer(status: 404, errorCode: "UNREGISTERED", code: "NOT_FOUND"))
        }
        try await Google.world(delivers: true, answer: answer) { world in
            let client = try await world.client()
            let first = try await client.send(
                Google.request([("holdfast-answer", "wait=20s")]), body: Google.message())
            #expect(first.status == 404 && first.headers["holdfast-outcome"] == "rejected", "\(first)")
            #expect(GoogleAnswer(first).errorCode == "UNREGISTERED" && GoogleAnswer(first).status == "NOT_FOUND")
            let sent = world.connector.sent.count
            let next = try await client.send(Google.request(), body: Google.message())
            #expect(next.status == 404 && GoogleAnswer(next).errorCode == "UNREGISTERED")
            let check = try await client.send(
                Google.request(), body: Array(#"{"validate_only":true,"message":{"token":"device-1"}}"#.utf8))
            #expect(check.status == 404 && GoogleAnswer(check).errorCode == "UNREGISTERED")
            #expect(world.connector.sent.count == sent && world.figures.refused["UNREGISTERED"] == 2)
        }
    }

    @Test(
        "Status and word are the service's own, but for a status that would bring the message again",
        arguments: [
            (FCMAnswer(status: 400, errorCode: "INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), 400, "INVALID_ARGUMENT"),
            (
                FCMAnswer(status: 401, errorCode: "THIRD_PARTY_AUTH_ERROR", code: "UNAUTHENTICATED"), 400,
                "UNAUTHENTICATED"
            ),
        ])
    func rejected(answer: FCMAnswer, status: Int, code: String) async throws {
        let says: InMemoryConnector.Answer = { _ in SendResult(fcm: answer) }
        try await Google.world(delivers: true, answer: says, Self.waits) { world in
            let told = try await world.client().send(Google.request(), body: Google.message())
            #expect(told.status == status && GoogleAnswer(told).status == code, "\(told)")
            #expect(GoogleAnswer(told).errorCode == answer.errorCode)
            #expect(told.headers["holdfast-outcome"] == "rejected" && told.headers["retry-after"] == nil)
        }
    }
}
