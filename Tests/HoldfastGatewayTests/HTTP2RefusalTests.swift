import Foundation
import HoldfastHTTP2
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/2: what is refused", .timeLimit(.minutes(1)))
struct HTTP2RefusalTests {
    private static let body = #"{"aps":{"alert":"Hi"}}"#

    struct Fault: Sendable, CustomTestStringConvertible {
        let reason: String
        let status: Int
        var method = "POST"
        var path = "/3/device/\(HTTP2World.token)"
        var topic: String? = HTTP2World.topic
        var more: [(String, String)] = []
        var body = HTTP2RefusalTests.body

        var testDescription: String { "\(reason) \(more) \(path.suffix(12)) \(topic ?? "-")" }

        var headers: [(String, String)] {
            [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
                + (topic.map { [("apns-topic", $0)] } ?? []) + more
        }
    }

    static let faults: [Fault] = [
        Fault(reason: "MethodNotAllowed", status: 405, method: "GET"),
        Fault(reason: "BadPath", status: 404, path: "/3/devices/\(HTTP2World.token)"),
        Fault(reason: "BadPath", status: 404, path: "/"),
        Fault(reason: "BadPath", status: 404, path: "/4/device/\(HTTP2World.token)"),
        Fault(reason: "MissingDeviceToken", status: 400, path: "/3/device/"),
        Fault(reason: "BadDeviceToken", status: 400, path: "/3/device/5a5"),
        Fault(reason: "BadDeviceToken", status: 400, path: "/3/device/5x"),
        Fault(reason: "BadDeviceToken", status: 400, path: "/3/device/" + String(repeating: "5a", count: 101)),
        Fault(reason: "BadMessageId", status: 400, more: [("apns-id", "1")]),
        Fault(reason: "BadPriority", status: 400, more: [("apns-priority", "9")]),
        Fault(reason: "BadPriority", status: 400, more: [("apns-priority", "+5")]),
        Fault(reason: "BadPriority", status: 400, more: [("apns-priority", "05")]),
        Fault(reason: "BadExpirationDate", status: 400, more: [("apns-expiration", "tomorrow")]),
        Fault(reason: "BadExpirationDate", status: 400, more: [("apns-expiration", "99999999999999999999")]),
        Fault(reason: "BadExpirationDate", status: 400, more: [("apns-expiration", "1000")]),
        Fault(reason: "TopicDisallowed", status: 400, topic: "com.example.other"),
        Fault(
            reason: "BadCollapseId", status: 400, more: [("apns-collapse-id", String(repeating: "c", count: 65))]),
        Fault(reason: "BadCollapseId", status: 400, more: [("apns-collapse-id", "c\u{FFFD}")]),
        Fault(reason: "InvalidPushType", status: 400, more: [("apns-push-type", "loud")]),
        Fault(reason: "PayloadEmpty", status: 400, body: ""),
        Fault(reason: "PayloadTooLarge", status: 413, body: #"{"a":"\#(String(repeating: "x", count: 4090))"}"#),
        Fault(reason: "PayloadTooLarge", status: 413, body: #"{"a":"\#(String(repeating: "x", count: 5200))"}"#),
        Fault(
            reason: "PayloadTooLarge", status: 413, more: [("apns-push-type", "voip")],
            body: #"{"a":"\#(String(repeating: "x", count: 5113))"}"#),
        Fault(reason: "PayloadTooLarge", status: 413, body: String(repeating: "x", count: 100_000)),
        Fault(reason: "PayloadNotJSON", status: 400, body: "Hi"),
        Fault(
            reason: "DuplicateHeaders", status: 400, more: [("apns-priority", "5"), ("apns-priority", "5")]),
        Fault(reason: "BadGuarantee", status: 400, more: [("holdfast-guarantee", "once")]),
        Fault(
            reason: "BadTokenRegistrationTime", status: 400, more: [("holdfast-token-registered-at", "yesterday")]),
    ]

    @Test(
        "A request that Apple would refuse is refused in Apple's words, and nothing of it is journaled",
        arguments: faults)
    func refuses(fault: Fault) async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(fault.headers, body: Array(fault.body.utf8))
            #expect(answer.reason == fault.reason)
            #expect(answer.status == fault.status)
            #expect(answer.id.flatMap { NotificationID($0) } != nil)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["retry-after"] == nil)
            #expect(world.journal.entries.isEmpty)
            // The connection goes on.
            let next = try await client.send(HTTP2World.request())
            #expect(next.status == 200)
        }
    }

    @Test("HEAD is refused without a body, which no answer to it may have")
    func head() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request().map { $0.0 == ":method" ? ($0.0, "HEAD") : $0 })
            #expect(answer.status == 405 && answer.body.isEmpty, "\(answer)")
        }
    }

    @Test("Without a topic it is the only one there is, and refused where there are several")
    func missingTopic() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request(topic: nil))
            #expect(answer.status == 200)
            #expect(world.journal.entries.map(\.notification.topic) == [HTTP2World.topic])
        }
        try await withHTTP2World(topics: [[HTTP2World.topic, "com.example.second"]]) { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request(topic: nil))
            #expect(answer.reason == "MissingTopic")
            #expect(answer.status == 400)
        }
        try await withHTTP2World(topics: [nil]) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request(topic: nil)).reason == "MissingTopic")
            #expect(try await client.send(HTTP2World.request(topic: "any.topic")).status == 200)
        }
    }

    @Test("One bad request of many that come at once is refused alone")
    func refusesOne() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let body = Array(Self.body.utf8)
            let answers = try await client.sendAll(
                (0..<200).map { number in
                    let topic = number == 100 ? "com.example.other" : HTTP2World.topic
                    return (HTTP2World.request(token: HTTP2World.token(number), topic: topic), body)
                })
            let statuses = try answers.map { try $0.get().status }
            #expect(statuses.filter { $0 == 200 }.count == 199)
            #expect(statuses[100] == 400)
            #expect(world.journal.entries.count == 199)
            try await eventually("the figures say so") {
                world.figures.accepted == 199 && world.figures.refused == ["TopicDisallowed": 1]
            }
        }
    }

    @Test("A full journal refuses what it would take at another time, and says when to come again")
    func fullJournal() async throws {
        let journal = InMemoryJournal()
        journal.limitEntries(to: 1)
        try await withHTTP2World(journal: journal, Change { $0.retryAfter = .seconds(7) }) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let answer = try await client.send(HTTP2World.request())
            #expect(answer.status == 503)
            #expect(answer.reason == "ServiceUnavailable")
            #expect(answer.headers["retry-after"] == "7")
            journal.limitEntries(to: nil)
            #expect(try await client.send(HTTP2World.request()).status == 200)
        }
    }

    @Test(
        "A journal that can't be written, or reached, makes 503, and no 200 for what is not on disk",
        arguments: [JournalError.Code.inputOutput, .unreachable])
    func failingJournal(code: JournalError.Code) async throws {
        let journal = InMemoryJournal()
        try await withHTTP2World(journal: journal) { world in
            journal.failWrites(with: JournalError(code, "the disk is gone"))
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request())
            #expect(answer.status == 503)
            #expect(answer.headers["retry-after"] == "10")
            #expect(world.journal.entries.isEmpty)
            journal.failWrites(with: nil)
        }
    }

    @Test("A journal that another host has taken makes 503, so that the sender comes again")
    func lostJournal() async throws {
        let journal = InMemoryJournal()
        try await withHTTP2World(journal: journal) { world in
            let next = journal.takenOver()
            let client = try await world.client()
            for _ in 0..<2 {
                let answer = try await client.send(HTTP2World.request())
                #expect(answer.status == 503)
                #expect(answer.headers["retry-after"] == "10")
            }
            #expect(next.entries.isEmpty)
        }
    }

    @Test("A request whose commit fails at its sync gets no answer, and its connection ends")
    func undetermined() async throws {
        let journal = InMemoryJournal()
        try await withHTTP2World(journal: journal) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            journal.breakNextCommit(leaving: .all)
            let answers = try await client.sendAll([(HTTP2World.request(), Array(Self.body.utf8))])
            // Required: behind an answer there is no end to wait for.
            try #require(throws: ClientFailure.closed) { try answers[0].get() }
            try await client.untilClosed()
            #expect(try await client.goAways.first?.code.rawValue == 2)
            #expect(world.figures.unanswered == 1)
        }
    }

    @Test("Beyond the rate requests are told to come again")
    func rate() async throws {
        try await withHTTP2World(Change { $0.rate = RateLimit(perSecond: 0.01, burst: 3) }) { world in
            let client = try await world.client()
            let answers = try await client.sendAll(
                (0..<5).map { (HTTP2World.request(token: HTTP2World.token($0)), Array(Self.body.utf8)) })
            let statuses = try answers.map { try $0.get().status }
            #expect(statuses.sorted() == [200, 200, 200, 429, 429])
            let refused = try answers[4].get()
            #expect(refused.reason == "TooManyRequests")
            let pause = try #require(refused.headers["retry-after"].flatMap { Int($0) })
            #expect((50...101).contains(pause))
            #expect(world.journal.entries.count == 3)
        }
    }
}
