import Holdfast
import HoldfastLegacyAPNs
import HoldfastTesting
import HoldfastTransport
import NIOCore
import RawClients
import Testing

@testable import HoldfastGateway

/// What a listener allows, and what a client costs that wants more.
@Suite("Limits of the binary listener", .timeLimit(.minutes(1))) struct BinaryLimitsTests {
    private func configuration(_ change: (inout BinaryIngressConfiguration) -> Void) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        var binary = BinaryIngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: 0), topic: BinaryGateway.topic)
        change(&binary)
        configuration.binary = binary
        configuration.drainLimit = .seconds(2)
        return configuration
    }

    private func wait(_ condition: () -> Bool) async -> Bool { await Patience(.seconds(10)).wait(for: condition) }

    private func bytes(_ numbers: ClosedRange<Int>) -> [UInt8] {
        BinaryIngressTests.bytes(numbers.map { BinaryIngressTests.request($0) })
    }

    @Test("What was read and is not on disk stays within its limit, however much a client writes")
    func uncommitted() async throws {
        let journal = InMemoryJournal(mode: .manual)
        try await BinaryGateway.run(configuration { $0.uncommitted = 10 }, journal: journal) { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(bytes(1...1000))
            for _ in 1...100 {
                #expect(await wait { journal.waitingCount > 0 })
                let before = journal.entries.count
                journal.commit()
                #expect(journal.entries.count - before <= 10)
            }
            #expect(
                await wait {
                    journal.commit()
                    return journal.entries.count == 1000
                })
            #expect(journal.entries.map(\.notification.payload) == (1...1000).map(BinaryIngressTests.payload))
        }
    }

    @Test("Beyond the rate nothing is read for a while, and nothing is refused")
    func rate() async throws {
        try await BinaryGateway.run(configuration { $0.rate = RateLimit(perSecond: 200, burst: 50) }) { gateway in
            let client = try await RawClient(port: gateway.port)
            let start = ContinuousClock.now
            try await client.send(bytes(1...150))
            #expect(await wait { gateway.payloads.count == 150 })
            #expect(ContinuousClock.now - start > .milliseconds(400))
            #expect(client.received.isEmpty)
        }
    }

    @Test("A client that has said nothing for long is told what is on disk, and let go")
    func idle() async throws {
        try await BinaryGateway.run(configuration { $0.limits.idle = .milliseconds(200) }) { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(bytes(1...3))
            #expect(await client.untilEnd() == [8, 10, 0, 0, 0, 3])
            #expect(gateway.figures.faults == ["idle": 1])
        }
    }

    @Test("Bytes that never make a notification are silence")
    func slowloris() async throws {
        try await BinaryGateway.run(configuration { $0.limits.idle = .milliseconds(300) }) { gateway in
            let client = try await RawClient(port: gateway.port)
            let start = ContinuousClock.now
            for byte in bytes(1...1) {
                if client.hasEnded { break }
                do { try await client.send([byte]) } catch { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(await client.untilEnd() == [8, 10, 0, 0, 0, 0])
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(gateway.payloads.isEmpty)
            #expect(gateway.figures.faults == ["idle": 1])
        }
    }

    @Test("Half-open TLS and bytes that are no TLS cost a connection for as long as the handshake may take")
    func handshake() async throws {
        try await LegacyCredentials.run { credentials in
            let settings = configuration {
                $0.tls = credentials.server()
                $0.limits.handshake = .milliseconds(200)
            }
            try await BinaryGateway.run(settings) { gateway in
                let silent = try await RawClient(port: gateway.port)
                let garbage = try await RawClient(port: gateway.port)
                try await garbage.send(bytes(1...100))
                #expect(await silent.untilEnd() != nil)
                #expect(await garbage.untilEnd() != nil)
                #expect(await wait { gateway.figures.faults == ["handshake": 1, "tls": 1] })
                #expect(gateway.payloads.isEmpty)
            }
        }
    }

    @Test("One connection too many is closed, and the others are served")
    func connections() async throws {
        try await BinaryGateway.run(configuration { $0.limits.connections = 2 }) { gateway in
            let clients = [try await RawClient(port: gateway.port), try await RawClient(port: gateway.port)]
            for (index, client) in clients.enumerated() { try await client.send(bytes(index + 1...index + 1)) }
            #expect(await wait { gateway.payloads.count == 2 })
            let third = try await RawClient(port: gateway.port)
            #expect(await third.untilEnd() == [])
            try await clients[0].send(bytes(3...3))
            #expect(await wait { gateway.payloads.count == 3 })
        }
    }

    @Test("A client that does not read its error is let go at the write limit")
    func writeLimit() async throws {
        try await BinaryGateway.run(configuration { $0.limits.write = .milliseconds(200) }) { gateway in
            let client = try await RawClient(port: gateway.port, reads: false)
            try await client.send(BinaryIngressTests.bytes([BinaryIngressTests.request(1, token: [])]))
            #expect(await wait { gateway.gateway.figures.allSatisfy { $0.openConnections == 0 } })
        }
    }

    @Test("Garbage costs its connection, and the notifications before it are on disk")
    func garbage() async throws {
        try await BinaryGateway.run { gateway in
            let good = try await RawClient(port: gateway.port)
            for start in [Array("GET / HTTP/1.1\r\n\r\n".utf8), [2, 0xFF, 0xFF, 0xFF, 0xFF], [9]] {
                let client = try await RawClient(port: gateway.port)
                try await client.send(start)
                #expect(await client.untilEnd()?.first == 8)
            }
            try await good.send(bytes(1...500))
            #expect(await wait { gateway.payloads.count == 500 })
        }
    }

    @Test("A reload changes limits for connections to come, and ends none")
    func reload() async throws {
        var settings = configuration { _ in }
        try await BinaryGateway.run(settings) { gateway in
            let client = try await RawClient(port: gateway.port)
            try await client.send(bytes(1...1))
            #expect(await wait { gateway.payloads.count == 1 })
            settings.binary?.topic = "com.example.other"
            settings.binary?.limits.connections = 1
            try gateway.gateway.reload(settings)
            try await client.send(bytes(2...2))
            #expect(await wait { gateway.payloads.count == 2 })
            #expect(try await RawClient(port: gateway.port).untilEnd() == [])
            await client.close()
            #expect(await wait { gateway.gateway.figures[0].openConnections == 0 })
            try await RawClient(port: gateway.port).send(bytes(3...3))
            #expect(await wait { gateway.payloads.count == 3 })
            let topics = gateway.journal.entries.map(\.notification.topic)
            #expect(topics == [BinaryGateway.topic, BinaryGateway.topic, "com.example.other"])
        }
    }

    @Test("A listener that others reach needs TLS and the authorities of its clients; and each needs a topic")
    func access() async throws {
        try await LegacyCredentials.run { credentials in
            let elsewhere = ListenAddress(host: "0.0.0.0", port: 0)
            let cases: [(BinaryIngressConfiguration, String)] = [
                (.init(listen: elsewhere, topic: "a"), "without TLS"),
                (.init(listen: elsewhere, tls: credentials.server(), topic: "a"), "authorities of those clients"),
                (.init(listen: ListenAddress(host: "127.0.0.1", port: 0)), "needs a topic"),
            ]
            for (binary, words) in cases {
                let error = await #expect(throws: GatewayError.self) {
                    try await BinaryGateway.run(configuration { $0 = binary }) { _ in }
                }
                #expect(error?.message.contains(words) == true)
            }
            let tls = credentials.server(clients: true)
            try await BinaryGateway.run(configuration { $0 = .init(listen: elsewhere, tls: tls, topic: "a") }) {
                gateway in
                var client = LegacyAPNsConnector.Configuration(
                    endpoint: try LegacyAPNsEndpoint("binary+tls://127.0.0.1:\(gateway.port)"),
                    trust: .file(credentials.authority))
                client.avoided = OwnListeners()
                let source = try LegacyAPNsConnector(client)
                // TLS 1.3 lets a client believe that it is in until it reads.
                #expect(await wait { gateway.figures.faults.isEmpty })
                _ = try? await source.connect(ConnectionSink { _ in })
                #expect(await wait { gateway.figures.faults["tls"] == 1 })
            }
        }
    }
}
