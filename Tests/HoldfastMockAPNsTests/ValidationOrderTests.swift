import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("What else the service judges")
struct ValidationOrderTests {
    @Test(
        "The first wrong thing names the reason: path, provider token, device token, headers, payload, then the token's state"
    )
    func order() async throws {
        try await withServer {
            $0.providerTokens = .verified
            $0.requiresPushType = true
            $0.tokenTopics = [Curl.token: "com.example.other"]
            $0.rejections = ["aa": "Unregistered"]
        } _: { server async throws in
            var request = Curl()
            (request.method, request.path, request.headers, request.body) = ("PUT", "/", [], "")
            func reason(_ mend: (inout Curl) throws -> Void) async throws -> String? {
                try mend(&request)
                return try await request.send(to: server).reason
            }
            #expect(try await reason { _ in } == "MethodNotAllowed")
            #expect(try await reason { $0.method = "POST" } == "BadPath")
            #expect(try await reason { $0.path = "/3/device/" } == "MissingProviderToken")
            #expect(try await reason { $0.headers = ["authorization: bearer nonsense"] } == "InvalidProviderToken")
            let token = try server.makeProviderToken()
            #expect(try await reason { $0.headers = ["authorization: bearer \(token)"] } == "MissingDeviceToken")
            #expect(try await reason { $0.path = "/3/device/abc" } == "BadDeviceToken")
            #expect(try await reason { $0.path = "/3/device/\(Curl.token)" } == "MissingTopic")
            #expect(try await reason { $0.headers.append("apns-topic: com.example.app") } == "MissingPushType")
            #expect(try await reason { $0.headers.append("apns-push-type: alert") } == "PayloadEmpty")
            #expect(try await reason { $0.body = "{}" } == "DeviceTokenNotForTopic")
            #expect(try await reason { $0.path = "/3/device/aa" } == "Unregistered")
            #expect(try await reason { $0.path = "/3/device/ab" } == nil)
        }
    }

    @Test("One provider token more than the service takes in twenty minutes is TooManyProviderTokenUpdates")
    func tokenUpdates() async throws {
        try await withServer {
            $0.providerTokens = .verified
            $0.providerTokenUpdateLimit = 2
        } _: { server async throws in
            let now = Int64(Date().timeIntervalSince1970)
            func answer(_ age: Int64) async throws -> Curl.Answer {
                var request = Curl()
                request.headers.append("authorization: bearer \(try server.makeProviderToken(issuedAt: now - age))")
                return try await request.send(to: server)
            }
            let token = try server.makeProviderToken(issuedAt: now)
            for _ in 0..<3 {
                var request = Curl()
                request.headers.append("authorization: bearer \(token)")
                #expect(try await request.send(to: server).status == 200)
            }
            #expect(try await answer(1).status == 200)
            let third = try await answer(2)
            #expect(third.status == 429 && third.reason == "TooManyProviderTokenUpdates")
        }
    }

    @Test("The development environment says apns-unique-id, a new one for each that it takes, and tells the observer")
    func uniqueID() async throws {
        let seen = Seen()
        try await withServer {
            $0.isSandbox = true
            $0.observer = { exchanges in seen.add(exchanges) }
        } _: { server async throws in
            let ids = [
                try await Curl().send(to: server).headers["apns-unique-id"],
                try await Curl().send(to: server).headers["apns-unique-id"],
            ]
            #expect(Set(ids).count == 2 && ids.allSatisfy { $0.flatMap(UUID.init(uuidString:)) != nil })
            try await eventually("both are seen") { seen.exchanges.count == 2 }
            #expect(seen.exchanges.map(\.uniqueID) == ids)
            var request = Curl()
            request.body = ""
            #expect(try await request.send(to: server).headers["apns-unique-id"] == nil)
        }
    }
}
