import Foundation
import HoldfastLegacyAPNs
import HoldfastOpenSSL
import HoldfastTesting
import NIOSSL
import RawClients
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Who has to show credentials from a reload on, and who has to no more: connections from before it and from behind it.
@Suite("Credentials that a reload asks for", .timeLimit(.minutes(1)))
struct ReloadedAccessTests {
    private let signer: TestSigner

    init() throws { signer = try TestSigner() }

    private func request(_ signer: TestSigner? = nil) throws -> [(String, String)] {
        HTTP2World.request([("authorization", try (signer ?? self.signer).authorization())])
    }

    private func configuration(
        port: Int = 0, asks: Bool, keys: [TestSigner]? = nil, _ change: (inout ListenerLimits) -> Void = { _ in }
    ) throws -> GatewayConfiguration {
        var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: port))
        http2.requiresCredentials = asks
        change(&http2.limits)
        var configuration = GatewayConfiguration()
        configuration.http2 = http2
        configuration.submitters = try (keys ?? [signer]).map { try $0.submitter(topics: [HTTP2World.topic]) }
        return configuration
    }

    private func withWorld(_ configuration: GatewayConfiguration, _ body: (HTTP2World) async throws -> Void)
        async throws
    {
        try await withHTTP2World(
            Change { $0 = configuration.http2 ?? $0 }, gateway: Change { $0.submitters = configuration.submitters },
            body)
    }

    /// Connections that say nothing but that they speak HTTP/2, in their order: each is known to the gateway before the next one comes.
    private func strangers(_ count: Int, _ world: HTTP2World) async throws -> [RawClient] {
        var strangers: [RawClient] = []
        for _ in 0..<count {
            let stranger = try await RawClient(port: world.port)
            try await stranger.send(RawHTTP2.preface)
            let open = Patience(.seconds(10))
            #expect(await open.wait { stranger.hasEnded || !stranger.heard.isEmpty })
            strangers.append(stranger)
        }
        return strangers
    }

    // MARK: HTTP/2

    @Test("Connections from before are strangers behind it: they go for a sender, and at the first-request limit")
    func strangersFromBefore() async throws {
        func limits(_ limits: inout ListenerLimits) { (limits.connections, limits.connectionsPerAddress) = (4, 4) }
        try await withWorld(configuration(asks: false, limits)) { world in
            let strangers = try await strangers(4, world)
            try world.gateway.reload(configuration(port: world.port, asks: true, limits))
            let sender = try await world.client()
            #expect(try await sender.send(request()).status == 200)
            try await eventually("the oldest has gone for it") { strangers[0].hasEnded }
            #expect(!strangers[1].hasEnded)
            try world.gateway.reload(
                configuration(port: world.port, asks: true) {
                    limits(&$0)
                    $0.firstRequest = .milliseconds(200)
                })
            try await eventually("the others have had their time") { strangers.allSatisfy(\.hasEnded) }
            #expect(world.figures.faults == ["unproven": 4])
            #expect(try await sender.send(request()).status == 200)
        }
    }

    @Test("One address has half of all places from then on, and all of them when nothing is asked for any more")
    func shareOfAnAddress() async throws {
        func limits(_ limits: inout ListenerLimits) { limits.connections = 4 }
        try await withWorld(configuration(asks: false, limits)) { world in
            try world.gateway.reload(configuration(port: world.port, asks: true, limits))
            let asked = try await strangers(4, world)
            try await eventually("two have gone for the others") { asked.count(where: \.hasEnded) == 2 }
            for stranger in asked { await stranger.close() }
            try await eventually("all have gone") { world.gateway.figures[0].openConnections == 0 }

            try world.gateway.reload(
                configuration(port: world.port, asks: false) {
                    limits(&$0)
                    $0.firstRequest = .milliseconds(50)
                })
            let guests = try await strangers(4, world)
            #expect(try await RawClient(port: world.port).untilEnd() != nil)
            #expect(guests.filter(\.hasEnded).isEmpty)
            #expect(world.figures.faults == ["unproven": 2, "connections": 1])
            for guest in guests { await guest.close() }
        }
    }

    @Test("A connection that was let in by a token is a stranger once its key is gone, until it shows another one")
    func keyIsGone() async throws {
        let (second, third) = (try TestSigner(), try TestSigner())
        func configuration(port: Int = 0, _ keys: [TestSigner], limit: Duration) throws -> GatewayConfiguration {
            try self.configuration(port: port, asks: true, keys: keys) { $0.firstRequest = limit }
        }
        try await withWorld(configuration([signer, second], limit: .seconds(60))) { world in
            let (goes, stays, shows) = (try await world.client(), try await world.client(), try await world.client())
            #expect(try await goes.send(request()).status == 200)
            #expect(try await stays.send(request(second)).status == 200)
            #expect(try await shows.send(request()).status == 200)
            try world.gateway.reload(configuration(port: world.port, [second, third], limit: .seconds(60)))
            try await eventually("the old key is good no more") {
                try await shows.send(request()).reason == "InvalidProviderToken"
            }
            #expect(try await shows.send(request(third)).status == 200)
            try world.gateway.reload(configuration(port: world.port, [third, second], limit: .milliseconds(100)))
            try await eventually("it is told to go") { try await !goes.goAways.isEmpty }
            #expect(try await stays.send(request(second)).status == 200)
            #expect(try await shows.send(request(third)).status == 200)
            #expect(world.figures.faults == ["unproven": 1])
        }
    }

    @Test("Another key in a route's file is the one that tokens are verified with, without a reload")
    func keyInItsFile() async throws {
        let next = try TestSigner()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString).p8")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(signer.key.pem()).write(to: file)
        var settings = try configuration(asks: true) { $0.firstRequest = .seconds(60) }
        var key = SubmitterKey(.file(file.path), keyID: signer.keyID, teamID: signer.teamID)
        key.topics = [HTTP2World.topic]
        key.reloadEvery = .milliseconds(20)
        settings.submitters = [key]
        try await withWorld(settings) { world in
            let client = try await world.client()
            #expect(try await client.send(request()).status == 200)
            #expect(try await client.send(request(next)).reason == "InvalidProviderToken")
            // What can't be used changes nothing.
            try Data("no key".utf8).write(to: file, options: .atomic)
            #expect(try await client.send(request()).status == 200)
            try Data(next.key.pem()).write(to: file, options: .atomic)
            try await eventually("the new key is good") { try await client.send(request(next)).status == 200 }
            #expect(try await client.send(request()).reason == "InvalidProviderToken")
        }
    }

    // MARK: Protocols of certificates

    private func binary(_ credentials: LegacyCredentials, port: Int = 0, asks: Bool) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        var tls = credentials.server(clients: asks)
        tls.requiresClientCertificate = asks
        let listen = ListenAddress(host: "127.0.0.1", port: port)
        configuration.binary = BinaryIngressConfiguration(listen: listen, tls: tls, topic: BinaryGateway.topic)
        configuration.binary?.limits.connections = 4
        configuration.feedback = FeedbackIngressConfiguration(listen: listen, tls: tls, topic: BinaryGateway.topic)
        configuration.drainLimit = .seconds(2)
        return configuration
    }

    private func client(_ credentials: LegacyCredentials) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(credentials.authority)
        tls.certificateVerification = .noHostnameVerification
        return tls
    }

    @Test("A client of the binary protocol without a certificate is told what is on disk, and goes")
    func binaryWithout() async throws {
        try await LegacyCredentials.run { credentials in
            try await BinaryGateway.run(binary(credentials, asks: false)) { gateway in
                let client = try await RawClient(port: gateway.port, tls: client(credentials))
                try await client.send(BinaryIngressTests.bytes((1...3).map { BinaryIngressTests.request($0) }))
                #expect(await Patience(.seconds(10)).wait { gateway.payloads.count == 3 })
                var configuration = binary(credentials, port: gateway.port, asks: true)
                configuration.feedback = nil
                try gateway.gateway.reload(configuration)
                #expect(await client.untilEnd() == [8, 10, 0, 0, 0, 3])
                #expect(gateway.figures.faults == ["unproven": 1])
                #expect(await Patience(.seconds(10)).wait { gateway.gateway.figures[0].openConnections == 0 })
                // From then on one address has half of the places.
                let silent = try await RawClient(port: gateway.port)
                let other = try await RawClient(port: gateway.port)
                let third = try await RawClient(port: gateway.port)
                #expect(await silent.untilEnd() == [])
                #expect(!other.hasEnded && !third.hasEnded)
                #expect(gateway.figures.faults == ["unproven": 2])
                for one in [other, third] { await one.close() }
            }
        }
    }

    @Test("A reader of feedback without a certificate is let go")
    func feedbackWithout() async throws {
        try await LegacyCredentials.run { credentials in
            var settings = binary(credentials, asks: false)
            settings.feedback?.limits.write = .milliseconds(200)
            try await BinaryGateway.run(settings) { gateway in
                let port = try #require(gateway.gateway.addresses["feedback"]?.port)
                // It does not close its side, and so is still there.
                let client = try await HoldingTLSClient.connect(port: port, tls: client(credentials), sending: [])
                let feedback = { gateway.gateway.figures.first { $0.name == "feedback" } }
                var other = binary(credentials, port: port, asks: true)
                other.binary = nil
                other.feedback?.limits.write = .milliseconds(200)
                try gateway.gateway.reload(other)
                #expect(await Patience(.seconds(10)).wait { feedback()?.openConnections == 0 })
                #expect(feedback()?.values.faults == ["unproven": 1])
                await client.close()
            }
        }
    }
}
