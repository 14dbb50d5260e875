internal import Holdfast
internal import Logging
internal import NIOCore

/// Serves the feedback protocol at one address: a topic's blacklisted tokens.
struct FeedbackIngress: Ingress {
    let name = "feedback"
    let listener: Listener
    private let service: FeedbackService

    /// Starts to listen.
    static func start(
        _ configuration: FeedbackIngressConfiguration, engine: PushEngine, room: ConnectionRoom, logger: Logger,
        logInterval: Duration
    ) async throws(GatewayError) -> FeedbackIngress {
        let tls = try CertifiedClients.tls(
            configuration.tls, at: configuration.listen, topic: configuration.topic, of: "feedback")
        let service = FeedbackService(
            configuration, asksForCredentials: tls?.requiresClientCertificate == true, engine: engine, logger: logger,
            logInterval: logInterval)
        let door = ListenerDoor(
            limits: { service.settings.limits }, guests: service.guests, room: room, figures: service.figures,
            log: service.log)
        let listener = try await Listener.start(
            configuration.listen, tls: tls, door: door,
            handlers: { channel in
                // Otherwise the client's close would end the connection at once, and look like a reset.
                try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                return [FeedbackServerHandler(service: service, isCleartext: tls == nil)]
            })
        return FeedbackIngress(listener: listener, service: service)
    }

    private init(listener: Listener, service: FeedbackService) {
        self.listener = listener
        self.service = service
    }

    var figures: IngressFigures { service.figures }
    var unfinished: UnfinishedWork? { service.unfinished }

    func reloading(_ configuration: GatewayConfiguration) throws(GatewayError) -> () -> Void {
        guard let feedback = configuration.feedback else { return {} }
        let takeUpTLS = try listener.reloading(
            try CertifiedClients.tls(feedback.tls, at: listener.address, topic: feedback.topic, of: name))
        return {
            takeUpTLS()
            service.guests.asksForCredentials = listener.demandsCertificate
            service.settings = feedback
        }
    }
}
