internal import Holdfast
package import HoldfastOpenSSL
package import HoldfastRequests
internal import HoldfastTransport

/// A look at Apple's service, or another that speaks its language: see ``HoldfastRequests/ServiceProbe``.
///
/// The request is a background notification to a token of 32 zero bytes, which no device has, to be stored for nobody. A
/// service answers that the token is bad, once it has found the credentials good.
package struct APNsProbe: Sendable {
    let configuration: APNsConnector.Configuration
    private let credentials: Credentials
    /// The value of the request's `via`, by which gateways know one another; nil for none.
    package var via: String?

    /// Reads the files of credentials and trusted certificates.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the file that is missing or invalid.
    package init(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        try configuration.checkNetwork()
        self.configuration = configuration
        credentials = try Credentials(configuration, generation: 1)
    }

    /// The facts in the client certificate; `nil` without one.
    package var certificate: CertificateFacts? { credentials.tls.certificate?.facts }

    /// The provider tokens; `nil` without a signing key. A token of the service's process that is restored here is used, and
    /// none is minted: the service counts new ones.
    package var tokens: ProviderTokenSource? { credentials.tokens }

    /// - Parameter topic: of the request; `nil` asks for nothing, and only connects.
    package func run(topic: String?) async -> ProbeReport {
        let (endpoint, tokens, via) = (configuration.endpoint, credentials.tokens, via)
        let probe = ServiceProbe(
            configuration.dialer(credentials), configuration.requests, clock: configuration.clock
        ) { APNsDialect(endpoint, tokens: tokens, via: via) }
        return await probe.run(topic.map(Self.request))
    }

    private static func request(_ topic: String) -> PushNotification {
        PushNotification(
            token: DeviceToken.ofNobody, topic: topic, payload: Array(#"{"aps":{"content-available":1}}"#.utf8),
            pushType: .background, priority: .considerate)
    }
}
