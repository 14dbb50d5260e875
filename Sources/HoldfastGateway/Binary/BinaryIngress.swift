internal import Holdfast
internal import Logging
internal import NIOCore

/// Serves the binary protocol at one address.
struct BinaryIngress: Ingress {
    /// Under which it submits.
    static let producerName = "gateway-binary"

    let name = "binary"
    private let listener: Listener
    private let service: BinaryService
    private let tls: ServerTLSVault?

    /// Listens from when it returns.
    static func start(
        _ configuration: BinaryIngressConfiguration, engine: PushEngine, logger: Logger
    ) async throws(GatewayError) -> BinaryIngress {
        let tls = try CertifiedClients.tls(
            configuration.tls, at: configuration.listen, topic: configuration.topic, of: "binary"
        )
        .map { settings throws(GatewayError) in try ServerTLSVault(settings, protocols: []) }
        let producer: Producer
        do {
            producer = try engine.producer(named: producerName)
        } catch {
            throw GatewayError(.configuration, "the journal can't take the Producer \(producerName): \(error)")
        }
        let service = BinaryService(configuration, producer: producer, logger: logger)
        let listener = try await Listener.start(
            configuration.listen, tls: tls, limit: { service.settings.limits.connections },
            handlers: { channel in
                // A client may close its side first; and one read at a time is what may lie here unread.
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
                return [BinaryServerHandler(service: service, channel: channel, isCleartext: tls == nil)]
            })
        return BinaryIngress(listener: listener, service: service, tls: tls)
    }

    private init(listener: Listener, service: BinaryService, tls: ServerTLSVault?) {
        self.listener = listener
        self.service = service
        self.tls = tls
    }

    var address: ListenAddress { listener.address }
    var figures: IngressFigures { service.figures }
    var openConnections: Int { listener.figures.open }

    func reload(_ configuration: GatewayConfiguration) throws(GatewayError) {
        guard let binary = configuration.binary else { return }
        let settings = try CertifiedClients.tls(binary.tls, at: address, topic: binary.topic, of: name)
        if let settings { try tls?.reload(settings) }
        service.settings = binary
    }

    func drain(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        await listener.drain(within: limit)
        // Connections are gone at once that their clients have ended; what came over them may still be on its way to disk.
        await service.unfinished.untilNone(by: deadline)
    }
}
