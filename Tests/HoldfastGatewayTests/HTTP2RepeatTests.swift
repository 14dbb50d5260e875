import Foundation
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/2: what comes again", .timeLimit(.minutes(1)))
struct HTTP2RepeatTests {
    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    @Test("The same notification sent again after a lost answer is one")
    func isOne() async throws {
        try await withHTTP2World { world in
            for _ in 0..<3 {
                let client = try await world.client()
                let answer = try await client.send(HTTP2World.request([("apns-id", Self.id)]))
                #expect(answer.status == 200)
                #expect(answer.id == Self.id)
                try await client.close()
            }
            #expect(world.journal.entries.count == 1)
            #expect(world.figures.accepted == 1 && world.figures.repeated == 2)
        }
    }

    @Test("One apns-id for many tokens is as many notifications")
    func isSeveral() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            for number in 0..<3 {
                let answer = try await client.send(
                    HTTP2World.request(token: HTTP2World.token(number), [("apns-id", Self.id)]))
                #expect(answer.status == 200)
            }
            #expect(world.journal.entries.count == 3)
        }
    }

    @Test("Notifications without an apns-id are never taken for each other")
    func neverByAssignedID() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let first = try await client.send(HTTP2World.request())
            // Somebody else happens to have the id that we gave.
            let second = try await client.send(HTTP2World.request([("apns-id", try #require(first.id))]))
            #expect(second.status == 200)
            #expect(world.journal.entries.count == 2)
        }
    }

    @Test("After a confirmation a repeat is told 200, and is not sent again")
    func afterConfirmation() async throws {
        try await withHTTP2World(delivers: true) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request([("apns-id", Self.id)])).status == 200)
            try await eventually("it is confirmed") { world.engine.status().confirmed == 1 }
            #expect(try await client.send(HTTP2World.request([("apns-id", Self.id)])).status == 200)
            #expect(world.connector.sent.count == 1)
            #expect(world.figures.accepted == 1 && world.figures.repeated == 1)
        }
    }

    @Test("A repeat whose token has been blacklisted since is told 200, and counted as a repeat")
    func blacklistedSince() async throws {
        try await withHTTP2World(delivers: true) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request([("apns-id", Self.id)])).status == 200)
            try await eventually("it is confirmed") { world.engine.status().confirmed == 1 }
            try await world.blacklist(.unregistered, since: WallTime(seconds: 1_700_000_000))
            #expect(try await client.send(HTTP2World.request([("apns-id", Self.id)])).status == 200)
            #expect(try await client.send(HTTP2World.request()).status == 410)
            #expect(world.figures.accepted == 1 && world.figures.repeated == 1)
            #expect(world.figures.refused == ["Unregistered": 1])
        }
    }

    @Test("After a rejection a repeat is told the reason, with its status")
    func afterRejection() async throws {
        let refuses: InMemoryConnector.Answer = { _ in SendResult(.rejected(.notification), reason: .badCollapseID) }
        try await withHTTP2World(delivers: true, answer: refuses) { world in
            let client = try await world.client()
            #expect(try await client.send(HTTP2World.request([("apns-id", Self.id)])).status == 200)
            try await eventually("it is rejected") { world.journal.rejections.count == 1 }
            let answer = try await client.send(HTTP2World.request([("apns-id", Self.id)]))
            #expect(answer.status == 400)
            #expect(answer.reason == "BadCollapseId")
            #expect(answer.id == Self.id)
        }
    }

    @Test(
        "A token that the service has called gone is answered 410 with the service's timestamp, until it is registered anew"
    )
    func gone() async throws {
        let since = WallTime(milliseconds: 1_700_000_000_123)
        try await withHTTP2World { world in
            try await world.blacklist(.unregistered, since: since)
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request())
            #expect(answer.status == 410)
            #expect(answer.reason == "Unregistered")
            #expect(answer.timestamp == since.milliseconds)

            let old = try await client.send(HTTP2World.request([("holdfast-token-registered-at", "1700000000")]))
            #expect(old.status == 410)
            let new = try await client.send(HTTP2World.request([("holdfast-token-registered-at", "1700000001")]))
            #expect(new.status == 200)
            #expect(world.journal.entries.count == 1)
        }
    }

    @Test(
        "A blacklisted token is answered in the service's words, or the nearest",
        arguments: [
            ("BadDeviceToken", "BadDeviceToken", 400), ("DeviceTokenNotForTopic", "DeviceTokenNotForTopic", 400),
            ("ExpiredToken", "ExpiredToken", 410), ("InvalidToken", "BadDeviceToken", 400),
            ("Feedback", "Unregistered", 410), ("Operator", "Unregistered", 410),
        ])
    func blacklisted(reason: String, told: String, status: Int) async throws {
        try await withHTTP2World { world in
            try await world.blacklist(Reason(rawValue: reason), since: WallTime(seconds: 1_700_000_000))
            let client = try await world.client()
            let answer = try await client.send(HTTP2World.request())
            #expect(answer.status == status)
            #expect(answer.reason == told)
            #expect(answer.timestamp == (status == 410 ? 1_700_000_000_000 : nil))
        }
    }
}

extension HTTP2World {
    func blacklist(_ reason: Reason, since: WallTime) async throws {
        let token = try DeviceToken(Self.token)
        let entry = BlacklistEntry(token: token, reason: reason, since: since, learntAt: since, route: "route0")
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            journal.blacklist.add([entry]) { continuation.resume(with: $0.mapError { $0 }) }
        }
    }
}
