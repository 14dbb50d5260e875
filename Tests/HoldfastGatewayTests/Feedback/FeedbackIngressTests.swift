import Holdfast
import HoldfastAPNsAnswers
import HoldfastLegacyAPNs
import HoldfastTesting
import HoldfastTransport
import RawClients
import Testing

@testable import HoldfastGateway

/// The listener that tells the blacklist, read by our own reader of feedback and by raw sockets.
@Suite("The feedback listener", .timeLimit(.minutes(1))) struct FeedbackIngressTests {
    private static let topic = "com.example.app"

    private func configuration(tls: ServerTLS? = nil, topic: String? = topic) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.feedback = FeedbackIngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: 0), tls: tls, topic: topic)
        configuration.drainLimit = .seconds(2)
        return configuration
    }

    private func port(_ gateway: BinaryGateway) -> Int { gateway.gateway.addresses["feedback"]?.port ?? 0 }

    private func blacklist(
        _ numbers: ClosedRange<Int>, topic: String? = topic, in gateway: BinaryGateway, since: Int64 = 1_600_000_000
    ) async throws {
        try await gateway.engine.blacklist.add(
            numbers.map { number in
                BlacklistEntry(
                    token: SampleNotification.token(number), reason: .unregistered,
                    since: WallTime(seconds: since + Int64(number)), learntAt: WallTime(seconds: 1), route: "default",
                    topic: topic)
            })
    }

    private func tuples(_ numbers: ClosedRange<Int>, since: Int64 = 1_600_000_000) -> [FeedbackTuple] {
        numbers.map {
            FeedbackTuple(token: SampleNotification.token($0), since: WallTime(seconds: since + Int64($0)))
        }
    }

    /// Reads as a sender would, and waits until the gateway knows it.
    private func read(
        _ gateway: BinaryGateway, credentials: LegacyCredentials? = nil, certificate: ClientCertificate? = nil
    ) async throws -> [FeedbackTuple] {
        let scheme = credentials == nil ? "feedback" : "feedback+tls"
        var settings = LegacyAPNsFeedback.Configuration(
            endpoint: try LegacyAPNsFeedbackEndpoint("\(scheme)://127.0.0.1:\(port(gateway))"))
        if let credentials { settings.trust = .file(credentials.authority) }
        settings.clientCertificate = certificate
        settings.avoided = OwnListeners()
        let read = Monitor<[FeedbackTuple]>([])
        try await LegacyAPNsFeedback(settings).read { tuples in read.withLock { $0 += tuples } }
        #expect(await closed(gateway))
        return read.withLock { $0 }
    }

    private func closed(_ gateway: BinaryGateway) async -> Bool {
        await Patience(.seconds(10)).wait { gateway.gateway.figures.allSatisfy { $0.openConnections == 0 } }
    }

    /// Waits until a topic's readers have come so far.
    private func noted(_ number: UInt64, _ gateway: BinaryGateway) async -> Bool {
        await Patience(.seconds(10)).wait {
            (try? gateway.engine.note("gateway-feedback \(Self.topic)"))??.last == UInt8(truncatingIfNeeded: number)
        }
    }

    @Test(
        "A reader is told what is new since the last one, of its topic, and across restarts", arguments: [true, false])
    func news(isCleartext: Bool) async throws {
        try await LegacyCredentials.run { credentials in
            let settings = configuration(tls: isCleartext ? nil : credentials.server())
            let trust = isCleartext ? nil : credentials
            let journal = InMemoryJournal()
            try await BinaryGateway.run(settings, journal: journal) { gateway in
                try await blacklist(1...5, in: gateway)
                try await blacklist(6...8, topic: "com.example.other", in: gateway)
                try await blacklist(9...9, topic: nil, in: gateway)
                #expect(try await read(gateway, credentials: trust) == tuples(1...5))
                #expect(await noted(9, gateway))
                #expect(try await read(gateway, credentials: trust) == [])
                try await blacklist(10...11, in: gateway)
                try await blacklist(2...2, in: gateway, since: 1_700_000_000)
                #expect(
                    try await read(gateway, credentials: trust) == tuples(2...2, since: 1_700_000_000) + tuples(10...11)
                )
                #expect(await noted(12, gateway))
                #expect(gateway.gateway.figures[0].values.tuples == 8)
            }
            try await BinaryGateway.run(settings, journal: journal.crashed()) { gateway in
                #expect(try await read(gateway, credentials: trust) == [])
                try await blacklist(12...12, in: gateway)
                #expect(try await read(gateway, credentials: trust) == tuples(12...12))
            }
        }
    }

    @Test("A token is told once, and not for what another environment said of it") func environments() async throws {
        try await BinaryGateway.run(configuration()) { gateway in
            let endpoint = try #require(gateway.engine.serviceIdentity(for: Self.topic))
            try await gateway.engine.blacklist.add(
                [(1, nil), (1, endpoint), (2, endpoint), (3, "https://another.example.com")].map { number, endpoint in
                    BlacklistEntry(
                        token: SampleNotification.token(number), reason: .unregistered,
                        since: WallTime(seconds: 1_600_000_000 + Int64(number)), learntAt: WallTime(seconds: 1),
                        route: "default", topic: Self.topic, endpoint: endpoint)
                })
            #expect(try await read(gateway) == tuples(1...2))
        }
    }

    /// Python's `ssl` gives what one record holds, as others do that take each for whole tuples.
    private static let reader = """
        import socket, ssl, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
        stream = context.wrap_socket(plain, server_hostname="127.0.0.1")
        records = iter(lambda: len(stream.recv(1 << 16)), 0)
        print(*records)
        """

    @Test("A record of TLS holds whole tuples, however many there are") func records() async throws {
        try await LegacyCredentials.run { credentials in
            try await BinaryGateway.run(configuration(tls: credentials.server())) { gateway in
                try await blacklist(1...2000, in: gateway)
                let answer = try await Command.run(
                    "python3", ["-c", Self.reader, "\(port(gateway))", credentials.authority])
                let records = answer.text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
                #expect(answer.status == 0 && records.reduce(0, +) == 2000 * 38, "\(answer.text)")
                #expect(records.allSatisfy { $0 % 38 == 0 }, "\(records)")
                #expect(records.contains { $0 > 16_000 }, "\(records)")
                #expect(await noted(2000, gateway))
            }
        }
    }

    @Test("A reading that is broken off is told again")
    func interrupted() async throws {
        try await BinaryGateway.run(configuration()) { gateway in
            // One that reads nothing and leaves, when all is with its kernel and when it is not; one that leaves in the
            // middle; and one that says it will write no more.
            for numbers in [1...10, 11...5000] {
                try await blacklist(numbers, in: gateway)
                let deaf = try DeafSocket(port: port(gateway))
                #expect(await Patience(.seconds(5)).wait { gateway.gateway.figures[0].openConnections == 1 })
                try await Task.sleep(for: .milliseconds(200))
                deaf.die()
                #expect(await closed(gateway))
            }
            let early = try await RawClient(port: port(gateway))
            #expect(await Patience(.seconds(5)).wait { early.received.count > 38 })
            await early.close()
            #expect(await closed(gateway))
            let half = try await RawClient(port: port(gateway))
            try await half.closeOutput()
            #expect(await half.untilEnd() != nil)
            #expect(await closed(gateway))
            #expect(try gateway.engine.note("gateway-feedback \(Self.topic)") == nil)
            #expect(try await read(gateway) == tuples(1...5000))
            #expect(await noted(5000, gateway))
        }
    }

    @Test("The certificate says whose feedback it is where nothing is configured")
    func certificate() async throws {
        try await LegacyCredentials.run { credentials in
            try await BinaryGateway.run(configuration(tls: credentials.server(clients: true), topic: nil)) { gateway in
                try await blacklist(1...3, in: gateway)
                try await blacklist(4...5, topic: "com.example.other", in: gateway)
                let certificate = try credentials.client(topic: "com.example.other")
                #expect(try await read(gateway, credentials: credentials, certificate: certificate) == tuples(4...5))
                #expect(try await read(gateway, credentials: credentials) == [])
                #expect(gateway.gateway.figures[0].values.faults == ["topic": 1])
            }
        }
    }

    @Test("A client that writes is turned away")
    func writes() async throws {
        try await BinaryGateway.run(configuration()) { gateway in
            try await blacklist(1...5000, in: gateway)
            // It says something before it has read anything.
            let client = try await RawClient(port: port(gateway), reads: false)
            try await client.send([0])
            // Before it is accepted no connection is open either.
            #expect(
                await Patience(.seconds(10)).wait { gateway.gateway.figures[0].values.faults == ["protocol": 1] })
            #expect(await closed(gateway))
            #expect(try await read(gateway) == tuples(1...5000))
        }
    }
}
