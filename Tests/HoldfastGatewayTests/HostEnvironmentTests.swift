import HoldfastLegacyAPNs
import HoldfastTesting
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Which environment a client means by the host name that it connects to.
@Suite("Environments by host name", .timeLimit(.minutes(1))) struct HostEnvironmentTests {
    private let hosts: [String: PushEnvironment] = ["push.example.com": .production, "Sandbox.example.com": .sandbox]

    private func engine(_ journal: InMemoryJournal) throws -> PushEngine {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try PushEngine(
            journal: journal,
            routes: [PushEnvironment.production, .sandbox].map { environment in
                Route(
                    name: environment.rawValue, connector: InMemoryConnector(), topics: [BinaryGateway.topic],
                    environment: environment)
            }, logger: logger)
    }

    private func serving(
        _ configuration: GatewayConfiguration, _ body: (Gateway, PushEngine) async throws -> Void
    ) async throws {
        let engine = try engine(InMemoryJournal())
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run() }
            defer { group.cancelAll() }
            try await body(gateway, engine)
        }
    }

    /// How many wait for each environment's route.
    private func waiting(_ engine: PushEngine) async throws -> [PushEnvironment: Int] {
        var counts: [PushEnvironment: Int] = [:]
        for lane in try await engine.desk.status().lanes {
            guard let environment = PushEnvironment(rawValue: lane.key.route) else { continue }
            counts[environment, default: 0] += lane.unconfirmed
        }
        return counts.filter { $0.value > 0 }
    }

    @Test(
        "A client of the binary protocol chooses by the name that it asks TLS for; the listener's own is for all others"
    )
    func binary() async throws {
        try await LegacyCredentials.run { credentials in
            var binary = BinaryIngressConfiguration(
                listen: ListenAddress(host: "127.0.0.1", port: 0), tls: credentials.server(), topic: BinaryGateway.topic
            )
            binary.hosts = hosts
            for (own, name, environment): (PushEnvironment?, String?, PushEnvironment) in [
                (nil, nil, .production), (nil, "sandbox.example.com", .sandbox), (nil, "push.example.com", .production),
                (.sandbox, nil, .sandbox), (.sandbox, "PUSH.example.com", .production),
                (.sandbox, "gateway.push.apple.com", .sandbox), (nil, "gateway.sandbox.push.apple.com", .sandbox),
                (nil, "other.example.com", .production),
            ] {
                binary.environment = own
                var configuration = GatewayConfiguration()
                configuration.binary = binary
                try await serving(configuration) { gateway, engine in
                    try await send(to: #require(gateway.addresses["binary"]).port, name, credentials)
                    try await eventually(
                        "\(name ?? "no name") beside \(own?.rawValue ?? "none") goes to \(environment)"
                    ) {
                        try await waiting(engine) == [environment: 1]
                    }
                }
            }
        }
    }

    /// One notification, command 0, over TLS with this name.
    private func send(to port: Int, _ name: String?, _ credentials: LegacyCredentials) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        let context = try NIOSSLContext(configuration: tls)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: name))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        let bytes: [UInt8] = [0, 0, 32] + [UInt8](repeating: 7, count: 32) + [0, UInt8(payload.count)] + payload
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        try await channel.close().get()
    }

    @Test("A request over HTTP/2 with a host field in place of :authority chooses by it, and :authority goes before it")
    func hostField() async throws {
        var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        http2.hosts = hosts
        var configuration = GatewayConfiguration()
        configuration.http2 = http2
        try await serving(configuration) { gateway, engine in
            let client = try await HTTP2Client.connect(port: #require(gateway.addresses["http2"]).port)
            // One after the other on a connection: what they have in common is remembered.
            for (authority, host): (String?, String?) in [
                (nil, "sandbox.example.com:443"), (nil, "push.example.com"), (nil, nil), (nil, "sandbox.example.com"),
                ("push.example.com", "sandbox.example.com"), ("sandbox.example.com", nil),
            ] {
                let fields = HTTP2World.request().filter { $0.0 != ":authority" }
                let named = (authority.map { [(":authority", $0)] } ?? []) + (host.map { [("host", $0)] } ?? [])
                // Pseudo-header fields come first.
                let answer = try await client.send(
                    Array(fields.prefix(3)) + named + Array(fields.dropFirst(3)))
                #expect(answer.status == 200, "\(answer)")
            }
            #expect(try await waiting(engine) == [.production: 3, .sandbox: 3])
        }
    }
}
