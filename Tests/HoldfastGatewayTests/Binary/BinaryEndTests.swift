import Holdfast
import HoldfastPlatform
import HoldfastTesting
import RawClients
import Testing

@testable import HoldfastGateway

/// What clients of the binary listener come to that do not close when they are told that it is over.
@Suite("The end of a binary connection", .timeLimit(.minutes(1))) struct BinaryEndTests {
    private static let bad = BinaryIngressTests.bytes([BinaryIngressTests.request(2, token: [])])
    private static let more = BinaryIngressTests.bytes([BinaryIngressTests.request(3)])
    private static let answer: [UInt8] = [8, 2, 0, 0, 0, 2]

    private func openConnections(_ gateway: BinaryGateway) -> Int { gateway.gateway.figures[0].openConnections }

    @Test(
        "A client that never reads and goes on writing behind its error is reset, and the error is there for it to read"
    )
    func writesOn() async throws {
        try await BinaryGateway.run { gateway in
            let client = try DeafSocket(port: gateway.port)
            #expect(client.write(Self.bad) == 0)
            let start = ContinuousClock.now
            var code = CInt(0)
            while code == 0, ContinuousClock.now - start < .seconds(10) {
                try await Task.sleep(for: .milliseconds(5))
                code = client.write(Self.more)
            }
            // A quarter of a second, on a machine that has nothing else to do.
            #expect(ContinuousClock.now - start < .seconds(3))
            #expect(code == EPIPE || code == ECONNRESET)
            #expect(client.read() == Self.answer)
            client.die()
        }
    }

    @Test("A client that comes back to its connection long after the error is told with its first write")
    func writesLater() async throws {
        try await BinaryGateway.run { gateway in
            let client = try DeafSocket(port: gateway.port)
            #expect(client.write(Self.bad) == 0)
            // Longer than `LastWord.grace`: it is about what happens behind that.
            try await Task.sleep(for: .milliseconds(600))
            #expect(openConnections(gateway) == 1)
            #expect(client.write(Self.more) == 0)
            #expect(await Patience(.seconds(10)).wait { openConnections(gateway) == 0 })
            #expect(client.write(Self.more) == EPIPE)
            client.die()
        }
    }

    @Test("A client that writes nothing behind its error has its time to read it")
    func waits() async throws {
        try await BinaryGateway.run { gateway in
            let client = try DeafSocket(port: gateway.port)
            #expect(client.write(Self.bad + Self.more) == 0)
            // Longer than `LastWord.grace`: it is about what happens behind that.
            try await Task.sleep(for: .milliseconds(600))
            #expect(openConnections(gateway) == 1)
            #expect(client.read() == Self.answer)
            client.die()
            #expect(await Patience(.seconds(10)).wait { openConnections(gateway) == 0 })
        }
    }

    private func configuration(_ authority: TestAuthority, drainLimit: Duration) throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.binary = BinaryIngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: 0), tls: ServerTLS(identity: try authority.identity()),
            topic: BinaryGateway.topic)
        configuration.drainLimit = drainLimit
        return configuration
    }

    @Test("An orderly end takes a second from a client that keeps its side open, over TLS too")
    func orderlyEnd() async throws {
        let authority = try TestAuthority()
        var start = ContinuousClock.now
        var client: HoldingTLSClient?
        try await BinaryGateway.run(configuration(authority, drainLimit: .seconds(10))) { gateway in
            client = try await HoldingTLSClient.connect(
                port: gateway.port, tls: try authority.client(protocols: []), sending: Self.more)
            #expect(await Patience(.seconds(10)).wait { gateway.payloads.count == 1 })
            start = .now
        }
        #expect(ContinuousClock.now - start < .seconds(4))
        await client?.close()
    }

    @Test("What the end may take is kept over TLS while the journal takes nothing")
    func limit() async throws {
        let authority = try TestAuthority()
        let journal = InMemoryJournal(mode: .manual)
        var start = ContinuousClock.now
        var client: HoldingTLSClient?
        try await BinaryGateway.run(configuration(authority, drainLimit: .milliseconds(300)), journal: journal) {
            gateway in
            client = try await HoldingTLSClient.connect(
                port: gateway.port, tls: try authority.client(protocols: []), sending: Self.more)
            #expect(await Patience(.seconds(10)).wait { journal.waitingCount == 1 })
            start = .now
        }
        #expect(ContinuousClock.now - start < .seconds(3))
        journal.commit()
        await client?.close()
    }
}
