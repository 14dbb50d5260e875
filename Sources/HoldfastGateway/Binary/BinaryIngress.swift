internal import Holdfast
internal import Logging
internal import NIOCore

/// Serves the binary protocol at one address.
struct BinaryIngress: Ingress {
    /// The name of its producer in the journal.
    static let producerName = "gateway-binary"

    let name = "binary"
    let listener: Listener
    private let service: BinaryService

    /// Starts to listen.
    static func start(
        _ configuration: BinaryIngressConfiguration, engine: PushEngine, room: ConnectionRoom, logger: Logger,
        logInterval: Duration
    ) async throws(GatewayError) -> BinaryIngress {
        let tls = try CertifiedClients.tls(
            configuration.tls, at: configuration.listen, topic: configuration.topic, of: "binary")
        let producer = try producer(named: producerName, of: engine)
        let service = BinaryService(
            configuration, asksForCredentials: tls?.requiresClientCertificate == true, producer: producer,
            outcomes: { [weak engine] in engine?.outcomeFeed }, logger: logger, logInterval: logInterval)
        let door = ListenerDoor(
            limits: { service.settings.limits }, guests: service.guests, room: room, figures: service.figures,
            log: service.log)
        let listener = try await Listener.start(
            configuration.listen, tls: tls, readsServerName: true, door: door,
            handlers: { channel in
                // A client may close its side first; and at most one read lies here unprocessed.
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
                return [BinaryServerHandler(service: service, channel: channel, isCleartext: tls == nil)]
            })
        return BinaryIngress(listener: listener, service: service)
    }

    private init(listener: Listener, service: BinaryService) {
        self.listener = listener
        self.service = service
    }

    var figures: IngressFigures { service.figures }
    var unfinished: UnfinishedWork? { service.unfinished }

    func reloading(_ configuration: GatewayConfiguration) throws(GatewayError) -> () -> Void {
        guard let binary = configuration.binary else { return {} }
        let takeUpTLS = try listener.reloading(
            try CertifiedClients.tls(binary.tls, at: listener.address, topic: binary.topic, of: name))
        return {
            takeUpTLS()
            service.guests.asksForCredentials = listener.demandsCertificate
            service.settings = binary
        }
    }
}
