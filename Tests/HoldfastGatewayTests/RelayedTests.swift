import HoldfastAPNs
import HoldfastFCM
import HoldfastRequests
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway
@testable import HoldfastTransport

@Suite("What a gateway sends comes to a gateway", .timeLimit(.minutes(1)))
struct RelayedTests {
    @Test(
        "A notification that a gateway sends is not taken, whoever has passed it on",
        arguments: [
            ["2 holdfast"], ["1.1 proxy.example", "2 Holdfast (x)"], ["1.1 proxy.example (nginx), 2 holdfast, 1.1 z"],
        ])
    func refused(via: [String]) async throws {
        try await withHTTP2World { world in
            let answer = try await world.client().send(
                HTTP2World.request(via.map { ("via", $0) }), body: Array("{}".utf8))
            #expect(answer.status == 421 && answer.body == #"{"reason":"FromGateway"}"#, "\(answer)")
            #expect(world.journal.entries.isEmpty && world.figures.refused == ["FromGateway": 1])
        }
    }

    @Test("A proxy alone makes no gateway", arguments: ["1.1 proxy.example", "holdfast", "1.1 holdfast.example", "2"])
    func passed(via: String) async throws {
        try await withHTTP2World { world in
            let answer = try await world.client().send(HTTP2World.request([("via", via)]), body: Array("{}".utf8))
            #expect(answer.status == 200 && world.journal.entries.count == 1)
        }
    }

    @Test("Nor is a message of Google's form taken, over HTTP/2 and HTTP/1.1")
    func google() async throws {
        try await Google.world { world in
            let answer = try await world.client().send(
                Google.request([("via", "2 holdfast")]), body: Google.message())
            #expect(answer.status == 421)
            let old = try await RawClient(port: world.port)
            let body = Google.message()
            let head =
                "POST /v1/projects/\(Google.project)/messages:send HTTP/1.1\r\nHost: fcm.googleapis.com\r\n"
                + "Via: 2 holdfast\r\nContent-Length: \(body.count)\r\n\r\n"
            try await old.send(Array(head.utf8) + body)
            #expect(await Patience(.seconds(20)).wait { old.received.count > 12 })
            #expect(String(decoding: old.received.prefix(12), as: UTF8.self) == "HTTP/1.1 421")
            await old.close()
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("The doctor of a gateway is told by the gateway what it is, and leaves nothing there")
    func probed() async throws {
        try await withHTTP2World(topics: [[HTTP2World.topic], [Google.project]]) { world in
            let forward = try await PortForward(to: world.port)
            let endpoint = "http://127.0.0.1:\(forward.port)"
            var probe = try APNsProbe(.init(endpoint: APNsEndpoint(endpoint)))
            probe.via = RelayMark.value
            var google = try FCMProbe(Self.googleConfiguration(endpoint))
            google.via = RelayMark.value
            _ = await google.fetchToken()
            for report in [await probe.run(topic: HTTP2World.topic), await google.run(asks: true)] {
                #expect(report.answer?.verdict == .foreign && report.answer?.status == 421)
                #expect(
                    report.answer?.detail?.hasPrefix("which a gateway of Holdfast answers another, or itself") ?? false,
                    "\(report.answer?.detail ?? "none")")
            }
            #expect(world.journal.entries.isEmpty)
            try await forward.close()
        }
    }

    private static func google(_ endpoint: String) throws -> FCMConnector {
        try FCMConnector(googleConfiguration(endpoint))
    }

    private static func googleConfiguration(_ endpoint: String) throws -> FCMConnector.Configuration {
        var configuration = FCMConnector.Configuration(
            command: TokenCommand(["/bin/echo", #"{"access_token":"t","expires_in":3600}"#]), project: Google.project)
        configuration.endpoint = try FCMEndpoint(endpoint)
        return configuration
    }

    @Test("Behind a port forward a gateway keeps what it would deliver to itself", arguments: ["apns", "fcm"])
    func forwarded(service: String) async throws {
        let account = Google.project
        try await withHTTP2World(topics: [[HTTP2World.topic], [account]]) { world in
            let forward = try await PortForward(to: world.port)
            let endpoint = "http://127.0.0.1:\(forward.port)"
            let isApple = service == "apns"
            let connector: any Connector =
                isApple
                ? try APNsConnector(.init(endpoint: APNsEndpoint(endpoint)))
                : try Self.google(endpoint)
            let journal = InMemoryJournal()
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let engine = try PushEngine(
                journal: journal, routes: [Route(name: "itself", connector: connector, topics: nil)], logger: logger)
            let running = Task { try await engine.run() }
            var push = PushNotification(
                recipient: .device(try DeviceToken(HTTP2World.token)), topic: HTTP2World.topic,
                payload: Array("{}".utf8))
            if !isApple {
                push = PushNotification(
                    recipient: .service(try ServiceAddress(.firebaseToken, "device")), topic: account,
                    payload: Array(#"{"data":{"a":"b"}}"#.utf8))
            }
            push.guarantee = .atMostOnce
            #expect(await engine.producer.submit([push]).allSatisfy { $0.failure == nil })
            try await eventually("it is refused") { world.figures.refused["FromGateway"] ?? 0 > 0 }
            running.cancel()
            _ = await running.result
            #expect(world.journal.entries.isEmpty)
            #expect(journal.entries.count == 1, "it is kept")
            try await forward.close()
        }
    }
}

/// Takes connections at a port of its own and passes their bytes on to another of this machine, both ways.
private struct PortForward {
    private let channel: any Channel
    var port: Int { channel.localAddress?.port ?? 0 }

    init(to target: Int) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { near in
                ClientBootstrap(group: near.eventLoop)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { far in
                        try far.pipeline.syncOperations.addHandler(Carrier(to: near))
                        try near.pipeline.syncOperations.addHandler(Carrier(to: far))
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async throws { try await channel.close() }
}
