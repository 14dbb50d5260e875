public import Holdfast
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
        let loop = Dialer.nextLoop()
        let connection = try await configuration.dialer(credentials, watch: addresses).connect(on: loop) {
            (channel, dialed, ready: EventLoopPromise<APNsConnection>) in
            // Of this address's own: it may be followed by another.
            let connection = APNsConnection(loop: loop)
            let handler = APNsHandler(
                configuration: configuration, tokens: credentials.tokens, connection: connection, sink: sink,
                dialed: dialed, ready: ready)
            connection.inbox.bind(handler)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}
