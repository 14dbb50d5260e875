internal import Holdfast
internal import Logging

/// APNs over HTTP/2 for senders: a notification is on disk before its 200.
struct HTTP2Ingress: Ingress {
    /// The name of its producer in the journal.
    static let producerName = "gateway-http2"

    let name = "http2"
    let listener: Listener
    private let service: HTTP2IngressService

    /// Starts to listen.
    ///
    /// - Throws: ``GatewayError``.
    static func start(
        _ configuration: HTTP2IngressConfiguration, submitters: [SubmitterKey], engine: PushEngine,
        room: ConnectionRoom, logger: Logger, logInterval: Duration
    ) async throws(GatewayError) -> HTTP2Ingress {
        let producer = try producer(named: producerName, of: engine)
        let access = try SubmitterAccess(configuration, submitters, producer)
        let service = HTTP2IngressService(
            configuration,
            HTTP2IngressSettings(
                configuration, access: access, producer: producer, isTraced: engine.tracer != nil),
            producers: NamedProducers(standard: producer, of: engine),
            outcomes: { [weak engine] in engine?.outcomeFeed }, tracer: engine.tracer,
            log: ListenerLog(logger, name: "http2", interval: logInterval))
        let door = ListenerDoor(
            limits: { service.settings.limits }, guests: service.guests, room: room, figures: service.figures,
            log: service.log)
        let listener = try await Listener.start(
            configuration.listen, tls: Self.tls(configuration, submitters), protocols: ProtocolChoice.protocols,
            door: door, watching: [service.keyFiles],
            handlers: { _ in [ProtocolChoice(service: service), HTTP2IngressConnection(service: service)] })
        return HTTP2Ingress(listener: listener, service: service)
    }

    /// Where a certificate is the only possible credential, a client without one is refused in the handshake.
    private static func tls(_ configuration: HTTP2IngressConfiguration, _ submitters: [SubmitterKey]) -> ServerTLS? {
        var tls = configuration.tls
        if tls?.clientAuthorities != nil, submitters.isEmpty, configuration.serviceAccounts == nil,
            configuration.asksForCredentials
        {
            tls?.requiresClientCertificate = true
        }
        return tls
    }

    private init(listener: Listener, service: HTTP2IngressService) {
        self.listener = listener
        self.service = service
    }

    var figures: IngressFigures { service.figures }
    /// Nobody waits for a notification that is on its way to disk, or for its outcome, when its client has gone.
    var unfinished: UnfinishedWork? { nil }

    func reloading(_ configuration: GatewayConfiguration) throws(GatewayError) -> () -> Void {
        guard var new = configuration.http2 else { return {} }
        // Access follows from the actual listening address, not from a configured one.
        new.listen = listener.address
        let access = try SubmitterAccess(new, configuration.submitters, service.producer)
        let settings = HTTP2IngressSettings(
            new, access: access, producer: service.producer, isTraced: service.tracer != nil)
        let takeUpTLS = try listener.reloading(Self.tls(new, configuration.submitters))
        return {
            takeUpTLS()
            service.change(to: new, settings)
            service.guests.tell(HTTP2IngressReload())
        }
    }
}
