import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Header fields of Holdfast's own that few requests have.
@Suite("HTTP/2: a label, a name, a time, hours, data and newest wins", .timeLimit(.minutes(1)))
struct HTTP2ChoicesTests {
    @Test("Each reaches the notification")
    func accepts() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let context = #"{"order":"# + String(repeating: "é", count: 2000) + "}"
            let answer = try await client.send(
                HTTP2World.request([
                    ("apns-collapse-id", "score"), ("holdfast-tag", "spring \u{2600}"), ("holdfast-producer", "news"),
                    ("holdfast-deliver-after", "2027-01-15T10:00:00+02:00"),
                    ("holdfast-deliver-within", "22:00-06:30 America/New_York"), ("holdfast-context", context),
                    ("holdfast-newest-wins", "true"), ("holdfast-guarantee", "at-most-once"),
                ]))
            #expect(answer.status == 200)
            let scheduled = try await client.send(
                HTTP2World.request([("holdfast-deliver-after", "\(EngineClock.system.wall().seconds + 3600)")]))
            #expect(scheduled.status == 200)
            #expect(world.journal.scheduledCount >= 1)
            let entry = try #require(world.journal.entries.map(\.notification).first { !$0.context.isEmpty })
            #expect(entry.tag == Array("spring \u{2600}".utf8))
            #expect(entry.deliverAfter == WallTime(seconds: 1_800_000_000))
            #expect(entry.deliveryHours?.description == "22:00-06:30 America/New_York")
            #expect(entry.context == Array(context.utf8))
            #expect(entry.newestWins)
            #expect(entry.guarantee == .atMostOnce)
            #expect(try world.engine.producers().first { $0.name == "news" }?.totals.accepted == 1)
            #expect(try world.engine.producers().first { $0.name == "gateway-http2" }?.totals.accepted == 1)
        }
    }

    @Test(
        "A wrong value is 400, and the reason says which field has it",
        arguments: [
            ("holdfast-tag", "", "BadHoldfastTag"), ("holdfast-tag", "\u{FFFD}", "BadHoldfastTag"),
            ("holdfast-producer", "", "BadHoldfastProducer"), ("holdfast-producer", "né", "BadHoldfastProducer"),
            ("holdfast-producer", String(repeating: "p", count: 65), "BadHoldfastProducer"),
            ("holdfast-producer", "gateway-binary", "BadHoldfastProducer"),
            ("holdfast-deliver-after", "", "BadHoldfastDeliverAfter"),
            ("holdfast-deliver-after", "-1", "BadHoldfastDeliverAfter"),
            ("holdfast-deliver-after", "99999999999999999999", "BadHoldfastDeliverAfter"),
            ("holdfast-deliver-after", "1900000000000", "BadHoldfastDeliverAfter"),
            ("holdfast-deliver-after", "2027-02-30T00:00:00Z", "BadHoldfastDeliverAfter"),
            ("holdfast-deliver-within", "09:00-09:00 UTC", "BadHoldfastDeliverWithin"),
            ("holdfast-deliver-within", "9-18", "BadHoldfastDeliverWithin"),
            ("holdfast-context", "", "BadHoldfastContext"), ("holdfast-context", "a\u{1}b", "BadHoldfastContext"),
            ("holdfast-context", "a\tb", "BadHoldfastContext"), ("holdfast-context", "a\u{7F}b", "BadHoldfastContext"),
            ("holdfast-deliver-afer", "4000000000", "UnknownHoldfastHeader"),
            ("holdfast-", "", "UnknownHoldfastHeader"),
            ("holdfast-token-registered-at", "2060-01-01T00:00:00Z", "BadTokenRegistrationTime"),
            ("holdfast-token-registered-at", "1795300000000", "BadTokenRegistrationTime"),
            ("holdfast-newest-wins", "1", "BadHoldfastNewestWins"),
            // Without a collapse id.
            ("holdfast-newest-wins", "true", "BadHoldfastNewestWins"),
        ])
    func refuses(_ name: String, _ value: String, _ reason: String) async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request([(name, value)]))
            #expect(answer.status == 400)
            #expect(answer.reason == reason)
            let twice = try await client.send(HTTP2World.request([(name, "a"), (name, "a")]))
            #expect(twice.status == 400)
            #expect(world.journal.nextUID == UID(1))
        }
    }

    @Test("A field that is there twice is refused, whichever it is")
    func twice() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            for (name, value) in [
                ("holdfast-tag", "a"), ("holdfast-producer", "a"), ("holdfast-deliver-after", "1"),
                ("holdfast-deliver-within", "09:00-18:00 UTC"), ("holdfast-context", "a"),
                ("holdfast-newest-wins", "false"), ("holdfast-environment", "sandbox"), ("holdfast-answer", "accepted"),
            ] {
                let answer = try await client.send(HTTP2World.request([(name, value), (name, value)]))
                #expect(answer.reason == "DuplicateHeaders", "\(name)")
                #expect(try await client.send(HTTP2World.request([(name, value)])).status == 200, "\(name)")
            }
        }
    }

    @Test("A time behind the expiration is refused; an expiration of 0 counts from the time")
    func expirations() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let now = EngineClock.system.wall().seconds
            let behind = try await client.send(
                HTTP2World.request([
                    ("apns-expiration", "\(now + 60)"), ("holdfast-deliver-after", "\(now + 3600)"),
                ]))
            #expect(behind.reason == "BadHoldfastDeliverAfter" && behind.status == 400)
            // The hours of the day alone.
            let minute = (now + 7200) % 86_400 / 60
            let start = "\(minute / 60 < 10 ? "0" : "")\(minute / 60)"
            let end = (minute / 60 + 1) % 24
            let hours = "\(start):00-\(end < 10 ? "0" : "")\(end):00 UTC"
            let early = try await client.send(
                HTTP2World.request([("apns-expiration", "\(now + 60)"), ("holdfast-deliver-within", hours)]))
            #expect(early.reason == "BadHoldfastDeliverWithin" && early.status == 400)
            let once = try await client.send(
                HTTP2World.request([("apns-expiration", "0"), ("holdfast-deliver-after", "\(now + 86_400)")]))
            #expect(once.status == 200)
            let entry = try #require(world.journal.entries.map(\.notification).first)
            guard case .unstored(let until)? = entry.expiration else {
                Issue.record("\(String(describing: entry.expiration))")
                return
            }
            #expect((86_400 + 3600...86_400 + 3660).contains(until - now))
        }
    }

    @Test("What one connection submits under many names is told apart, each in its place; too many names are refused")
    func manyNames() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            for number in 0..<NamedProducers.greatestCount {
                let answer = try await client.send(
                    HTTP2World.request([("holdfast-producer", "sender-\(number % 250)")]))
                #expect(answer.status == 200)
            }
            let one = try await client.send(HTTP2World.request([("holdfast-producer", "one-too-many")]))
            #expect(one.status == 400 && one.reason == "BadHoldfastProducer")
            #expect(try await client.send(HTTP2World.request([("holdfast-producer", "sender-7")])).status == 200)
            #expect(try await client.send(HTTP2World.request()).status == 200)
            let accepted = try world.engine.producers().filter { $0.name.hasPrefix("sender-") }
            #expect(accepted.count == NamedProducers.greatestCount)
            #expect(accepted.first { $0.name == "sender-7" }?.totals.accepted == 2)
        }
    }

    @Test("A repeat is one of its own sender's name only")
    func repeats() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let id = ("apns-id", "123E4567-e89b-12d3-a456-4266554400a0")
            for name in ["a", "b", "a"] {
                let answer = try await client.send(HTTP2World.request([id, ("holdfast-producer", name)]))
                #expect(answer.status == 200)
            }
            #expect(world.journal.nextUID == UID(3))
        }
    }

    @Test("Scheduled through the gateway, it goes at its time and not before, and the newest wins")
    func delivers() async throws {
        try await withHTTP2World(delivers: true) { world in
            let client = try await world.client()
            let now = EngineClock.system.wall()
            let due = WallTime(seconds: now.seconds + 3)
            for number in 0..<20 {
                let answer = try await client.send(
                    HTTP2World.request([
                        ("apns-collapse-id", "c\(number % 2)"), ("holdfast-newest-wins", "true"),
                        ("holdfast-deliver-after", "\(due.seconds)"),
                    ]))
                #expect(answer.status == 200)
            }
            while EngineClock.system.wall() < due.advanced(by: .milliseconds(-50)) {
                #expect(world.connector.sent.isEmpty)
                try await Task.sleep(for: .milliseconds(20))
            }
            try await eventually("all have ended") { world.journal.totals.ended == 20 }
            #expect(world.connector.sent.count == 2)
            #expect(world.journal.totals.superseded == 18)
        }
    }
}
