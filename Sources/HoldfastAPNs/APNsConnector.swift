public import Holdfast
internal import HoldfastRequests
internal import HoldfastTransport
internal import NIOCore

/// Sends to Apple's push service over HTTP/2.
public struct APNsConnector: Connector {
    public let confirmationMode = ConfirmationMode.perNotification
    public var endpoint: String { configuration.endpoint.description }
    public var serviceIdentity: String { configuration.endpoint.service }

    let configuration: Configuration
    let vault: TokenVault
    private let addresses: AddressWatch

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        try configuration.checkNetwork()
        self.configuration = configuration
        vault = try TokenVault(configuration)
        addresses = AddressWatch(
            endpoint: configuration.endpoint.description, quarantine: configuration.addressQuarantine)
    }

    /// Apple's; with a client certificate, only the topics that it is good for.
    public var limits: NotificationLimits {
        var limits = NotificationLimits.http2
        limits.topics = vault.current.contents.topics
        return limits
    }

    public func begin(_ host: ConnectorHost) {
        addresses.add(host)
        if let notice = configuration.unverifiedNotice { host.report(notice) }
        vault.begin(host)
    }

    /// Reads the files of credentials and trusted certificates anew and uses them from now on: new connections are opened
    /// with them, open ones are drained, and lanes that were stopped for the old ones run again. Happens by itself when a
    /// file changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the file and what is wrong; then what was in use stays in use.
    public func reload() async throws(APNsConfigurationError) { try await vault.reload() }

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
                APNsDialect(configuration.endpoint, tokens: credentials.tokens), configuration.requests, over: channel,
                to: dialed, sink: sink, ready: ready)
        }
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}
