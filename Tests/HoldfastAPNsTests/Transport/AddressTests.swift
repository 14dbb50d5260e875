import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting
@testable import HoldfastTransport

@Suite("A service with several addresses", .timeLimit(.minutes(1))) struct AddressTests {
    private func configuration(_ mock: MockAPNsServer, _ resolver: StubResolver) throws -> APNsConnector.Configuration {
        var configuration = try APNsConnector.Configuration(mock, host: "localhost")
        configuration.resolver = resolver
        return configuration
    }

    @Test("Names are resolved afresh for each connection") func afresh() async throws {
        let first = try await MockAPNsServer.start()
        var same = MockAPNsConfiguration()
        same.certificateDirectory = first.certificateDirectory
        let second = try await MockAPNsServer.start(same)
        let resolver = StubResolver([("127.0.0.1", first.port)])
        let connector = try APNsConnector(configuration(first, resolver))
        await (try await WireBench(connector)).finish()
        resolver.answer([("127.0.0.1", second.port)])
        await (try await WireBench(connector)).finish()
        #expect(resolver.count == 2)
        #expect(first.counters.connections == 1)
        #expect(second.counters.connections == 1)
        try await second.stop()
        try await first.stop()
    }

    @Test("The system's resolver finds this machine, and says that what is no name has no address") func system()
        async throws
    {
        let mock = try await MockAPNsServer.start()
        let bench = try await WireBench(
            APNsConnector(APNsConnector.Configuration(mock, host: "localhost")))
        await bench.finish()
        try await mock.stop()
        var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("https://no..name"))
        configuration.connectDeadline = .seconds(5)
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .temporary)
        #expect(error?.message.contains("no..name") == true)
    }

    @Test(
        "In the clear, a localhost that is elsewhere is not connected to",
        arguments: ["192.0.2.1", "0.0.0.0", "2001:db8::1"])
    func elsewhere(address: String) async throws {
        var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("http://localhost:9"))
        configuration.resolver = StubResolver([(address, 9)])
        configuration.connectDeadline = .seconds(5)
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("in the clear to another machine: localhost is") == true)
    }

    @Test("Where nobody listens at the first address, the next one serves") func fallback() async throws {
        let mock = try await MockAPNsServer.start()
        let gone = try await TestPeer.start()
        try await gone.stop()
        let board = NoticeBoard()
        let connector = try APNsConnector(
            configuration(mock, StubResolver([("127.0.0.1", gone.port), ("127.0.0.1", mock.port)])))
        connector.begin(board.host)
        let bench = try await WireBench(connector)
        bench.handOut(10)
        #expect(await bench.untilAnswered())
        #expect(bench.now.confirmed.count == 10)
        // To refuse is an answer: that address is not set aside.
        #expect(board.all == [])
        await bench.finish()
        try await mock.stop()
    }

    @Test("Eight connections to a name with four addresses are two to each; where one is away, the others have them")
    func spread() async throws {
        let first = try await MockAPNsServer.start()
        var same = MockAPNsConfiguration()
        same.certificateDirectory = first.certificateDirectory
        var mocks = [first]
        for _ in 0..<3 { mocks.append(try await MockAPNsServer.start(same)) }
        let connector = try APNsConnector(configuration(first, StubResolver(mocks.map { ("127.0.0.1", $0.port) })))
        var benches: [WireBench] = []
        for _ in 0..<8 { benches.append(try await WireBench(connector)) }
        #expect(mocks.map(\.counters.connections) == [2, 2, 2, 2])
        try await mocks[1].stop()
        for _ in 0..<3 { benches.append(try await WireBench(connector)) }
        #expect([0, 2, 3].map { mocks[$0].counters.connections } == [3, 3, 3])
        for bench in benches { await bench.finish() }
        for index in [0, 2, 3] { try await mocks[index].stop() }
    }

    @Test("An address whose certificate is not trusted is followed by one whose is") func untrustedFirst() async throws
    {
        let mock = try await MockAPNsServer.start()
        let other = try await MockAPNsServer.start()
        let connector = try APNsConnector(
            configuration(mock, StubResolver([("127.0.0.1", other.port), ("127.0.0.1", mock.port)])))
        await (try await WireBench(connector)).finish()
        try await other.stop()
        let alone = try APNsConnector(
            configuration(mock, StubResolver([("127.0.0.1", other.port)])))
        await #expect(throws: ConnectError.self) { try await WireBench(alone) }
        try await mock.stop()
    }

    @Test("All addresses fail: each is named with its reason") func allFail() async throws {
        let mock = try await MockAPNsServer.start()
        let peers = [try await TestPeer.start(), try await TestPeer.start()]
        for peer in peers { try await peer.stop() }
        let connector = try APNsConnector(
            configuration(mock, StubResolver(peers.map { ("127.0.0.1", $0.port) })))
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .temporary)
        for peer in peers { #expect(error?.message.contains("127.0.0.1:\(peer.port)") == true) }
        try await mock.stop()
    }

    @Test("An address that takes connections and says nothing is set aside and told of, and costs one connection only")
    func stallsAtConnect() async throws {
        let mock = try await MockAPNsServer.start()
        let silent = try await TestPeer.start()
        let board = NoticeBoard()
        var configuration = try configuration(
            mock, StubResolver([("127.0.0.1", silent.port), ("127.0.0.1", mock.port)]))
        configuration.connectDeadline = .seconds(2)
        let connector = try APNsConnector(configuration)
        connector.begin(board.host)
        for _ in 0..<3 { await (try await WireBench(connector)).finish() }
        #expect(silent.connections == 1)
        #expect(mock.counters.connections == 3)
        #expect(board.all.map(\.kind) == [.addressQuarantined])
        #expect(board.all.first?.message.contains("127.0.0.1:\(silent.port)") == true)
        try await silent.stop()
        try await mock.stop()
    }

    @Test("An address that answers no request for the send deadline is set aside") func answersNothing() async throws {
        let mock = try await MockAPNsServer.start()
        var same = MockAPNsConfiguration()
        same.certificateDirectory = mock.certificateDirectory
        same.behavior = .stalling
        let stalling = try await MockAPNsServer.start(same)
        let board = NoticeBoard()
        var configuration = try configuration(
            mock, StubResolver([("127.0.0.1", stalling.port), ("127.0.0.1", mock.port)]))
        configuration.sendDeadline = .seconds(1)
        let connector = try APNsConnector(configuration)
        connector.begin(board.host)
        let bench = try await WireBench(connector)
        bench.handOut(10)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.answers.values.allSatisfy { $0.verdict == .unknown })
        #expect(bench.now.end?.cause?.contains("answers no request") == true)
        #expect(board.all.map(\.kind) == [.addressQuarantined])
        let next = try await WireBench(connector)
        next.handOut(10)
        #expect(await next.untilAnswered())
        #expect(next.now.confirmed.count == 10)
        await bench.finish()
        await next.finish()
        try await stalling.stop()
        try await mock.stop()
    }

    @Test("An address that answers no PING is set aside, and what was open on it is unknown") func answersNoPing()
        async throws
    {
        // An empty SETTINGS frame, and then nothing.
        let settings: TestPeer.Turn = { conversation in
            if conversation.step == 0 { conversation.write([0, 0, 0, 4, 0, 0, 0, 0, 0]) }
            conversation.step = 1
        }
        let mute = try await TestPeer.start(settings)
        let other = try await TestPeer.start(settings)
        var configuration = APNsConnector.Configuration(endpoint: try APNsEndpoint("http://localhost:1"))
        configuration.resolver = StubResolver([("127.0.0.1", mute.port), ("127.0.0.1", other.port)])
        configuration.pingAfter = .seconds(1)
        configuration.pingDeadline = .seconds(1)
        let board = NoticeBoard()
        let connector = try APNsConnector(configuration)
        connector.begin(board.host)
        let bench = try await WireBench(connector)
        bench.handOut(3)
        #expect(await bench.until { $0.end != nil })
        #expect(bench.now.end?.possiblySent?.count == 3)
        #expect(board.all.map(\.kind) == [.addressQuarantined])
        let next = try await WireBench(connector)
        #expect(other.connections == 1)
        await next.finish()
        await bench.finish()
        try await mute.stop()
        try await other.stop()
    }

    @Test("The whole takes no longer than its deadline, however many addresses there are") func deadline() async throws
    {
        let mock = try await MockAPNsServer.start()
        let peers = [try await TestPeer.start(), try await TestPeer.start(), try await TestPeer.start()]
        var configuration = try configuration(mock, StubResolver(peers.map { ("127.0.0.1", $0.port) }))
        configuration.connectDeadline = .milliseconds(1200)
        let connector = try APNsConnector(configuration)
        let start = ContinuousClock.now
        await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(ContinuousClock.now - start < .seconds(5))
        // On a busy machine the time may be over before the last one has its turn.
        #expect(peers.map(\.connections).prefix(2) == [1, 1])
        for peer in peers { try await peer.stop() }
        try await mock.stop()
    }
}
