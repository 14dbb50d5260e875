import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/2: what is taken", .timeLimit(.minutes(1)))
struct HTTP2AcceptTests {
    @Test("A request is mapped, committed and answered 200 with its apns-id")
    func accepts() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let id = "123E4567-e89b-12d3-a456-4266554400a0"
            let answer = try await client.send(
                HTTP2World.request([
                    ("apns-id", id), ("apns-push-type", "alert"), ("apns-priority", "5"),
                    ("apns-expiration", "4000000000"), ("apns-collapse-id", "c1"),
                    ("holdfast-token-registered-at", "2026-11-21T01:24:38Z"), ("user-agent", "test"),
                ]), body: Array(#"{"aps":{"alert":"Grüße"}}"#.utf8))
            #expect(answer.status == 200)
            #expect(answer.id == id)
            #expect(answer.body.isEmpty)

            let entries = world.journal.entries.map(\.notification)
            try #require(entries.count == 1)
            let entry = entries[0]
            #expect(entry.id == NotificationID(id))
            #expect(entry.recipient.text == HTTP2World.token)
            #expect(entry.topic == HTTP2World.topic)
            #expect(entry.pushType == .alert)
            #expect(entry.priority == .considerate)
            #expect(entry.expiration == .at(4_000_000_000))
            #expect(entry.collapseID == "c1")
            #expect(entry.tokenRegisteredAt == Timestamp.parse("2026-11-21T01:24:38Z"))
            #expect(entry.payload == Array(#"{"aps":{"alert":"Grüße"}}"#.utf8))
        }
    }

    @Test("Without an expiration none goes to the service, and it is tried for a day")
    func noExpiration() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let start = EngineClock.system.wall().seconds
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let entry = try #require(world.journal.entries.first?.notification)
            #expect(entry.expiration?.unixSeconds == nil)
            let day = start + 86_400
            #expect((day...day + 60).contains(entry.expiration?.deadline ?? 0))
        }
    }

    @Test(
        "An expiration of 0 is not stored by the service, and tried for an hour unless one attempt is asked for",
        arguments: [.seconds(3600), .seconds(60), .zero] as [Duration])
    func unstored(lifetime: Duration) async throws {
        try await withHTTP2World(Change { $0.unstoredLifetime = lifetime }) { world in
            let client = try await world.client()
            let now = EngineClock.system.wall().seconds
            for more in [
                [("apns-expiration", "0")], [("apns-expiration", "0"), ("holdfast-guarantee", "at-least-once")],
                [("apns-expiration", "0"), ("holdfast-guarantee", "at-most-once")],
                [("apns-expiration", "4000000000"), ("holdfast-guarantee", "at-most-once")],
            ] {
                #expect(try await client.send(HTTP2World.request(more)).status == 200)
            }
            let entries = world.journal.entries.map(\.notification)
            try #require(entries.count == 4)
            #expect(entries[2].expiration == .once)
            #expect(entries[3].expiration == .at(4_000_000_000) && entries[3].guarantee == .atMostOnce)
            for entry in entries.prefix(2) {
                #expect(entry.guarantee == .atLeastOnce)
                guard case .unstored(let until)? = entry.expiration else {
                    #expect(lifetime == .zero && entry.expiration == .once)
                    continue
                }
                #expect((0...60).contains(until - now - lifetime.components.seconds))
            }
        }
    }

    @Test("What differs from the request before in one field has its own value of it")
    func differs() async throws {
        let fields = [
            ("apns-push-type", ["alert", "voip"]), ("apns-priority", ["10", "5"]), ("apns-collapse-id", ["a", "b"]),
            ("apns-expiration", ["4000000000", "4000000001"]), ("apns-topic", ["com.example.app", "com.example.two"]),
        ]
        try await withHTTP2World(topics: [["com.example.app", "com.example.two"]]) { world in
            let client = try await world.client()
            var expected: [[String]] = []
            for (changed, _) in fields {
                for value in 0..<2 {
                    let values = fields.map { $0.1[$0.0 == changed ? value : 0] }
                    let more = zip(fields, values).map { ($0.0, $1) }
                    #expect(try await client.send(HTTP2World.request(topic: nil, more)).status == 200)
                    expected.append(values)
                }
            }
            let entries = world.journal.entries.map(\.notification)
            #expect(
                entries.map { entry in
                    [
                        entry.pushType?.rawValue, entry.priority.map { "\($0.rawValue)" }, entry.collapseID,
                        entry.expiration?.unixSeconds.map { "\($0)" }, entry.topic,
                    ].map { $0 ?? "none" }
                } == expected)
        }
    }

    @Test("A request without an apns-id is given one, which the notification keeps")
    func assignsIDs() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let first = try await client.send(HTTP2World.request())
            let second = try await client.send(HTTP2World.request())
            #expect(first.status == 200)
            #expect(second.status == 200)
            #expect(first.id != second.id)
            #expect(world.journal.entries.compactMap { $0.notification.id?.description } == [first.id, second.id])
        }
    }
}
