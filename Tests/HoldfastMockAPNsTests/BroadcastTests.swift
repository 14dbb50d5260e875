import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

extension Curl {
    static let channel = "dHN0LXNyY2gtY2hubA=="

    /// A broadcast in order.
    static func broadcast(to channel: String = channel, bundleID: String = "com.example.app") -> Curl {
        var request = Curl()
        request.path = "/4/broadcasts/apps/\(bundleID)"
        request.headers = [
            "apns-channel-id: \(channel)", "apns-push-type: liveactivity", "apns-expiration: 0", "apns-priority: 10",
        ]
        request.body = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
        return request
    }

    /// The same with another value of a header field, or without the field.
    func with(_ name: String, _ value: String?) -> Curl {
        var copy = self
        copy.headers.removeAll { $0.hasPrefix("\(name):") }
        if let value { copy.headers.append("\(name): \(value)") }
        return copy
    }
}

@Suite("Broadcasts")
struct BroadcastTests {
    static let id = "123E4567-e89b-12d3-a456-4266554400a0"

    @Test("A broadcast in order is answered with 200, its own apns-request-id and no body")
    func accepted() async throws {
        try await withServer { server async throws in
            let answer = try await Curl.broadcast().with("apns-request-id", Self.id).send(to: server)
            #expect(answer.status == 200 && answer.body.isEmpty)
            #expect(answer.headers["apns-request-id"] == Self.id)
            #expect(answer.headers["apns-id"] == nil && answer.headers["apns-unique-id"] == nil)
            let assigned = try await Curl.broadcast().send(to: server).headers["apns-request-id"]
            #expect(assigned.flatMap(UUID.init(uuidString:)) != nil)
            #expect(server.counters.accepted == 2)
        }
    }

    @Test("The first wrong thing names the reason, and it has the status of Apple's table")
    func order() async throws {
        try await withServer {
            $0.providerTokens = .verified
            $0.topics = ["com.example.app"]
            $0.channels = [
                MockChannel(bundleID: "com.example.app", id: Curl.channel, storage: .none),
                MockChannel(bundleID: "com.example.other", id: "b3RoZXI="),
            ]
            $0.channelRejections = ["YnVzeQ==": "Service Unavailable"]
        } _: { server async throws in
            var request = Curl.broadcast()
            (request.method, request.path, request.headers, request.body) = ("GET", "/4/broadcasts/apps/", [], "")
            func expect(_ reason: String?, _ status: Int, _ mend: (inout Curl) throws -> Void) async throws {
                try mend(&request)
                let answer = try await request.send(to: server)
                #expect(answer.reason == reason && answer.status == status, "\(answer.status) \(answer.body)")
                #expect(answer.headers["apns-request-id"] != nil || reason == "BadPath" || status == 405)
            }
            try await expect("MethodNotAllowed", 405) { _ in }
            try await expect("BadPath", 404) { $0.method = "POST" }
            try await expect("BadPath", 404) { $0.path = "/4/broadcasts/apps/com.example/more" }
            try await expect("MissingProviderToken", 403) { $0.path = "/4/broadcasts/apps/com.example.none" }
            let token = try server.makeProviderToken()
            try await expect("TopicMismatch", 400) { $0.headers = ["authorization: bearer \(token)"] }
            try await expect("MissingChannelId", 400) { $0.path = "/4/broadcasts/apps/com.example.app" }
            try await expect("BadChannelId", 400) { $0 = $0.with("apns-channel-id", "not base64") }
            try await expect("MissingPushType", 400) { $0 = $0.with("apns-channel-id", "bm9uZQ==") }
            try await expect("InvalidPushType", 400) { $0 = $0.with("apns-push-type", "alert") }
            try await expect("BadExpirationDate", 400) { $0 = $0.with("apns-push-type", "liveactivity") }
            try await expect("BadExpirationDate", 400) { $0 = $0.with("apns-expiration", "soon") }
            try await expect("BadPriority", 400) { $0 = $0.with("apns-priority", "2") }
            try await expect("BadExpirationDate", 400) { $0 = $0.with("apns-priority", "1") }
            try await expect("PayloadEmpty", 400) { $0 = $0.with("apns-expiration", "1798761600") }
            try await expect("PayloadTooLarge", 413) { $0.body = String(repeating: " ", count: 5121) }
            try await expect("ChannelNotRegistered", 400) { $0.body = String(repeating: " ", count: 5120) }
            try await expect("ChannelNotRegistered", 400) { $0 = $0.with("apns-channel-id", "b3RoZXI=") }
            try await expect("Service Unavailable", 503) { $0 = $0.with("apns-channel-id", "YnVzeQ==") }
            try await expect("BadExpirationDate", 400) { $0 = $0.with("apns-channel-id", Curl.channel) }
            try await expect(nil, 200) { $0 = $0.with("apns-expiration", "0") }
        }
    }

    @Test(
        "An id that is no base64, or longer than 100 characters, is BadChannelId",
        arguments: ["", "=", "====", "YQ=", "Y===", "Y=Q=", "YQ==YQ==", "YWI_", String(repeating: "YWJj", count: 26)])
    func badChannels(_ id: String) async throws {
        try await withServer { server async throws in
            var request = Curl.broadcast().with("apns-channel-id", id)
            // curl leaves out a field without a value unless it is written so.
            if id.isEmpty {
                request = request.with("apns-channel-id", nil)
                request.headers.append("apns-channel-id;")
            }
            #expect(try await request.send(to: server).reason == "BadChannelId")
        }
    }

    @Test("A service that was told of no channel takes every well-formed id for one")
    func anyChannel() async throws {
        try await withServer { server async throws in
            for id in ["YQ==", "YWI=", "YWJj", "+/+/", String(repeating: "YWJj", count: 25)] {
                let answer = try await Curl.broadcast(to: id).with("apns-expiration", "1798761600").send(to: server)
                #expect(answer.status == 200, "\(id): \(answer.body)")
            }
        }
    }

    @Test("The development environment says apns-unique-id, and the observer is told of the channel")
    func uniqueID() async throws {
        let seen = Seen()
        try await withServer {
            $0.isSandbox = true
            $0.observer = { exchanges in seen.add(exchanges) }
        } _: { server async throws in
            let answer = try await Curl.broadcast().with("apns-request-id", Self.id).send(to: server)
            #expect(answer.headers["apns-unique-id"].flatMap(UUID.init(uuidString:)) != nil)
            try await eventually("it is seen") { seen.exchanges.count == 1 }
            let exchange = try #require(seen.exchanges.first)
            #expect(exchange.request.channel == Curl.channel && exchange.request.topic == "com.example.app")
            #expect(exchange.request.token == nil && exchange.isAccepted)
            #expect(exchange.id == Self.id && exchange.uniqueID == answer.headers["apns-unique-id"])
        }
    }

    @Test("Its line in the ledger says channel instead of token, and the audit tells it from a device's")
    func ledger() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            try await withServer {
                $0.ledgerPath = path
            } _: { server async throws in
                let request = Curl.broadcast(to: "YWJj").with("apns-request-id", Self.id)
                for _ in 0..<2 { #expect(try await request.send(to: server).status == 200) }
                #expect(try await request.with("apns-push-type", nil).send(to: server).status == 400)
                let line = #"{"apns-id":"\#(Self.id)","channel":"YWJj","topic":"com.example.app"}"#
                #expect(try lines(of: path) == [line, line])
            }
            let device = #"{"apns-id":"\#(Self.id)","token":"abcd","topic":"com.example.app"}"# + "\n"
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data(device.utf8))
            try file.close()
            let audit = try LedgerAudit(paths: [path])
            #expect(audit.acceptedLines == 3 && audit.damagedLines == 0)
            #expect(audit.distinctNotifications == 2 && audit.distinctIDs == 1)
            #expect(audit.duplicates.map(\.recipient) == ["YWJj"] && audit.duplicates.map(\.count) == [2])
        }
    }

    @Test("A script's steps can be about channels, and about the app in the path")
    func scripted() async throws {
        try await withServer {
            $0.script = [
                .request(.init(channels: ["YWJj"], times: 1), MockAnswer(.rejected("ExpiredProviderToken"))),
                .request(.init(channels: ["YWJj"]), MockAnswer(.rejected("Shutdown"))),
                .request(.init(topics: ["com.example.other"]), MockAnswer(.rejected("FeatureNotEnabled"))),
                .request(.init(once: .channel), MockAnswer(.rejected("TooManyRequests"))),
            ]
        } _: { server async throws in
            #expect(try await Curl.broadcast(to: "YWJj").send(to: server).reason == "ExpiredProviderToken")
            #expect(try await Curl.broadcast(to: "YWJj").send(to: server).status == 503)
            let other = Curl.broadcast(bundleID: "com.example.other")
            #expect(try await other.send(to: server).reason == "FeatureNotEnabled")
            #expect(try await Curl.broadcast().send(to: server).status == 429)
            #expect(try await Curl.broadcast().send(to: server).status == 200)
            #expect(try await Curl().send(to: server).status == 200)
        }
    }

    @Test("Broadcasts and notifications to devices go over one connection")
    func together() async throws {
        try await withServer { server async throws in
            let command = try await Command.run(
                "curl",
                ["-s", "-i", "--http2", "--cacert", server.certificateAuthorityFile]
                    + Curl.broadcast().headers.flatMap { ["-H", $0] }
                    + ["-d", "{}", "https://\(server.address)/4/broadcasts/apps/com.example.app", "--next", "-s", "-i"]
                    + ["--http2", "--cacert", server.certificateAuthorityFile, "-H", "apns-topic: com.example.app"]
                    + ["-d", "{}", "https://\(server.address)/3/device/\(Curl.token)"])
            #expect(command.text.components(separatedBy: "HTTP/2 200").count == 3)
            #expect(server.counters.connections == 1 && server.counters.accepted == 2)
        }
    }
}
