public import Holdfast
internal import HoldfastRequests
internal import HoldfastTransport
internal import NIOCore

/// Sends to Apple's push service over HTTP/2.
public struct APNsConnector: Connector, ExpiringConnector {
    /// The service answers each notification.
    public let confirmationMode = ConfirmationMode.perNotification
    /// The endpoint's URL.
    public var endpoint: String { configuration.endpoint.description }
    /// The service as the blacklist names it: see ``APNsEndpoint/service``.
    public var serviceIdentity: String { configuration.endpoint.service }

    let configuration: Configuration
    let vault: TokenVault<Credentials>
    private let addresses: AddressWatch

    /// A connector with this configuration. Reads the files of credentials and trusted certificates.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the missing or invalid file.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        try configuration.checkNetwork()
        self.configuration = configuration
        vault = try TokenVault(configuration)
        addresses = AddressWatch(
            endpoint: configuration.endpoint.description, quarantine: configuration.addressQuarantine)
    }

    /// Apple's limits. A client certificate also limits the topics.
    public var limits: NotificationLimits {
        var limits = NotificationLimits.http2
        limits.topics = vault.current.contents.topics
        return limits
    }

    /// The last valid second of the certificate in use; nil without one.
    package var certificateEnd: WallTime? {
        vault.current.contents.certificateEnd.map { WallTime(seconds: $0.notAfter) }
    }

    /// Starts checking the files at ``Configuration/reloadEvery``. Called by the engine.
    public func begin(_ host: ConnectorHost) {
        addresses.add(host)
        if let notice = configuration.unverifiedNotice { host.report(notice) }
        vault.begin(host)
    }

    /// Reads the files of credentials and trusted certificates again and uses them from now on: new connections are opened
    /// with them, open ones are drained, and lanes that the old ones had stopped run again. Happens by itself when a file
    /// changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the file and the fault; the credentials in use then stay in use.
    public func reload() async throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) { try await vault.reload() } catch {
            throw APNsConfigurationError(error.message)
        }
    }

    /// Opens a connection with the credentials in use. Called by the engine.
    ///
    /// - Throws: ``ConnectError`` that says at which stage it failed, and whether the configuration has to be mended.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let current = vault.current
        let credentials = current.contents
        if let problem = credentials.problem(at: configuration.clock.wall()) {
            throw ConnectError(.configuration, problem)
        }
        let dialer = configuration.dialer(credentials, watch: addresses)
        let connection = try await dialer.connect(on: Dialer.nextLoop()) {
            (channel, dialed, ready: EventLoopPromise<RequestConnection<APNsDialect>>) in
            // Of this address's own: it may be followed by another.
            try RequestConnection(
                APNsDialect(configuration.endpoint, tokens: credentials.tokens, via: dialer.avoided.relayMark),
                configuration.requests, over: channel, to: dialed, sink: sink, ready: ready)
        }
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}
