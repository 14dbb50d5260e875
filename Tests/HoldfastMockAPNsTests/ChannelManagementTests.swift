import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

/// Requests to where channels are managed.
extension Curl {
    static func management(
        _ method: String, _ path: String = "/1/apps/com.example.app/channels", channel: String? = nil, body: String = ""
    ) -> Curl {
        var request = Curl()
        request.method = method
        request.path = path
        request.headers = channel.map { ["apns-channel-id: \($0)"] } ?? []
        request.body = body
        return request
    }

    static func create(storage: Int = 1) -> Curl {
        management("POST", body: #"{"message-storage-policy":\#(storage),"push-type":"LiveActivity"}"#)
    }

    static let list = management("GET", "/1/apps/com.example.app/all-channels")

    func manage(_ server: MockAPNsServer) async throws -> Answer {
        try await send(to: server, at: try #require(server.managementAddress).description)
    }
}

@Suite("The management of channels")
struct ChannelManagementTests {
    private static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    @discardableResult
    private func withManagement<R>(
        _ configure: (inout MockAPNsConfiguration) -> Void = { _ in }, _ body: (MockAPNsServer) async throws -> R
    ) async throws -> R {
        try await withServer(
            { configuration in
                configuration.managementPort = 0
                configure(&configuration)
            }, body)
    }

    @Test("A channel is created, read, listed and deleted, and each answer carries the request's own apns-request-id")
    func life() async throws {
        try await withManagement { server async throws in
            let created = try await Curl.create().with("apns-request-id", Self.id).manage(server)
            #expect(created.status == 201 && created.body.isEmpty)
            #expect(created.headers["apns-request-id"] == Self.id)
            let id = try #require(created.headers["apns-channel-id"])
            #expect(MockChannel.isID(id) && Data(base64Encoded: id)?.count == 16)
            #expect(server.channels == [MockChannel(bundleID: "com.example.app", id: id)])

            let read = try await Curl.management("GET", channel: id).manage(server)
            #expect(read.status == 200 && read.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            #expect(try await Curl.list.manage(server).body == #"{"channels":["\#(id)"]}"#)
            let others = Curl.management("GET", "/1/apps/com.example.other/all-channels")
            #expect(try await others.manage(server).body == #"{"channels":[]}"#)

            let deleted = try await Curl.management("DELETE", channel: id).with("apns-request-id", Self.id).manage(
                server)
            #expect(deleted.status == 204 && deleted.body.isEmpty && deleted.headers["apns-request-id"] == Self.id)
            #expect(try await Curl.management("GET", channel: id).manage(server).reason == "ChannelNotRegistered")
            #expect(server.channels.isEmpty && server.counters.managed == 5 && server.counters.accepted == 0)
        }
    }

    @Test("What is wrong is named, in order")
    func reasons() async throws {
        try await withManagement {
            $0.providerTokens = .wellFormed
            $0.topics = ["com.example.app"]
            $0.channelLimit = 1
        } _: { server async throws in
            var request = Curl.management("PUT", "/2/apps")
            func expect(_ reason: String?, _ status: Int, _ mend: (inout Curl) throws -> Void) async throws {
                try mend(&request)
                let answer = try await request.manage(server)
                #expect(answer.reason == reason && answer.status == status, "\(answer.status) \(answer.body)")
            }
            try await expect("BadPath", 404) { _ in }
            try await expect("BadPath", 404) { $0.path = "/1/apps/com.example.app/none" }
            try await expect("MethodNotAllowed", 405) { $0.path = "/1/apps/com.example.none/channels" }
            try await expect("MissingProviderToken", 403) { $0.method = "GET" }
            let token = try server.makeProviderToken()
            try await expect("TopicMismatch", 400) { $0.headers = ["authorization: bearer \(token)"] }
            try await expect("MissingChannelId", 400) { $0.path = "/1/apps/com.example.app/channels" }
            try await expect("BadChannelId", 400) { $0.headers.append("apns-channel-id: no base64") }
            try await expect("ChannelNotRegistered", 400) { $0 = $0.with("apns-channel-id", Curl.channel) }
            try await expect("ChannelNotRegistered", 400) { $0.method = "DELETE" }
            try await expect("PayloadEmpty", 400) { $0.method = "POST" }
            try await expect("BadRequest", 400) { $0.body = "[]" }
            try await expect("BadRequest", 400) {
                $0.body = #"{"push-type":"LiveActivity","message-storage-policy":"1"}"#
            }
            try await expect("MissingPushType", 400) { $0.body = #"{"message-storage-policy":1}"# }
            try await expect("InvalidPushType", 400) { $0.body = #"{"message-storage-policy":1,"push-type":"Alert"}"# }
            try await expect("BadRequest", 400) { $0.body = #"{"push-type":"LiveActivity"}"# }
            try await expect("BadRequest", 400) {
                $0.body = #"{"push-type":"LiveActivity","message-storage-policy":2}"#
            }
            try await expect(nil, 201) { $0.body = #"{"push-type":"LiveActivity","message-storage-policy":0}"# }
            try await expect("CannotCreateChannelConfig", 400) { _ in }
            #expect(server.channels.map(\.storage) == [.none])
        }
    }

    @Test("Broadcasts are judged by the channels that are there")
    func shared() async throws {
        try await withManagement { server async throws in
            #expect(try await Curl.broadcast().send(to: server).status == 200)
            let id = try #require(try await Curl.create(storage: 0).manage(server).headers["apns-channel-id"])
            #expect(try await Curl.broadcast().send(to: server).reason == "ChannelNotRegistered")
            #expect(try await Curl.broadcast(to: id).send(to: server).status == 200)
            let stored = Curl.broadcast(to: id).with("apns-expiration", "1798761600")
            #expect(try await stored.send(to: server).reason == "BadExpirationDate")
            #expect(try await Curl.management("DELETE", channel: id).manage(server).status == 204)
            #expect(try await Curl.broadcast(to: id).send(to: server).reason == "ChannelNotRegistered")
        }
    }

    @Test("Notifications are not taken there, and channels not managed where they are")
    func sides() async throws {
        try await withManagement { server async throws in
            #expect(try await Curl().manage(server).status == 404)
            #expect(try await Curl.broadcast().manage(server).reason == "BadPath")
            #expect(try await Curl.create().send(to: server).reason == "BadPath")
            #expect(server.addresses.count == 1 && server.managementAddress?.port != server.port)
        }
    }

    @Test("Its failures are scripted like those of sending, which they leave alone")
    func scripted() async throws {
        try await withManagement {
            $0.script = [
                .request(.init(address: "management", times: 1), MockAnswer(.rejected("Service Unavailable"))),
                .request(.init(address: "management", times: 1), MockAnswer(.acceptedAndReset(code: 2))),
            ]
        } _: { server async throws in
            #expect(try await Curl().send(to: server).status == 200)
            let busy = try await Curl.create().manage(server)
            #expect(busy.status == 503 && busy.reason == "Service Unavailable")
            let address = try #require(server.managementAddress).description
            let lost = try await Command.run(
                "curl",
                [
                    "-s", "--http2", "--cacert", server.certificateAuthorityFile, "-d", Curl.create().body,
                    "https://\(address)/1/apps/com.example.app/channels",
                ])
            #expect(lost.status != 0 && server.channels.count == 1)
            #expect(try await Curl.create().manage(server).status == 201)
            #expect(server.channels.count == 2)
        }
    }

    @Test("Ten thousand channels are listed")
    func many() async throws {
        try await withManagement {
            $0.channels = (0..<10_000).map {
                MockChannel(
                    bundleID: "com.example.app", id: Data("channel \($0 + 10_000_000)".utf8).base64EncodedString())
            }
        } _: { server async throws in
            struct Body: Decodable { var channels: [String] }
            let answer = try await Curl.list.manage(server)
            let ids = try JSONDecoder().decode(Body.self, from: Data(answer.body.utf8)).channels
            #expect(ids == server.channels.map(\.id) && ids.count == 10_000)
            #expect(try await Curl.create().manage(server).reason == "CannotCreateChannelConfig")
        }
    }
}
