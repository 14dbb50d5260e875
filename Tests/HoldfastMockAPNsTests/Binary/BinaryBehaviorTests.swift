import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("The binary mock's faults")
struct BinaryBehaviorTests {
    static let three = (1...3).flatMap { Wire.full($0, token: $0 == 2 ? [1] : nil) }

    /// What a client hears that sends three notifications, the second one bad.
    private func answer(
        to behavior: MockBinaryBehavior, _ bytes: [UInt8] = three,
        _ body: (MockBinaryServer, BinaryClient) async throws -> Void = { _, _ in }
    ) async throws -> BinaryClient {
        try await withBinaryServer(.with { ($0.isCleartext, $0.behavior) = (true, behavior) }) { server async throws in
            let client = try await BinaryClient(server)
            client.send(bytes)
            try await body(server, client)
            if !client.isOver { _ = try await client.everything() }
            return client
        }
    }

    @Test("A late error: until then the server reads on and discards")
    func late() async throws {
        let delay = Duration.milliseconds(300)
        let start = ContinuousClock.now
        let client = try await answer(to: .errors(.init(delay: delay))) { server, client async throws in
            try await eventually("the bad one is read") { server.counters.refusedCount == 1 }
            let before = server.counters.discardedBytes
            client.send(Wire.full(4))
            try await eventually("what follows is discarded") { server.counters.discardedBytes > before }
            #expect(client.bytes.isEmpty)
        }
        #expect(client.bytes == Wire.error(5, 2))
        #expect(ContinuousClock.now - start >= delay)
    }

    @Test("A reset instead of the error response")
    func resetInstead() async throws {
        let client = try await answer(to: .errors(.init(isAnswered: false, ending: .reset)))
        #expect(client.bytes.isEmpty && client.wasReset)
    }

    @Test("A reset right behind the error response, which may overtake it")
    func resetBehind() async throws {
        let client = try await answer(to: .errors(.init(ending: .reset)))
        #expect(client.wasReset)
        #expect(client.bytes.isEmpty || client.bytes == Wire.error(5, 2))
    }

    @Test("No response at all: closed without a word")
    func closedSilently() async throws {
        let client = try await answer(to: .errors(.init(isAnswered: false)))
        #expect(client.bytes.isEmpty && !client.wasReset)
    }

    @Test("The response byte by byte, with pauses")
    func splitWithPauses() async throws {
        let client = try await answer(to: .errors(.init(pieces: .init(every: 1, pause: .milliseconds(20)))))
        #expect(client.bytes == Wire.error(5, 2))
        #expect(client.reads == [1, 1, 1, 1, 1, 1])
    }

    @Test("Split below TLS, the response still arrives whole")
    func splitBelowTLS() async throws {
        let behavior = MockBinaryBehavior.errors(.init(pieces: .init(every: 3, isBelowTLS: true)))
        try await withBinaryServer(.with { $0.behavior = behavior }) { server async throws in
            let client = try await BinaryClient(server, tls: true)
            client.send(Self.three)
            #expect(try await client.everything() == Wire.error(5, 2))
        }
    }

    @Test("Wrong identifiers and unknown statuses are said as told")
    func wrongWords() async throws {
        #expect(
            try await answer(to: .errors(.init(identifier: .value(0xDEAD_BEEF)))).bytes == Wire.error(5, 0xDEAD_BEEF))
        #expect(try await answer(to: .errors(.init(identifier: .firstOfConnection))).bytes == Wire.error(5, 1))
        #expect(try await answer(to: .errors(.init(.refused(42)))).bytes == Wire.error(42, 2))
        #expect(try await answer(to: .errors(.init(.refused(.invalidFrameItem)))).bytes == Wire.error(128, 2))
    }

    @Test("A barrier answered with identifier 0, while other errors name theirs")
    func barrierWithoutIdentifier() async throws {
        let behavior = MockBinaryBehavior.barriers(.init(identifier: .value(0)))
        #expect(try await answer(to: behavior, Wire.full(1) + Wire.barrier(2)).bytes == Wire.error(2, 0))
        #expect(try await answer(to: behavior).bytes == Wire.error(5, 2))
    }

    @Test("A barrier answered by silence: the connection stays and hears nothing")
    func silentBarrier() async throws {
        let behavior = MockBinaryBehavior.barriers(.init(isAnswered: false, ending: .discard))
        let client = try await answer(to: behavior, Wire.full(1) + Wire.barrier(2)) { server, client async throws in
            try await eventually("the barrier is read") { server.counters.refusedCount == 1 }
            let before = server.counters.discardedBytes
            client.send(Wire.full(3))
            try await eventually("what follows is discarded") { server.counters.discardedBytes > before }
            #expect(client.bytes.isEmpty && !client.isOver)
            server.closeConnections()
        }
        #expect(client.bytes.isEmpty)
    }

    @Test("Status 10 after so many: the last one is good, the next is not")
    func shuttingDown() async throws {
        let client = try await answer(to: .shuttingDown(after: 2), (1...5).flatMap { Wire.full($0) }) {
            server, client async throws in
            _ = try await client.everything()
            #expect(server.counters.taken == 2)
        }
        #expect(client.bytes == Wire.error(10, 2))
    }

    @Test("A stall ends, and what was not read until then is dealt with")
    func stall() async throws {
        let behavior = MockBinaryBehavior.ending(.stall(.milliseconds(200)), after: 1).atMost(1)
        let client = try await answer(to: behavior) { server, client async throws in
            try await eventually("the first is taken") { server.counters.taken == 1 }
            #expect(server.counters.notifications == 1)
        }
        #expect(client.bytes == Wire.error(5, 2))
    }

    @Test("Half open: nothing more is read, nothing answered, the socket stays")
    func halfOpen() async throws {
        let client = try await answer(to: .ending(.stall(nil), after: 1)) { server, client async throws in
            try await eventually("the first is taken") { server.counters.taken == 1 }
            // More than the kernel's buffers hold.
            let many = [UInt8](repeating: 0, count: 32 << 20)
            client.send(many)
            try await eventually("the client cannot write any more") { !client.isWritable }
            #expect(server.counters.notifications == 1 && !client.isOver)
            server.closeConnections()
        }
        #expect(client.bytes.isEmpty)
    }

    @Test("Closed or reset as it is accepted, so many times; then all is well")
    func notAccepted() async throws {
        let behavior = MockBinaryBehavior.opening(.reset).atMost(2)
        try await withBinaryServer(.with { $0.behavior = behavior }) { server async throws in
            for _ in 0..<2 {
                let heard = try await BinaryClient.heard(port: server.port, authority: server.certificateAuthorityFile)
                #expect(heard.isEmpty)
            }
            try await eventually("both are counted") { server.counters.handshakesFailed == 2 }
            let client = try await BinaryClient(server, tls: true)
            client.send(Self.three)
            #expect(try await client.everything() == Wire.error(5, 2))
        }
    }

    @Test("Behaviors add up, and keep to their connections")
    func composition() async throws {
        let behavior = MockBinaryBehavior.errors(.init(.refused(42))).onConnections { $0 == 2 }
            .orElse(.shuttingDown(after: 3).onConnections { $0 == 3 })
        try await withBinaryServer(.with { ($0.isCleartext, $0.behavior) = (true, behavior) }) { server async throws in
            var heard: [[UInt8]] = []
            for _ in 1...3 {
                let client = try await BinaryClient(server)
                client.send(heard.count == 2 ? (1...5).flatMap { Wire.full($0) } : Self.three)
                heard.append(try await client.everything())
            }
            #expect(heard == [Wire.error(5, 2), Wire.error(42, 2), Wire.error(10, 3)])
        }
    }
}
