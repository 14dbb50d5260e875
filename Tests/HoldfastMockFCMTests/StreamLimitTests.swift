import HoldfastHTTP2
import HoldfastMockFCM
import HoldfastMocking
import RawClients
import Testing

/// Google's front end ends a connection for one stream too many (firebase-admin-node #2943), and does not refuse the stream.
@Suite("Streams at a time at the mock of FCM", .timeLimit(.minutes(1))) struct StreamLimitTests {
    /// A client that opens its streams before it has heard of any limit.
    private struct Burst {
        private(set) var statuses: [UInt64: Int] = [:]
        private(set) var goAway: HTTP2GoAway?
        private(set) var resetCount = 0
        private var session: HTTP2ClientSession

        init(_ count: Int) {
            var limits = HTTP2Limits.client
            limits.streamsBeforeSettings = count
            session = HTTP2ClientSession(limits: limits, decodesSuccesses: true)
            for tag in 1...UInt64(count) {
                let body = Array(#"{"message":{"fid":"f-\#(tag)"}}"#.utf8)
                let started = session.startRequest(
                    tag: tag, headerBlock: Self.headerBlock, body: body, bodyRange: body.indices)
                #expect(started == .started(streamID: UInt32(tag) * 2 - 1))
            }
        }

        mutating func takeOutput() -> [UInt8] { session.takeOutput() }

        mutating func receive(_ bytes: [UInt8]) {
            var events = HTTP2ClientEvents()
            session.receive(bytes.span, events: &events)
            for event in events.others {
                switch event {
                case .response(let tag, let response): statuses[tag] = response.status
                case .goAway(let received): goAway = received
                case .reset: resetCount += 1
                default: break
                }
            }
        }

        /// `:method POST`, `:scheme http`, and literals (RFC 7541 section 6.2.2).
        private static var headerBlock: [UInt8] {
            func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
            return [0x83, 0x86, 0x04] + text("/v1/projects/mock-project/messages:send") + [0x00] + text("content-type")
                + text("application/json")
        }
    }

    private func start(_ change: (inout MockFCMConfiguration) -> Void = { _ in }) async throws -> MockFCMServer {
        var configuration = MockFCMConfiguration()
        configuration.isCleartext = true
        configuration.checksAccessTokens = false
        change(&configuration)
        return try await MockFCMServer.start(configuration)
    }

    @Test(
        "One stream too many ends the connection: those before it are answered, it and those behind it are not looked at",
        arguments: [0, 20])
    func tooMany(delay: Int) async throws {
        let server = try await start { $0.delay = .milliseconds(delay) }
        var burst = Burst(120)
        let client = try await RawClient(port: server.port)
        try await client.send(burst.takeOutput())
        burst.receive(try #require(await client.untilEnd()))
        let goAway = try #require(burst.goAway)
        #expect(goAway.code == .protocolError && goAway.lastStreamID == 199)
        #expect(goAway.debugData == Array("exceeded_max_concurrent_streams".utf8))
        #expect(goAway.neverProcessed == Array(101...120))
        #expect(burst.statuses.count == 100 && burst.statuses.values.allSatisfy { $0 == 200 })
        #expect(burst.resetCount == 0)
        #expect(server.counters.accepted == 100 && server.counters.streamLimitExceeded == 1)
        #expect(server.counters.protocolErrors == 0)
        try await server.stop()
    }

    @Test("A hundred streams are served, and the connection stays") func asManyAsAllowed() async throws {
        let server = try await start { $0.delay = .milliseconds(20) }
        var burst = Burst(100)
        let client = try await RawClient(port: server.port)
        try await client.send(burst.takeOutput())
        // Its GOAWAY names all of them, and is no complaint.
        while server.counters.accepted < 100 { await Task.yield() }
        try await server.stop()
        burst.receive(try #require(await client.untilEnd()))
        #expect(burst.goAway?.code == .noError && burst.statuses.count == 100)
        #expect(server.counters.streamLimitExceeded == 0)
    }

    @Test("With a hidden limit it ends at fewer streams than its SETTINGS say") func hidden() async throws {
        let server = try await start { $0.hiddenStreamLimit = 7 }
        var burst = Burst(100)
        let client = try await RawClient(port: server.port)
        try await client.send(burst.takeOutput())
        let received = try #require(await client.untilEnd())
        burst.receive(received)
        // MAX_CONCURRENT_STREAMS is 3 (RFC 9113 section 6.5.2), and is said once.
        let settings: [UInt8] = [0, 3, 0, 0, 0, 100]
        #expect(received.indices.count { received[$0...].starts(with: settings) } == 1)
        #expect(burst.goAway?.lastStreamID == 13 && burst.statuses.count == 7)
        try await server.stop()
    }

    @Test("Where a script has set the limit, one stream too many is refused, and the connection stays") func scripted()
        async throws
    {
        let server = try await start {
            $0.delay = .milliseconds(20)
            $0.script = [.connection(.init(), MockConnectionPlan(then: [.streams(5)]))]
        }
        var burst = Burst(8)
        let client = try await RawClient(port: server.port)
        try await client.send(burst.takeOutput())
        while server.counters.accepted < 5 { await Task.yield() }
        try await server.stop()
        burst.receive(try #require(await client.untilEnd()))
        #expect(burst.goAway?.code == .noError && server.counters.streamLimitExceeded == 0)
        try await server.stop()
    }
}
