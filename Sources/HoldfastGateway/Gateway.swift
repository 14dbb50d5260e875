public import Holdfast
public import Logging
public import ServiceLifecycle

/// The configuration of a ``Gateway``: its listeners, and the limits that they share. Each listener is off where it is
/// nil.
public struct GatewayConfiguration: Sendable {
    /// The listener for APNs over HTTP/2. Default: off.
    public var http2: HTTP2IngressConfiguration?
    /// The listener for the binary protocol. Default: off.
    public var binary: BinaryIngressConfiguration?
    /// The listener for the feedback protocol. Default: off.
    public var feedback: FeedbackIngressConfiguration?
    /// The signing keys whose provider tokens are accepted. A listener that other machines can reach serves only
    /// clients with a known client certificate or such a token. Default: none.
    public var submitters: [SubmitterKey] = []
    /// The timeout for answering pending requests at shutdown; then connections are closed. Default: 10 s.
    public var drainLimit: Duration = .seconds(10)
    /// The most connections of all listeners together; further ones are closed at once. Each takes a file descriptor of
    /// the process, which needs others for deliveries and files. Default: no limit beyond each listener's own.
    public var connections = Int.max
    /// The interval between two lines of one kind in each listener's log, for events that clients can cause repeatedly;
    /// zero logs each. Default: 60 s.
    public var logInterval: Duration = .seconds(60)

    /// Creates a configuration without listeners.
    public init() {}
}

/// Servers in front of an engine, for senders that speak a push protocol already. A notification is in the engine's
/// journal before its sender gets a success.
///
///     let gateway = try await Gateway(configuration, engine: engine, logger: logger)   // listens from here on
///     let group = ServiceGroup(services: [engine, gateway], gracefulShutdownSignals: [.sigterm], logger: logger)
///
/// A `Service`; listed behind the engine, it ends before the engine.
public final class Gateway: Service, Sendable {
    private let drainLimit: Monitor<Duration>
    private let ingresses: [any Ingress]
    private let room: ConnectionRoom

    /// Starts to listen.
    ///
    /// - Throws: ``GatewayError``; then nothing listens.
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
            // The listeners that were started would otherwise keep their addresses without a server.
            for ingress in ingresses { await ingress.drain(within: .zero) }
            throw error
        }
        self.ingresses = ingresses
    }

    /// The listening addresses, by the name of the protocol.
    public var addresses: [String: ListenAddress] {
        Dictionary(uniqueKeysWithValues: ingresses.map { ($0.name, $0.listener.address) })
    }

    /// Takes up changed files, limits and keys without ending a connection. Addresses stay unchanged.
    ///
    /// - Throws: ``GatewayError`` that names the fault; then everything stays unchanged.
    public func reload(_ configuration: GatewayConfiguration) throws(GatewayError) {
        let changes = try ingresses.map { ingress throws(GatewayError) in try ingress.reloading(configuration) }
        for takeUp in changes { takeUp() }
        drainLimit.withLock { $0 = configuration.drainLimit }
        room.change(limit: configuration.connections)
    }

    /// The counters and open connections of each listener, with the name of its protocol.
    package var figures: [(name: String, openConnections: Int, values: IngressFigures.Values)] {
        ingresses.map { ($0.name, $0.listener.openConnections, $0.figures.current) }
    }

    /// Connections that were turned away, because the process may have no more descriptors.
    package var turnedAway: Int {
        ingresses.reduce(0) { $0 + ($1.figures.current.faults[ListenerFault.descriptors.rawValue] ?? 0) }
    }

    /// The most connections of each listener, by the name of its protocol: of its own, or of all that share the room.
    var connectionLimits: [(name: String, limit: Int)] {
        ingresses.map { ($0.name, min($0.listener.connectionLimit, room.limit)) }
    }

    /// The certificates that listeners show, with the listener's name, the file's, and the last good second in Unix seconds.
    package var certificates: [(listener: String, file: String, notAfter: Int64)] {
        ingresses.compactMap { ingress in
            ingress.listener.tls.map { (ingress.name, $0.certificateEnd.file, $0.certificateEnd.notAfter) }
        }
    }

    /// Serves until it is shut down gracefully or cancelled.
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
