import Holdfast
import HoldfastAPNsAnswers
import HoldfastLegacyAPNs
import HoldfastTesting
import HoldfastTransport
import Logging
import Testing

@testable import HoldfastGateway

/// Our own connector as the gateway's client, over TLS: an engine in front of an engine.
@Suite("Senders of the binary protocol", .timeLimit(.minutes(1))) struct BinaryClientsTests {
    private func configuration(_ credentials: LegacyCredentials, port: Int = 0, topic: String? = "com.example.app")
        -> GatewayConfiguration
    {
        var configuration = GatewayConfiguration()
        configuration.binary = BinaryIngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: port), tls: credentials.server(clients: true), topic: topic)
        configuration.drainLimit = .seconds(5)
        return configuration
    }

    private func sender(
        _ credentials: LegacyCredentials, port: Int, certificate: ClientCertificate? = nil,
        barrierIdle: Duration = .milliseconds(50)
    ) throws -> PushEngine {
        var client = LegacyAPNsConnector.Configuration(
            endpoint: try LegacyAPNsEndpoint("binary+tls://127.0.0.1:\(port)"), trust: .file(credentials.authority),
            clientCertificate: certificate)
        client.avoided = OwnListeners()
        let connector = try LegacyAPNsConnector(client)
        var settings = EngineConfiguration()
        settings.reconnectMinimum = .milliseconds(5)
        settings.reconnectMaximum = .milliseconds(20)
        settings.retry = RetrySchedule(minimum: .milliseconds(5), maximum: .milliseconds(20))
        settings.barrierIdle = barrierIdle
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try PushEngine(
            journal: InMemoryJournal(), routes: [Route(connector: connector)], configuration: settings, logger: logger)
    }

    private func notifications(_ count: Int) -> [PushNotification] {
        (1...count).map { number in
            var one = SampleNotification.numbered(number)
            one.id = nil
            return one
        }
    }

    private func running<R: Sendable>(_ engine: PushEngine, _ body: () async throws -> R) async throws -> R {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    @Test("1000 notifications, one to a blacklisted token: 999 are on disk, each once, and the sender knows of each")
    func oneBad() async throws {
        try await LegacyCredentials.run { credentials in
            try await BinaryGateway.run(configuration(credentials)) { gateway in
                let all = notifications(1000)
                try await gateway.engine.blacklist.add([
                    BlacklistEntry(
                        token: all[499].token!, reason: .unregistered, since: WallTime(seconds: 1),
                        learntAt: WallTime(seconds: 1), route: "default")
                ])
                let sender = try sender(credentials, port: gateway.port)
                for receipt in await sender.producer.submit(all) { _ = try receipt.get() }
                try await running(sender) { #expect(await sender.untilIdle() == .drained) }
                #expect(sender.status().confirmed == 999)
                #expect(sender.status().rejected == [.invalidToken: 1])
                #expect(sender.status().possibleDuplicates == 0)
                #expect(gateway.payloads == all.map(\.payload).filter { $0 != all[499].payload })
            }
        }
    }

    @Test("A gateway that goes in the middle and comes back has each notification once")
    func restart() async throws {
        try await LegacyCredentials.run { credentials in
            let all = notifications(3000)
            let journal = InMemoryJournal()
            var port = 0
            var sender: PushEngine?
            try await BinaryGateway.run(configuration(credentials), journal: journal) { gateway in
                port = gateway.port
                let first = try self.sender(credentials, port: port)
                sender = first
                _ = await first.producer.submit(all)
            }
            let engine = try #require(sender)
            try await running(engine) {
                for stop in [1000, 2000, 3000] {
                    try await BinaryGateway.run(configuration(credentials, port: port), journal: journal) { gateway in
                        #expect(await Patience(.seconds(20)).wait { gateway.payloads.count >= stop })
                    }
                }
                try await BinaryGateway.run(configuration(credentials, port: port), journal: journal) { _ in
                    #expect(await engine.untilIdle() == .drained)
                }
            }
            #expect(engine.status().confirmed == 3000)
            #expect(journal.entries.map(\.notification.payload) == all.map(\.payload))
        }
    }

    @Test("Where no topic is configured, the client's certificate says it")
    func certificateTopic() async throws {
        try await LegacyCredentials.run { credentials in
            try await BinaryGateway.run(configuration(credentials, topic: nil)) { gateway in
                let certificate = try credentials.client(topic: "com.example.other")
                let sender = try sender(credentials, port: gateway.port, certificate: certificate)
                var one = SampleNotification.numbered(1)
                one.topic = "com.example.other"
                _ = await sender.producer.submit([one])
                try await running(sender) { #expect(await sender.untilIdle() == .drained) }
                #expect(gateway.journal.entries.map(\.notification.topic) == ["com.example.other"])
            }
        }
    }

    @Test("A client that has shown its certificate keeps its place where all are taken; whoever comes then is refused")
    func keepsItsPlace() async throws {
        try await LegacyCredentials.run { credentials in
            var configuration = configuration(credentials)
            configuration.binary?.tls?.requiresClientCertificate = true
            configuration.binary?.limits.connections = 1
            configuration.binary?.limits.connectionsPerAddress = 8
            let certificate = try credentials.client(topic: "com.example.app")
            try await BinaryGateway.run(configuration) { gateway in
                // Behind a barrier it would begin another connection.
                let first = try sender(
                    credentials, port: gateway.port, certificate: certificate, barrierIdle: .seconds(3600))
                try await running(first) {
                    _ = await first.producer.submit(notifications(1))
                    #expect(await Patience(.seconds(10)).wait { gateway.payloads.count == 1 })
                    let second = try sender(credentials, port: gateway.port, certificate: certificate)
                    _ = await second.producer.submit(notifications(1))
                    try await running(second) {
                        #expect(
                            await Patience(.seconds(10)).wait { gateway.figures.faults["connections", default: 0] > 0 })
                    }
                }
                #expect(gateway.figures.faults["unproven"] == nil)
            }
        }
    }

    @Test(
        "A certificate that is for another topic than the listener's, or for none where there must be one, has no topic"
    )
    func wrongTopic() async throws {
        try await LegacyCredentials.run { credentials in
            for (topic, certificate) in [("com.example.app", "com.example.other"), (nil, nil)] as [(String?, String?)] {
                try await BinaryGateway.run(configuration(credentials, topic: topic)) { gateway in
                    let sender = try sender(
                        credentials, port: gateway.port, certificate: try credentials.client(topic: certificate))
                    var one = SampleNotification.numbered(1)
                    one.topic = certificate ?? one.topic
                    _ = await sender.producer.submit([one])
                    try await running(sender) { _ = await sender.untilIdle() }
                    #expect(sender.status().rejected == [.missingTopic: 1])
                    #expect(gateway.payloads.isEmpty)
                }
            }
        }
    }

    @Test(
        "The table of clients says the topic of a certificate that has none, and keeps one from topics that are not its"
    )
    func table() async throws {
        try await LegacyCredentials.run { credentials in
            let plain = try credentials.client(topic: nil)
            for (topics, isTaken) in [(["com.example.app"], true), (["com.example.other"], false)] {
                for configured in ["com.example.app", nil] {
                    var settings = configuration(credentials, topic: configured)
                    settings.binary?.tls?.clientSubjects = [ClientSubject("Apple Push Services", topics: Set(topics))]
                    try await BinaryGateway.run(settings) { gateway in
                        let sender = try sender(credentials, port: gateway.port, certificate: plain)
                        _ = await sender.producer.submit(notifications(1))
                        try await running(sender) { _ = await sender.untilIdle() }
                        // Where nothing else says the topic, the table's is what it is sent for.
                        let isTaken = isTaken || configured == nil
                        #expect(sender.status().confirmed == (isTaken ? 1 : 0))
                        #expect(gateway.topics == (isTaken ? topics : []))
                    }
                }
            }
        }
    }
}
