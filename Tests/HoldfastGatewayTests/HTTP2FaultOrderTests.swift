import Foundation
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Requests with two faults. The list is that of Docs/Guide/Gateway.md, *What is refused*.
@Suite("HTTP/2: which fault is told first", .timeLimit(.minutes(1)))
struct HTTP2FaultOrderTests {
    /// A fault, by the part of a request that it is in: two of one part can't be told apart.
    private struct Fault {
        let reason: String
        let part: String
        let values: [String?]

        init(_ reason: String, _ part: String, _ values: String?...) {
            (self.reason, self.part, self.values) = (reason, part, values)
        }
    }

    private static let order = [
        Fault("MethodNotAllowed", ":method", "PUT"),
        Fault("BadPath", ":path", "/9/x"),
        Fault("MissingDeviceToken", ":path", "/3/device/"),
        Fault("BadDeviceToken", ":path", "/3/device/zz"),
        Fault("BadMessageId", "apns-id", "1"),
        Fault("BadPriority", "apns-priority", "7"),
        Fault("BadExpirationDate", "apns-expiration", "tomorrow"),
        Fault("MissingTopic", "apns-topic", nil),
        Fault("BadCollapseId", "apns-collapse-id", "c\u{FFFD}"),
        Fault("BadEnvironment", "holdfast-environment", "staging"),
        Fault("BadTokenRegistrationTime", "holdfast-token-registered-at", "yesterday"),
        Fault("BadGuarantee", "holdfast-guarantee", "once"),
        Fault("BadHoldfastTag", "holdfast-tag", String(repeating: "t", count: 257)),
        Fault("BadHoldfastProducer", "holdfast-producer", "two words"),
        Fault("BadHoldfastDeliverAfter", "holdfast-deliver-after", "tomorrow"),
        Fault("BadHoldfastDeliverWithin", "holdfast-deliver-within", "09:00-18:00 Nowhere/None"),
        Fault("BadHoldfastContext", "holdfast-context", String(repeating: "c", count: 4097)),
        Fault("BadHoldfastNewestWins", "holdfast-newest-wins", "yes"),
        Fault("UnknownHoldfastHeader", "holdfast-deliver-afer", "0"),
        Fault("DuplicateHeaders", "apns-request-id", "a", "a"),
        Fault("TopicDisallowed", "apns-topic", "com.example.other"),
        Fault("BadExpirationDate", "apns-expiration", "1000"),
        Fault("BadCollapseId", "apns-collapse-id", String(repeating: "c", count: 65)),
        Fault("BadCollapseId", "apns-collapse-id", ""),
        Fault("InvalidPushType", "apns-push-type", "loud"),
        Fault("PayloadEmpty", "body", ""),
        Fault("PayloadTooLarge", "body", #"{"a":"\#(String(repeating: "x", count: 4500))"}"#),
        Fault("PayloadTooLarge", "body", String(repeating: "x", count: 9000)),
        Fault("PayloadNotJSON", "body", "Hi"),
        Fault("Unregistered", ":path", "/3/device/ab"),
    ]

    private static func request(_ faults: [Fault]) -> (headers: [(String, String)], body: [UInt8]) {
        var parts: [(String, [String?])] = [
            (":method", ["POST"]), (":scheme", ["https"]), (":path", ["/3/device/aa"]), (":authority", ["localhost"]),
            ("apns-topic", [HTTP2World.topic]), ("body", ["{}"]),
        ]
        for fault in faults {
            parts.removeAll { $0.0 == fault.part }
            parts.insert((fault.part, fault.values), at: fault.part.hasPrefix(":") ? 0 : parts.count)
        }
        let headers = parts.filter { $0.0 != "body" }.flatMap { name, values in
            values.compactMap(\.self).map { (name, $0) }
        }
        return (headers, Array((parts.first { $0.0 == "body" }?.1[0] ?? "").utf8))
    }

    @Test("Of every two faults the one is told that comes first in the list")
    func pairs() async throws {
        try await withHTTP2World(topics: [[HTTP2World.topic, "com.example.second"]]) { world in
            try await world.engine.blacklist.add([
                BlacklistEntry(
                    token: DeviceToken(bytes: [0xAB])!, reason: .unregistered, since: WallTime(seconds: 1),
                    learntAt: WallTime(seconds: 1), route: "route0", topic: HTTP2World.topic)
            ])
            let client = try await world.client()
            for (place, first) in Self.order.enumerated() {
                let alone = Self.request([first])
                #expect(try await client.send(alone.headers, body: alone.body).reason == first.reason)
                for second in Self.order[(place + 1)...] where second.part != first.part {
                    let both = Self.request([first, second])
                    let answer = try await client.send(both.headers, body: both.body)
                    #expect(answer.reason == first.reason, "\(first.reason) and \(second.reason)")
                }
            }
            #expect(world.journal.entries.isEmpty)
        }
    }
}
