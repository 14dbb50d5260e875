import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@Suite("The feedback mock")
struct FeedbackServerTests {
    static let tuples = (1...4).map {
        MockFeedbackTuple(time: UInt32($0) << 24, token: [UInt8](repeating: 7, count: $0 * 5))
    }

    static func bytes(_ tuples: [MockFeedbackTuple]) -> [UInt8] {
        tuples.flatMap { Wire.big(Int($0.time), 4) + Wire.big($0.token.count, 2) + $0.token }
    }

    private func withFeedback<R>(
        _ behavior: MockFeedbackBehavior? = nil, tls: Bool = false, tuples: [MockFeedbackTuple] = tuples,
        _ body: (MockFeedbackServer) async throws -> R
    ) async throws -> R {
        var configuration = MockFeedbackConfiguration()
        configuration.tuples = tuples
        configuration.behavior = behavior
        configuration.isCleartext = !tls
        let server = try await MockFeedbackServer.start(configuration)
        let result: R
        do {
            result = try await body(server)
        } catch {
            try await server.stop(within: .seconds(1))
            throw error
        }
        try await server.stop()
        return result
    }

    private func connect(_ server: MockFeedbackServer, tls: Bool = false) async throws -> BinaryClient {
        try await BinaryClient(port: server.port, authority: tls ? server.certificateAuthorityFile : nil)
    }

    @Test(
        "All tuples, tokens of any length, up to the end of the stream; and with that they are gone",
        arguments: [false, true])
    func serves(tls: Bool) async throws {
        try await withFeedback(tls: tls) { server async throws in
            #expect(try await connect(server, tls: tls).everything() == Self.bytes(Self.tuples))
            #expect(server.remaining.isEmpty && server.counters.served == 4)
            #expect(try await connect(server, tls: tls).everything().isEmpty)
            try server.add([Self.tuples[1]])
            #expect(try await connect(server, tls: tls).everything() == Self.bytes([Self.tuples[1]]))
        }
    }

    @Test("Byte by byte it is the same stream")
    func split() async throws {
        try await withFeedback(.splitting(every: 1, pause: .milliseconds(1))) { server async throws in
            let client = try await connect(server)
            #expect(try await client.everything() == Self.bytes(Self.tuples))
            #expect(client.reads.count > 10)
        }
    }

    @Test("Held open behind the tuples, until the server stops or the client leaves")
    func held() async throws {
        let client = try await withFeedback(.holding) { server async throws in
            let client = try await connect(server)
            try await eventually("the tuples are there") { client.bytes == Self.bytes(Self.tuples) }
            #expect(!client.isOver && server.counters.openConnections == 1)
            return client
        }
        try await eventually("the connection ends") { client.isOver }
    }

    @Test("Two tuples and then a reset: both arrive, the others stay")
    func reset() async throws {
        try await withFeedback(.resetting(after: 2, pause: .milliseconds(200))) { server async throws in
            let client = try await connect(server)
            #expect(try await client.everything() == Self.bytes(Array(Self.tuples[..<2])))
            #expect(client.wasReset && server.remaining == Array(Self.tuples[2...]))
        }
    }

    @Test("Refused as it is accepted: nothing is lost")
    func refused() async throws {
        try await withFeedback(.refusing, tls: true) { server async throws in
            let heard = try await BinaryClient.heard(port: server.port, authority: server.certificateAuthorityFile)
            #expect(heard.isEmpty && server.remaining.count == 4)
            server.setBehavior(nil)
            #expect(try await connect(server, tls: true).everything() == Self.bytes(Self.tuples))
        }
    }

    @Test("A hundred thousand tuples")
    func many() async throws {
        let tuples = (0..<100_000).map { MockFeedbackTuple(time: UInt32($0), token: Wire.token($0)) }
        try await withFeedback(tls: true, tuples: tuples) { server async throws in
            #expect(try await connect(server, tls: true).everything().count == 100_000 * 38)
        }
    }
}
