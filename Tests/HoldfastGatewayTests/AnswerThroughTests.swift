import Foundation
import HoldfastAPNsAnswers
import HoldfastTesting
import NIOCore
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Requests that wait for what becomes of their notifications.
@Suite("HTTP/2: answers of the push service through the gateway", .timeLimit(.minutes(1)))
struct AnswerThroughTests {
    private static var waits: Change<HTTP2IngressConfiguration> { Change { $0.answerWait = .seconds(20) } }
    private static let outcome = "holdfast-outcome"

    private static func answering(_ result: SendResult) -> InMemoryConnector.Answer { { _ in result } }

    @Test("A request that waits is answered when the push service has taken its notification")
    func confirmed() async throws {
        try await withHTTP2World(delivers: true, Self.waits) { world in
            let answer = try await world.client().send(HTTP2World.request())
            #expect(answer.status == 200 && answer.headers[Self.outcome] == "confirmed")
            #expect(answer.id == world.connector.sent.first?.id?.description)
            #expect(world.figures.told == ["confirmed": 1] && world.figures.accepted == 1)
        }
    }

    @Test(
        "Status, reason and timestamp are the push service's own",
        arguments: [
            SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(milliseconds: 1_700_000_000_123)),
            SendResult(apnsStatus: 410, reason: "ExpiredToken", timestamp: WallTime(milliseconds: 1_700_000_000_456)),
            SendResult(apnsStatus: 413, reason: "PayloadTooLarge"),
            SendResult(apnsStatus: 400, reason: "BadCollapseId"),
        ])
    func rejected(result: SendResult) async throws {
        try await withHTTP2World(delivers: true, answer: Self.answering(result), Self.waits) { world in
            let answer = try await world.client().send(HTTP2World.request([("apns-id", Self.id)]))
            #expect(answer.status == result.status && answer.reason == result.reason?.rawValue)
            #expect(answer.timestamp == result.timestamp?.milliseconds)
            #expect(answer.headers[Self.outcome] == "rejected" && answer.id == Self.id)
            #expect(answer.headers["retry-after"] == nil)
            #expect(world.journal.rejections.count == 1)
        }
    }

    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    @Test("The service's apns-unique-id comes with the answer")
    func uniqueID() async throws {
        var result = SendResult.confirmed
        result.uniqueID = "4e9a0c1e"
        try await withHTTP2World(delivers: true, answer: Self.answering(result), Self.waits) { world in
            let answer = try await world.client().send(HTTP2World.request())
            #expect(answer.status == 200 && answer.headers["apns-unique-id"] == "4e9a0c1e")
        }
    }

    @Test("A token that is called bad is told when it is convicted, and not before")
    func suspect() async throws {
        let bad = HTTP2World.token(7)
        let answer: InMemoryConnector.Answer = { notification in
            Hex.string(notification.token?.bytes ?? []) == bad
                ? SendResult(apnsStatus: 400, reason: "BadDeviceToken") : .confirmed
        }
        try await withHTTP2World(delivers: true, answer: answer, Self.waits) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let told = try await client.send(HTTP2World.request(token: bad))
            #expect(told.status == 400 && told.reason == "BadDeviceToken" && told.headers[Self.outcome] == "rejected")
            #expect(world.engine.blacklist.count == 1)
        }
    }

    @Test("When the time is over the answer is 200, and says that it is accepted")
    func timeOver() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request([("holdfast-answer", "wait=50ms")]))
            #expect(answer.status == 200 && answer.headers[Self.outcome] == "accepted")
            #expect(world.journal.entries.count == 1)
            #expect(world.figures.told == ["accepted": 1])
        }
    }

    @Test("What is not to be known is 200: expired and withdrawn notifications, and ones of unknown fate")
    func ended() async throws {
        try await withHTTP2World(delivers: true, answer: Self.answering(.unknown("gone")), Self.waits) { world in
            let client = try await world.client()
            let unknown = try await client.send(HTTP2World.request([("holdfast-guarantee", "at-most-once")]))
            #expect(unknown.status == 200 && unknown.headers[Self.outcome] == "unknown")
        }
    }

    @Test("Without configuration and header an answer is Apple's to the byte, and a header asks for more")
    func plain() async throws {
        try await withHTTP2World(delivers: true) { world in
            let client = try await world.client()
            let names = Set(try await client.send(HTTP2World.request()).headers.keys)
            #expect(names.subtracting([":status"]) == ["apns-id"])
            let waited = try await client.send(HTTP2World.request([("holdfast-answer", "wait=20s")]))
            #expect(waited.headers[Self.outcome] == "confirmed")
        }
    }

    @Test("A header turns the waiting off, and refusals say what they are")
    func accepted() async throws {
        try await withHTTP2World(Self.waits) { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request([("holdfast-answer", "accepted")]))
            #expect(answer.status == 200 && answer.headers[Self.outcome] == "accepted")
            let refused = try await client.send(HTTP2World.request(token: "zz"))
            #expect(refused.status == 400 && refused.headers[Self.outcome] == "refused")
        }
    }

    @Test(
        "A wrong holdfast-answer is refused with a word that names it, and nothing is on disk",
        arguments: [
            "", "wait", "wait=", "wait=0s", "wait=-1s", "wait=61s", "wait=60001ms", "wait=2h", "wait=2 s",
            "Wait=2s", "later", "wait=99999999999999999999s", "wait=1s, accepted",
        ])
    func wrong(text: String) async throws {
        try await withHTTP2World { world in
            let answer = try await world.client().send(HTTP2World.request([("holdfast-answer", text)]))
            #expect(answer.status == 400 && answer.reason == "BadHoldfastAnswer")
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test(
        "A wait is written as durations of the configuration are",
        arguments: ["wait=1ms", "wait=1", "wait=1s", "wait=1m"])
    func durations(text: String) throws {
        let wanted: [String: Duration] = [
            "wait=1ms": .milliseconds(1), "wait=1": .seconds(1), "wait=1s": .seconds(1), "wait=1m": .seconds(60),
        ]
        #expect(AnswerMode(header: text) == .wait(try #require(wanted[text])))
    }

    @Test("A request that waits holds up no other of its connection, however many come")
    func neighbours() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            async let waiting = client.send(HTTP2World.request([("holdfast-answer", "wait=60s")]))
            try await eventually("it waits") { world.journal.entries.count == 1 }
            // More than a connection's table of streams has places for.
            for round in 0..<12 {
                let requests = (0..<400).map { number in
                    (headers: HTTP2World.request(token: HTTP2World.token(round * 400 + number)), body: Self.body)
                }
                for answer in try await client.sendAll(requests) { #expect(try answer.get().status == 200) }
            }
            // An orderly end answers it, too, at once.
            world.task.cancel()
            let last = try await waiting
            #expect(last.status == 200 && last.headers[Self.outcome] == "accepted")
        }
    }

    private static let body = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    @Test("When all streams wait, the oldest make room after a quarter of their time")
    func full() async throws {
        try await withHTTP2World(Change { ($0.streams, $0.answerWait) = (4, .seconds(2)) }) { world in
            let client = try await world.client()
            let began = ContinuousClock.now
            let requests = (0..<4).map { (headers: HTTP2World.request(token: HTTP2World.token($0)), body: Self.body) }
            async let answers = client.sendAll(requests)
            try await eventually("they wait") { world.journal.entries.count == 4 }
            try await eventually("one made room") { world.figures.told["accepted"] == 1 }
            #expect(ContinuousClock.now - began < .milliseconds(1900))
            for answer in try await answers { #expect(try answer.get().headers[Self.outcome] == "accepted") }
        }
    }

    @Test("A sender that goes away while it waits loses nothing")
    func gone() async throws {
        try await withHTTP2World(Self.waits) { world in
            let client = try await world.client()
            async let answer = client.sendAll([(headers: HTTP2World.request(), body: Self.body)])
            try await eventually("it is on disk") { world.journal.entries.count == 1 }
            try await client.close()
            _ = try await answer
            try await eventually("it is counted") { world.figures.unanswered == 1 }
            #expect(world.journal.entries.count == 1)
        }
    }

    @Test("Beyond the limit of requests that wait, further ones are answered when they are on disk")
    func room() async throws {
        try await withHTTP2World(Change { ($0.waiting, $0.answerWait) = (2, .seconds(1)) }) { world in
            let client = try await world.client()
            let requests = (0..<5).map { (headers: HTTP2World.request(token: HTTP2World.token($0)), body: Self.body) }
            async let answers = client.sendAll(requests)
            try await eventually("three are told at once") { world.figures.told["accepted"] == 3 }
            for answer in try await answers { #expect(try answer.get().status == 200) }
        }
    }

    @Test("Where no outcomes are kept nobody waits")
    func withoutHistory() async throws {
        try await withHTTP2World(delivers: true, Self.waits, engine: Change { $0.history = .none }) { world in
            let answer = try await world.client().send(HTTP2World.request())
            #expect(answer.status == 200 && answer.headers[Self.outcome] == "accepted")
        }
    }

    @Test("A repeat that comes while the first one waits is told the same")
    func repeated() async throws {
        let silent: InMemoryConnector.Answer = { _ in nil }
        try await withHTTP2World(delivers: true, answer: silent, Self.waits) { world in
            let (first, second) = (try await world.client(), try await world.client())
            async let one = first.send(HTTP2World.request([("apns-id", Self.id)]))
            try await eventually("it is out") { world.connector.sent.count == 1 }
            async let other = second.send(HTTP2World.request([("apns-id", Self.id)]))
            try await eventually("it has come again") { world.figures.repeated == 1 }
            world.connector.answerWaiting { _ in SendResult(apnsStatus: 413, reason: "PayloadTooLarge") }
            let answers = [try await one, try await other]
            #expect(answers.map(\.status) == [413, 413])
            #expect(world.connector.sent.count == 1)
        }
    }

    @Test("Waits are over in the order of their ends, and streams that wait long make room only where all are taken")
    func waits() {
        var waits = AnswerWaits()
        let start = NIODeadline.uptimeNanoseconds(1)
        func request(_ streamID: UInt32) -> AnswerWaits.Request {
            AnswerWaits.Request(streamID: streamID, id: NotificationID(), idText: nil, form: .device)
        }
        for streamID in [1, 3, 5, 7] as [UInt32] { waits.begin(request(streamID), for: .seconds(4), at: start) }
        waits.begin(request(9), for: .seconds(1), at: start)
        func over(_ milliseconds: Int64, isFull: Bool) -> [UInt32] {
            waits.look(at: start + .milliseconds(milliseconds), isFull: isFull, streams: 4).map(\.streamID)
        }
        #expect(over(900, isFull: false) == [])
        #expect(over(1000, isFull: false) == [9])
        #expect(over(2000, isFull: true) == [1])
        let (once, twice) = (waits.end(3), waits.end(3))
        #expect(once?.streamID == 3 && twice == nil)
        #expect(over(4000, isFull: false) == [5, 7])
        #expect(waits.nextLook == nil && waits.count == 0)
    }
}
