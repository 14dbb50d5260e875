public import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL

/// Sends to Apple's push service over HTTP/2.
public struct APNsConnector: Connector {
    public let confirmationMode = ConfirmationMode.perNotification
    public let limits = NotificationLimits.http2
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    let tokens: ProviderTokenSource?
    let tls: NIOSSLContext?
    private let addresses: AddressWatch
    private let refusal = ConnectionRefusal()

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        try configuration.checkNetwork()
        self.configuration = configuration
        tokens = configuration.signingKey.map { ProviderTokenSource($0) }
        tls = configuration.endpoint.isCleartext ? nil : try Self.makeTLS(configuration)
        addresses = AddressWatch(
            endpoint: configuration.endpoint.description, quarantine: configuration.addressQuarantine)
    }

    private static func makeTLS(_ configuration: Configuration) throws(APNsConfigurationError) -> NIOSSLContext {
        do throws(TransportConfigurationError) {
            return try ClientTLS.context(
                trust: configuration.trust, protocols: ["h2"], identity: configuration.clientCertificate,
                verifiesHostName: configuration.verifiesHostName)
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }

    public func begin(_ host: ConnectorHost) {
        addresses.add(host)
        if let notice = configuration.unverifiedNotice { host.report(notice) }
    }

    private var dialer: Dialer {
        var dialer = Dialer(
            endpoint: endpoint, host: configuration.endpoint.host, port: configuration.endpoint.port, tls: tls,
            trust: configuration.trust, deadline: configuration.connectDeadline)
        dialer.serverName = configuration.serverName
        dialer.proxy = configuration.proxy
        dialer.resolver = configuration.resolver
        dialer.watch = addresses
        return dialer
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        if let error = refusal.take() { throw error }
        let loop = Dialer.nextLoop()
        return try await dialer.connect(on: loop) { (channel, dialed, ready: EventLoopPromise<APNsConnection>) in
            // Of this address's own: it may be followed by another.
            let connection = APNsConnection(loop: loop)
            let handler = APNsHandler(
                configuration: configuration, tokens: tokens, connection: connection, sink: sink, dialed: dialed,
                refusal: refusal, ready: ready)
            connection.inbox.bind(handler)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }
}
