internal import HTTPTypes
internal import Holdfast
internal import HoldfastTransport
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import ServiceLifecycle

/// The admin server for operators: `/health/live`, `/health/ready` and `/metrics`, over HTTP/1.1.
///
/// Its own pages expose neither tokens nor payloads nor credentials: metrics have none. It has no TLS and no password, so it
/// listens only on this machine's own addresses unless ``AdminConfiguration/servesEverybody`` is set.
public final class AdminServer: Service, Sendable {
    private let configuration: AdminConfiguration
    private let health: @Sendable () -> Health
    private let metrics: @Sendable () -> String
    private let pages: [AdminPage]
    private let logger: Logger
    private let listening = Monitor<ListenAddress?>(nil)

    /// Creates a server, which listens once it is run.
    ///
    /// - Parameters:
    ///   - health: called for each `/health/ready`; must not block.
    ///   - metrics: gives Prometheus' text for each `/metrics`; must not block.
    /// - Throws: ``GatewayError`` where other machines could reach it, and ``AdminConfiguration/servesEverybody`` is
    ///   not set.
    public convenience init(
        _ configuration: AdminConfiguration, logger: Logger = Logger(label: "holdfast.admin"),
        health: @escaping @Sendable () -> Health, metrics: @escaping @Sendable () -> String
    ) throws(GatewayError) {
        try self.init(configuration, logger: logger, health: health, metrics: metrics, pages: [])
    }

    /// - Parameter pages: beside the server's own. What they tell, and to whom, is theirs to judge.
    package init(
        _ configuration: AdminConfiguration, logger: Logger, health: @escaping @Sendable () -> Health,
        metrics: @escaping @Sendable () -> String, pages: [AdminPage]
    ) throws(GatewayError) {
        guard configuration.listen.isLoopback || configuration.servesEverybody else {
            throw GatewayError(
                .configuration,
                "\(configuration.listen) is reached from elsewhere, without TLS and without a password: say that "
                    + "everybody is meant, or listen on 127.0.0.1")
        }
        self.configuration = configuration
        self.logger = logger
        self.health = health
        self.metrics = metrics
        self.pages = pages
    }

    /// The listening address, with the port that the system chose; nil before it listens.
    public var address: ListenAddress? { listening.withLock { $0 } }

    /// Serves until it is shut down gracefully or cancelled. May be called once.
    ///
    /// - Throws: ``GatewayError`` of kind `cannotListen`.
    public func run() async throws {
        let address = configuration.listen
        do {
            try await application().run()
        } catch {
            // Ends without an error: its end was asked for.
            if Task.isCancelled { return }
            throw GatewayError(.cannotListen, "can't listen on \(address): \(Dialer.cause(error))")
        }
    }

    private func application() -> some ApplicationProtocol {
        // Some probes use HEAD.
        let router = Router(context: AdminContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: AdminHost(servesEverybody: configuration.servesEverybody))
        router.get("health/live") { _, _ in Self.answer(.ok, "text/plain; charset=utf-8", "alive\n") }
        router.get("health/ready") { [health] _, _ in Self.answer(health()) }
        router.get("metrics") { [metrics] _, _ in
            Self.answer(.ok, "text/plain; version=0.0.4; charset=utf-8", metrics())
        }
        AdminRoutes(pages: pages).add(to: router, own: ["health/live", "health/ready", "metrics"])
        // Hummingbird's messages about single connections, and about its own end, do not concern operators.
        var quiet = logger
        quiet.logLevel = .critical
        let (configuration, listening, logger) = (configuration, listening, logger)
        let connections = AdminConnections(limit: configuration.connections)
        return Application(
            router: router,
            server: HTTPServerBuilder { responder in
                AdminChannel(
                    http: HTTP1Channel(
                        responder: responder,
                        configuration: .init(
                            additionalChannelHandlers: [ClientWatch(), AdminTimer(configuration, connections)],
                            httpDecoderConfiguration: .init(
                                maxHeaderFieldSize: configuration.headBytes, maxHeaderListSize: configuration.headBytes,
                                maxHeaderFieldCount: 100))))
            },
            configuration: .init(address: .hostname(configuration.listen.host, port: configuration.listen.port)),
            onServerRunning: { channel in
                // Nearest to the socket: an error in accepting would otherwise end the server. Hummingbird offers no
                // other place; if this fails, the listener is closed already.
                let log = ListenerLog(logger, name: "admin", interval: configuration.logInterval)
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptPause { log.cannotAccept($0) }, position: .first)
                }.get()
                let port = channel.localAddress?.port ?? configuration.listen.port
                let address = ListenAddress(host: configuration.listen.host, port: port)
                listening.withLock { $0 = address }
                logger.info("health and metrics on \(address)")
            },
            logger: quiet)
    }

    private static func answer(_ health: Health) -> Response {
        let lines = health.isReady ? ["ready"] : health.obstacles.map { "not ready: \($0)" }
        return answer(
            health.isReady ? .ok : .serviceUnavailable, "text/plain; charset=utf-8",
            (lines + health.warnings.map { "warning: \($0)" }).map { $0 + "\n" }.joined())
    }

    private static func answer(_ status: HTTPResponse.Status, _ type: String, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
