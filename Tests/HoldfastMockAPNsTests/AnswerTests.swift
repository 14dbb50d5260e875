import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("Answers to curl")
struct AnswerTests {
    @Test("A notification in order is answered with 200, its own apns-id and no body")
    func accepted() async throws {
        try await withServer { server async throws in
            let id = "123E4567-e89b-12d3-a456-4266554400a0"
            var request = Curl()
            request.headers += [
                "apns-id: \(id)", "apns-push-type: background", "apns-priority: 5", "apns-expiration: 1798761600",
                "apns-collapse-id: \(String(repeating: "c", count: 64))",
            ]
            let answer = try await request.send(to: server)
            #expect(answer.status == 200)
            #expect(answer.headers["apns-id"] == id)
            #expect(answer.body.isEmpty)
            #expect(server.counters.accepted == 1)
            #expect(server.counters.requests == 1)
        }
    }

    @Test("A notification without an apns-id is given a new UUID")
    func assignedID() async throws {
        try await withServer { server async throws in
            var ids: Set<UUID> = []
            for _ in 0..<3 {
                let id = try await Curl().send(to: server).headers["apns-id"]
                ids.insert(try #require(id.flatMap(UUID.init(uuidString:))))
            }
            #expect(ids.count == 3)
        }
    }

    @Test("An apns-id is not echoed where that is turned off")
    func notEchoed() async throws {
        try await withServer {
            $0.echoesNotificationID = false
        } _: { server async throws in
            let answer = try await Curl().send(to: server)
            #expect(answer.status == 200)
            #expect(answer.headers["apns-id"] == nil)
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let reason: String
        let status: Int
        var request = Curl()
        var testDescription: String {
            "\(reason), \(request.method) \(request.path.prefix(24)) \(request.headers.dropFirst())"
        }

        init(_ reason: String, _ status: Int, _ change: (inout Curl) -> Void) {
            self.reason = reason
            self.status = status
            change(&request)
        }
    }

    static let cases: [Case] = [
        Case("MethodNotAllowed", 405) { $0.method = "PUT" },
        Case("MethodNotAllowed", 405) { ($0.method, $0.path) = ("DELETE", "/") },
        Case("BadPath", 404) { $0.path = "/" },
        Case("BadPath", 404) { $0.path = "/3/device" },
        Case("BadPath", 404) { $0.path = "/2/device/\(Curl.token)" },
        Case("MissingDeviceToken", 400) { $0.path = "/3/device/" },
        Case("BadDeviceToken", 400) { $0.path += "0" },
        Case("BadDeviceToken", 400) { $0.path = "/3/device/" + String(repeating: "xy", count: 32) },
        Case("BadDeviceToken", 400) { $0.path += "/" },
        Case("BadDeviceToken", 400) { $0.path = "/3/device/" + String(repeating: "ab", count: 101) },
        Case("BadMessageId", 400) { $0.headers.append("apns-id: 1") },
        Case("BadMessageId", 400) { $0.headers.append("apns-id: 123e4567-e89b-12d3-a456-4266554400ag") },
        Case("BadPriority", 400) { $0.headers.append("apns-priority: 9") },
        Case("BadPriority", 400) { $0.headers.append("apns-priority: high") },
        Case("BadPriority", 400) { $0.headers += ["apns-push-type: background", "apns-priority: 10"] },
        Case("BadExpirationDate", 400) { $0.headers.append("apns-expiration: tomorrow") },
        Case("BadExpirationDate", 400) { $0.headers.append("apns-expiration: -1") },
        Case("BadExpirationDate", 400) { $0.headers.append("apns-expiration: 99999999999999999999") },
        Case("MissingTopic", 400) { $0.headers = [] },
        Case("MissingTopic", 400) { $0.headers = ["apns-topic;"] },
        Case("BadTopic", 400) { $0.headers = ["apns-topic: com.example app"] },
        Case("BadCollapseId", 400) { $0.headers.append("apns-collapse-id: \(String(repeating: "c", count: 65))") },
        Case("InvalidPushType", 400) { $0.headers.append("apns-push-type: telegram") },
        Case("PayloadEmpty", 400) { $0.body = "" },
        Case("PayloadTooLarge", 413) { $0.body = String(repeating: "x", count: 4097) },
        Case("PayloadTooLarge", 413) { $0.body = String(repeating: "x", count: 60_000) },
        Case("PayloadTooLarge", 413) {
            $0.headers.append("apns-push-type: voip")
            $0.body = String(repeating: "x", count: 5121)
        },
        Case("DuplicateHeaders", 400) { $0.headers.append("apns-topic: com.example.app") },
        Case("DuplicateHeaders", 400) { $0.headers += ["apns-priority: 5", "apns-priority: 5"] },
    ]

    @Test("Each fault is refused with Apple's status and reason", arguments: cases)
    func refused(_ expected: Case) async throws {
        try await withServer { server async throws in
            let answer = try await expected.request.send(to: server)
            #expect(answer.status == expected.status)
            #expect(answer.reason == expected.reason)
            #expect(answer.timestamp == nil)
            #expect(answer.headers["apns-id"].flatMap(UUID.init(uuidString:)) != nil)
            #expect(server.counters.rejected == [expected.reason: 1])
            #expect(server.counters.accepted == 0)
        }
    }

    @Test("What is just within a limit is accepted")
    func limits() async throws {
        try await withServer { server async throws in
            var requests = [Curl](repeating: Curl(), count: 6)
            requests[0].body = String(repeating: "x", count: 4096)
            requests[1].body = String(repeating: "x", count: 5120)
            requests[1].headers.append("apns-push-type: voip")
            requests[2].path = "/3/device/" + String(repeating: "aB", count: 100)
            requests[3].path = "/3/device/00"
            requests[4].headers.append("apns-expiration: 0")
            requests[5].headers += ["apns-push-type: background", "apns-priority: 1"]
            for request in requests { #expect(try await request.send(to: server).status == 200) }
        }
    }

    @Test("Of two faults the one that is looked for first is named")
    func order() async throws {
        try await withServer { server async throws in
            var request = Curl()
            request.headers = ["apns-id: 1", "apns-priority: 9", "apns-push-type: x"]
            request.body = ""
            for (reason, mend) in [
                ("BadMessageId", { $0.headers[0] = "x: y" }), ("BadPriority", { $0.headers[1] = "x: y" }),
                ("MissingTopic", { $0.headers[0] = "apns-topic: com.example.app" }),
                ("InvalidPushType", { $0.headers[2] = "x: y" }), ("PayloadEmpty", { $0.body = "{}" }),
            ] as [(String, (inout Curl) -> Void)] {
                #expect(try await request.send(to: server).reason == reason)
                mend(&request)
            }
        }
    }

    @Test("Only the topics that are allowed are")
    func topics() async throws {
        try await withServer {
            $0.topics = ["com.example.app"]
        } _: { server async throws in
            #expect(try await Curl().send(to: server).status == 200)
            var request = Curl()
            request.headers = ["apns-topic: com.example.other"]
            #expect(try await request.send(to: server).reason == "TopicDisallowed")
        }
    }

    @Test("Only tokens of the length that is asked for are accepted")
    func tokenLengths() async throws {
        try await withServer {
            $0.tokenByteCounts = 32...32
        } _: { server async throws in
            #expect(try await Curl().send(to: server).status == 200)
            var request = Curl()
            request.path += "ab"
            #expect(try await request.send(to: server).reason == "BadDeviceToken")
        }
    }

    @Test("A token on the list of rejections is refused as the list says, in either case of its digits")
    func rejections() async throws {
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        let configure = { (configuration: inout MockAPNsConfiguration) in
            configuration.rejections = [
                "AA": "Unregistered", "bb": MockRejection("ExpiredToken", timestamp: 1_234_567_890_123),
                "cc": "TooManyRequests", "dd": "NeverHeardOf", "ee": MockRejection("Strange", status: 599),
            ]
        }
        try await withServer(configure) { server async throws in
            func answer(_ token: String) async throws -> Curl.Answer {
                var request = Curl()
                request.path = "/3/device/\(token)"
                return try await request.send(to: server)
            }
            let unregistered = try await answer("aa")
            #expect(unregistered.status == 410)
            #expect(unregistered.reason == "Unregistered")
            let timestamp = try #require(unregistered.timestamp)
            #expect((before...Int64(Date().timeIntervalSince1970 * 1000)).contains(timestamp))
            let expired = try await answer("BB")
            #expect((expired.status, expired.reason) == (410, "ExpiredToken"))
            #expect(expired.timestamp == 1_234_567_890_123)
            let slow = try await answer("cc")
            #expect((slow.status, slow.reason, slow.timestamp) == (429, "TooManyRequests", nil))
            #expect(try await answer("dd").status == 400)
            #expect(try await answer("ee").status == 599)
            #expect(try await answer("ff").status == 200)
        }
    }

    @Test("Answers take as long as they are told to")
    func delay() async throws {
        try await withServer {
            $0.delay = .milliseconds(200)
        } _: { server async throws in
            let start = ContinuousClock.now
            let load = try await H2Load(server, requests: 100, streams: 100)
            let elapsed = ContinuousClock.now - start
            #expect(load.succeeded == 100)
            // All at once, not one after another.
            #expect(elapsed >= .milliseconds(200))
            #expect(elapsed < .seconds(15))
        }
    }
}
