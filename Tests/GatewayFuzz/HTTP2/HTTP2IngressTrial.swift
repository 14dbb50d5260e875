import Holdfast
import HoldfastGateway
import HoldfastTesting
import HostileHTTP2
import Logging
import RawClients
import Trials

/// What many trials came to.
struct HTTP2IngressTally: Encodable, Sendable {
    /// Answers that a well-behaved client got, and hostile ones.
    var goodAnswers = 0
    var hostileAnswers = 0
    /// Connections that the gateway has ended with a GOAWAY, by code.
    var endings: [String: Int] = [:]
}

/// Something that must hold did not.
struct GatewayBreach: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One gateway, a client that behaves, and hostile ones beside it.
///
/// What must hold: the client that behaves gets 200 for everything; no request is answered twice, and none that was not
/// made; whoever is told 200 finds it in the journal; the gateway ends in time, with nothing left open.
enum HTTP2IngressTrial {
    private static let topic = "com.example.app"
    private static let goodRequests = 40

    static func run(seed: UInt64, _ tally: Monitor<HTTP2IngressTally>) async throws {
        var random = SeededRandom(seed: seed)
        let journal = InMemoryJournal()
        var logger = Logger(label: "fuzz")
        logger.logLevel = .critical
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector(), topics: [topic])], logger: logger)
        var configuration = GatewayConfiguration()
        var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        http2.streams = 64
        http2.limits.write = .milliseconds(200)
        configuration.http2 = http2
        configuration.drainLimit = .seconds(2)
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        let serving = Task { try await gateway.run() }
        guard let port = gateway.addresses["http2"]?.port else { throw GatewayBreach("it does not listen") }

        let hostileCount = 1 + random.below(3)
        var seeds: [UInt64] = []
        for _ in 0..<hostileCount { seeds.append(random.next()) }
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await behave(port: port, tally) }
            for seed in seeds { group.addTask { try await misbehave(port: port, seed: seed, tally) } }
            return try await group.reduce(0, +)
        }
        let entries = journal.entries.count
        guard accepted <= entries else { throw GatewayBreach("200 was told \(accepted) times for \(entries) entries") }

        let start = ContinuousClock.now
        serving.cancel()
        try await serving.value
        let spent = ContinuousClock.now - start
        guard spent < .seconds(4) else { throw GatewayBreach("the gateway took \(spent) to end") }
        guard let open = gateway.figures.first?.openConnections, open == 0 else {
            throw GatewayBreach("connections are open behind the gateway's end")
        }
    }

    // MARK: Clients

    private static func request(_ stream: UInt32, token: UInt32, body: [UInt8], cut: Bool = false) -> [UInt8] {
        let digits = String(token, radix: 16)
        let address = String(repeating: "0", count: 8 - digits.count) + digits
        // Eight hex digits are base64 as well: some are broadcasts.
        let block = HeaderBlocks.block(
            [(":method", "POST"), (":scheme", "http"), (":authority", "fuzz")]
                + (token % 4 == 3
                    ? [
                        (":path", "/4/broadcasts/apps/\(topic)"), ("apns-channel-id", address),
                        ("apns-push-type", "liveactivity"), ("apns-expiration", "0"),
                    ] : [(":path", "/3/device/" + address), ("apns-topic", topic)]))
        let data = WireFrame.data(stream, body, end: !cut)
        return WireFrame.headers(stream, block, end: false).bytes + data.bytes
    }

    private static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    /// - Returns: how many requests were told 200: all of them.
    private static func behave(port: Int, _ tally: Monitor<HTTP2IngressTally>) async throws -> Int {
        let client = try await RawClient(port: port)
        var bytes = WireFrame.preface + WireFrame.settings([]).bytes
        var next: UInt32 = 1
        for part in 0..<4 {
            for _ in 0..<goodRequests / 4 {
                bytes += request(next, token: next, body: payload)
                next += 2
            }
            guard await client.isTaken(bytes) else { throw GatewayBreach("the client that behaves was closed") }
            bytes = []
            let wanted = (part + 1) * goodRequests / 4
            await Patience(.seconds(10)).wait {
                client.hasEnded || HeardHTTP2(client.received).heads.count >= wanted
            }
            let heads = HeardHTTP2(client.received).heads
            guard heads.count == wanted, heads.values.allSatisfy({ $0 == [0x88] }) else {
                throw GatewayBreach("the client that behaves got \(heads.count) of \(wanted) answers")
            }
        }
        await client.close()
        tally.withLock { $0.goodAnswers += goodRequests }
        return goodRequests
    }

    /// - Returns: how many requests were told 200.
    private static func misbehave(port: Int, seed: UInt64, _ tally: Monitor<HTTP2IngressTally>) async throws -> Int {
        var random = SeededRandom(seed: seed)
        let client = try await RawClient(port: port)
        var script = HostileScript(&random)
        var sent = FrameCutter(hasPreface: true)
        var highest: UInt32 = 0
        while let bytes = script.next(request: request, &random) {
            guard await client.isTaken(bytes) else { break }
            for frame in sent.frames(bytes) where frame.kind == WireFrame.Kind.headers {
                highest = max(highest, frame.stream)
            }
            if random.once(in: 6) { try await Task.sleep(for: .milliseconds(random.below(4))) }
        }
        switch random.below(3) {
        case 0: break
        case 1: await client.endOutput()
        default:
            // What it is owed comes; what it never ended is given up by then.
            _ = await client.untilEnd(limit: .milliseconds(300))
        }
        if random.once(in: 2) { _ = await client.untilEnd(limit: .milliseconds(50)) }
        await client.close()
        let heard = HeardHTTP2(client.received)
        return try judge(heard, highest: highest, tally)
    }

    private static func judge(
        _ heard: HeardHTTP2, highest: UInt32, _ tally: Monitor<HTTP2IngressTally>
    ) throws -> Int {
        for (stream, heads) in heard.heads {
            guard heads.count == 1 else { throw GatewayBreach("stream \(stream) was answered \(heads.count) times") }
            guard stream & 1 == 1, stream <= highest else {
                throw GatewayBreach("stream \(stream) was answered, and \(highest) is the highest")
            }
        }
        let accepted = heard.heads.values.filter { $0 == [0x88] }.count
        tally.withLock { tally in
            tally.hostileAnswers += heard.heads.count
            for code in heard.goAways { tally.endings[String(code), default: 0] += 1 }
        }
        return accepted
    }
}
