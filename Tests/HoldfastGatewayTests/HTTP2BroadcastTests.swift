import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("HTTP/2: broadcasts", .timeLimit(.minutes(1)))
struct HTTP2BroadcastTests {
    private static let channel = "dHN0LXNyY2gtY2hubA=="
    private static let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#

    /// The header fields of a broadcast in order, with others in their places; nil takes one out.
    private static func request(
        method: String = "POST", path: String = "/4/broadcasts/apps/\(HTTP2World.topic)",
        _ changes: [(String, String?)] = []
    ) -> [(String, String)] {
        let usual = [
            (":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost"),
            ("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-expiration", "0"),
        ]
        let kept = usual.filter { field in !changes.contains { $0.0 == field.0 } }
        return kept + changes.compactMap { name, value in value.map { (name, $0) } }
    }

    @Test("A broadcast is mapped, committed and answered 200 with its apns-request-id")
    func accepts() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let id = "123E4567-e89b-12d3-a456-4266554400a0"
            let answer = try await client.send(
                Self.request([
                    ("apns-request-id", id), ("apns-priority", "5"), ("apns-expiration", "4000000000"),
                ]), body: Array(Self.payload.utf8))
            #expect(answer.status == 200)
            #expect(answer.headers["apns-request-id"] == id)
            #expect(answer.id == nil)
            #expect(answer.body.isEmpty)

            let entry = try #require(world.journal.entries.map(\.notification).first)
            #expect(entry.id == NotificationID(id))
            #expect(entry.recipient == .channel(try BroadcastChannel(Self.channel)))
            #expect(entry.topic == HTTP2World.topic)
            #expect(entry.pushType == .liveactivity)
            #expect(entry.priority == .considerate)
            #expect(entry.expiration == .at(4_000_000_000))
            #expect(entry.payload == Array(Self.payload.utf8))
        }
    }

    @Test("An expiration of 0 says what the channel stores, and is not one attempt")
    func zero() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(Self.request(), body: Array(Self.payload.utf8))
            #expect(answer.status == 200)
            let entry = try #require(world.journal.entries.map(\.notification).first)
            guard case .unstored(let deadline)? = entry.expiration else {
                return #expect(Bool(false), "\(entry.expiration as Any)")
            }
            #expect(deadline > EngineClock.system.wall().seconds + 3600)
            #expect(entry.guarantee == .atLeastOnce)
            #expect(answer.headers["apns-request-id"] == entry.id?.description)
        }
    }

    @Test("A broadcast and its repeat are one; the same id for a device is another")
    func repeats() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let id = "123e4567-e89b-12d3-a456-4266554400a0"
            for _ in 0..<2 {
                let request = Self.request([("apns-request-id", id)])
                #expect(try await client.send(request, body: Array(Self.payload.utf8)).status == 200)
            }
            #expect(try await client.send(HTTP2World.request([("apns-id", id)])).status == 200)
            #expect(world.journal.entries.count == 2)
        }
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let reason: String
        var status = 400
        var method = "POST"
        var path = "/4/broadcasts/apps/\(HTTP2World.topic)"
        var changes: [(String, String?)] = []
        var body = HTTP2BroadcastTests.payload

        var testDescription: String { "\(reason) \(changes) \(path)" }
    }

    static let faults: [Fault] = [
        Fault(reason: "BadPath", status: 404, path: "/4/broadcasts/apps/"),
        Fault(reason: "BadPath", status: 404, path: "/4/broadcasts/app/com.example.app"),
        Fault(reason: "MethodNotAllowed", status: 405, method: "GET"),
        Fault(reason: "MissingChannelId", changes: [("apns-channel-id", nil)]),
        Fault(reason: "MissingChannelId", changes: [("apns-channel-id", "")]),
        Fault(reason: "BadChannelId", changes: [("apns-channel-id", "not base64")]),
        Fault(reason: "BadChannelId", changes: [("apns-channel-id", String(repeating: "A", count: 104))]),
        Fault(reason: "BadMessageId", changes: [("apns-request-id", "1")]),
        Fault(reason: "MissingPushType", changes: [("apns-push-type", nil)]),
        Fault(reason: "InvalidPushType", changes: [("apns-push-type", "alert")]),
        Fault(reason: "BadExpirationDate", changes: [("apns-expiration", nil)]),
        Fault(reason: "BadExpirationDate", changes: [("apns-expiration", "soon")]),
        Fault(reason: "BadExpirationDate", changes: [("apns-expiration", "1000")]),
        Fault(reason: "BadPriority", changes: [("apns-priority", "9")]),
        Fault(reason: "TopicDisallowed", path: "/4/broadcasts/apps/com.example.other"),
        Fault(reason: "DuplicateHeaders", changes: [("apns-channel-id", channel), ("apns-channel-id", channel)]),
        Fault(reason: "PayloadEmpty", body: ""),
        Fault(reason: "PayloadNotJSON", body: "Hi"),
        Fault(reason: "PayloadTooLarge", status: 413, body: #"{"a":"\#(String(repeating: "x", count: 5113))"}"#),
        Fault(reason: "PayloadTooLarge", status: 413, body: String(repeating: "x", count: 100_000)),
    ]

    @Test("What Apple would refuse is refused in Apple's words, and nothing is journaled", arguments: faults)
    func refuses(_ fault: Fault) async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let answer = try await client.send(
                Self.request(method: fault.method, path: fault.path, fault.changes), body: Array(fault.body.utf8))
            #expect(answer.status == fault.status)
            #expect(answer.body == #"{"reason":"\#(fault.reason)"}"#)
            #expect(answer.headers["apns-request-id"] != nil)
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("A broadcast of the greatest size is taken")
    func greatest() async throws {
        try await withHTTP2World { world in
            let client = try await world.client()
            let body = #"{"a":"\#(String(repeating: "x", count: 5112))"}"#
            #expect(body.utf8.count == 5120)
            #expect(try await client.send(Self.request(), body: Array(body.utf8)).status == 200)
        }
    }
}
