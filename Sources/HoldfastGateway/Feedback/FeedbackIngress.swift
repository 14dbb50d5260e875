internal import Holdfast
internal import Logging
internal import NIOCore

/// Serves the feedback protocol at one address: from the blacklist, which tokens of a topic are not to be sent to.
struct FeedbackIngress: Ingress {
    let name = "feedback"
    private let listener: Listener
    private let service: FeedbackService
    private let tls: ServerTLSVault?

    /// Listens from when it returns.
    static func start(
        _ configuration: FeedbackIngressConfiguration, engine: PushEngine, logger: Logger
    ) async throws(GatewayError) -> FeedbackIngress {
        let tls = try CertifiedClients.tls(
            configuration.tls, at: configuration.listen, topic: configuration.topic, of: "feedback"
        ).map { settings throws(GatewayError) in try ServerTLSVault(settings, protocols: []) }
        let service = FeedbackService(configuration, engine: engine, logger: logger)
        let listener = try await Listener.start(
            configuration.listen, tls: tls, limit: { service.settings.limits.connections },
            handlers: { channel in
                // A client's end is told from a reset only where it does not end the connection at once.
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                return [FeedbackServerHandler(service: service, isCleartext: tls == nil)]
            })
        return FeedbackIngress(listener: listener, service: service, tls: tls)
    }

    private init(listener: Listener, service: FeedbackService, tls: ServerTLSVault?) {
        self.listener = listener
        self.service = service
        self.tls = tls
    }

    var address: ListenAddress { listener.address }
    var figures: IngressFigures { service.figures }
    var openConnections: Int { listener.figures.open }

    func reload(_ configuration: GatewayConfiguration) throws(GatewayError) {
        guard let feedback = configuration.feedback else { return }
        let settings = try CertifiedClients.tls(feedback.tls, at: address, topic: feedback.topic, of: name)
        if let settings { try tls?.reload(settings) }
        service.settings = feedback
    }

    func drain(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        await listener.drain(within: limit)
        await service.unfinished.untilNone(by: deadline)
    }
}
