internal import Holdfast
internal import Logging

/// APNs over HTTP/2 for senders: what they hand over is on disk before they are told 200.
final class HTTP2Ingress: Ingress {
    let name = "http2"
    private let listener: Listener
    private let service: HTTP2IngressService
    private let tls: ServerTLSVault?

    /// Under this name its notifications are in the journal.
    static let producerName = "gateway-http2"

    /// Listens from when it returns.
    ///
    /// - Throws: ``GatewayError``.
    static func start(
        _ configuration: HTTP2IngressConfiguration, submitters: [SubmitterKey], engine: PushEngine, logger: Logger
    ) async throws(GatewayError) -> HTTP2Ingress {
        let producer: Producer
        do {
            producer = try engine.producer(named: producerName)
        } catch {
            throw GatewayError(.cannotListen, "the journal can't take notifications from a gateway: \(error)")
        }
        let tls: ServerTLSVault? =
            if let settings = Self.tls(configuration, submitters) {
                try ServerTLSVault(settings, protocols: ["h2"])
            } else { nil }
        let access = try SubmitterAccess(configuration, submitters, producer)
        let service = HTTP2IngressService(
            configuration, HTTP2IngressSettings(configuration, access: access, producer: producer), producer: producer)
        let listener = try await Listener.start(
            configuration.listen, tls: tls, limit: { service.settings.limits.connections },
            handlers: { _ in [HTTP2IngressConnection(service: service)] })
        return HTTP2Ingress(listener, service, tls)
    }

    /// Where nothing but a certificate lets a client submit, one without is turned away in the handshake.
    private static func tls(_ configuration: HTTP2IngressConfiguration, _ submitters: [SubmitterKey]) -> ServerTLS? {
        var tls = configuration.tls
        if tls?.clientAuthorities != nil, submitters.isEmpty, !configuration.listen.isLoopback {
            tls?.requiresClientCertificate = true
        }
        return tls
    }

    private init(_ listener: Listener, _ service: HTTP2IngressService, _ tls: ServerTLSVault?) {
        self.listener = listener
        self.service = service
        self.tls = tls
    }

    var address: ListenAddress { listener.address }
    var figures: IngressFigures { service.figures }
    var openConnections: Int { listener.figures.open }

    func reload(_ configuration: GatewayConfiguration) throws(GatewayError) {
        guard let new = configuration.http2 else { return }
        let access = try SubmitterAccess(new, configuration.submitters, service.producer)
        if let tls, let settings = Self.tls(new, configuration.submitters) { try tls.reload(settings) }
        service.change(to: new, HTTP2IngressSettings(new, access: access, producer: service.producer))
        listener.tell(HTTP2IngressReload())
    }

    func drain(within limit: Duration) async { await listener.drain(within: limit) }
}
