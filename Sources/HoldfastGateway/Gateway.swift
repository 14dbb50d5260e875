public import Holdfast
public import Logging
public import ServiceLifecycle

/// What a gateway listens on. Nil listens not at all.
public struct GatewayConfiguration: Sendable {
    public var http2: HTTP2IngressConfiguration?
    public var binary: BinaryIngressConfiguration?
    public var feedback: FeedbackIngressConfiguration?
    /// Whose provider tokens are taken. A listener that is reached from elsewhere than this machine serves those alone who
    /// show a client certificate that it knows, or such a token.
    public var submitters: [SubmitterKey] = []
    /// How long listeners may take to answer what is in hand when the gateway ends; then connections are closed.
    /// Default: 10 s.
    public var drainLimit: Duration = .seconds(10)
    /// Connections of all listeners together; one more is closed at once. Each takes a descriptor of the process, which
    /// delivers and opens files, too. Default: as many as each listener's own limit lets in.
    public var connections = Int.max
    /// From one line of a kind to the next in each listener's log, for what clients may bring about again and again; zero
    /// logs each. Default: 60 s.
    public var logInterval: Duration = .seconds(60)

    public init() {}
}

/// Servers that existing senders talk to, in front of an engine: what they hand over is in its journal before they are
/// answered.
///
///     let gateway = try await Gateway(configuration, engine: engine, logger: logger)   // listens from here on
///     let group = ServiceGroup(services: [engine, gateway], gracefulShutdownSignals: [.sigterm], logger: logger)
///
/// A `Service`; listed behind the engine it ends before it.
public final class Gateway: Service, Sendable {
    private let drainLimit: Monitor<Duration>
    private let ingresses: [any Ingress]
    private let room: ConnectionRoom

    /// Listens from when it returns.
    ///
    /// - Throws: ``GatewayError``.
    public init(
        _ configuration: GatewayConfiguration, engine: PushEngine, logger: Logger = Logger(label: "holdfast.gateway")
    ) async throws(GatewayError) {
        drainLimit = Monitor(configuration.drainLimit)
        let room = ConnectionRoom(limit: configuration.connections)
        self.room = room
        var ingresses: [any Ingress] = []
        do throws(GatewayError) {
            let interval = configuration.logInterval
            if let http2 = configuration.http2 {
                ingresses.append(
                    try await HTTP2Ingress.start(
                        http2, submitters: configuration.submitters, engine: engine, room: room, logger: logger,
                        logInterval: interval))
            }
            if let binary = configuration.binary {
                ingresses.append(
                    try await BinaryIngress.start(
                        binary, engine: engine, room: room, logger: logger, logInterval: interval))
            }
            if let feedback = configuration.feedback {
                ingresses.append(
                    try await FeedbackIngress.start(
                        feedback, engine: engine, room: room, logger: logger, logInterval: interval))
            }
        } catch {
            // What listens already would keep its address for nobody.
            for ingress in ingresses { await ingress.drain(within: .zero) }
            throw error
        }
        self.ingresses = ingresses
    }

    /// What it listens on, by the protocol's name.
    public var addresses: [String: ListenAddress] {
        Dictionary(uniqueKeysWithValues: ingresses.map { ($0.name, $0.listener.address) })
    }

    /// Takes up files that have changed, limits and keys, without ending a connection. Addresses stay what they are.
    ///
    /// - Throws: ``GatewayError`` that names what is wrong; then everything stays as it was.
    public func reload(_ configuration: GatewayConfiguration) throws(GatewayError) {
        let changes = try ingresses.map { ingress throws(GatewayError) in try ingress.reloading(configuration) }
        for takeUp in changes { takeUp() }
        drainLimit.withLock { $0 = configuration.drainLimit }
        room.change(limit: configuration.connections)
    }

    /// What each listener did and has open, by the protocol's name.
    public var figures: [(name: String, openConnections: Int, values: IngressFigures.Values)] {
        ingresses.map { ($0.name, $0.listener.openConnections, $0.figures.current) }
    }

    /// Serves until it is shut down or cancelled.
    public func run() async throws {
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationOrGracefulShutdownHandler {
            for await _ in ending {}
        } onCancelOrGracefulShutdown: {
            end.finish()
        }
        let limit = drainLimit.withLock { $0 }
        await withTaskGroup(of: Void.self) { group in
            for ingress in ingresses { group.addTask { await ingress.drain(within: limit) } }
        }
    }
}
