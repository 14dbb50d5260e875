public import Holdfast
internal import HoldfastRequests
internal import HoldfastTransport
internal import NIOCore

/// Sends to Firebase Cloud Messaging over its HTTP v1 interface.
///
/// A notification's recipient is a ``Holdfast/ServiceAddress`` of the kinds
/// ``Holdfast/ServiceAddress/Kind/firebaseInstallation``, ``Holdfast/ServiceAddress/Kind/firebaseToken``,
/// ``Holdfast/ServiceAddress/Kind/firebaseTopic`` or ``Holdfast/ServiceAddress/Kind/firebaseCondition``; its topic is the
/// project's id; its payload is Google's `Message` without the target, at most ``payloadLimit`` bytes
/// (firebase.google.com: *REST Resource: projects.messages*). Each attempt of a notification with an expiration says the `ttl` that
/// is left, in the message's `android` and `androidV2` parts: it is added there, or takes the place of a longer one.
public struct FCMConnector: Connector {
    /// The most bytes of a message without its target, as stored: 4096 (firebase.google.com: *About FCM messages*). The `ttl` that
    /// an attempt adds is no payload, which is what Google counts (*ErrorCode*).
    public static let payloadLimit = 4096
    /// The time that a target stays on the blacklist: the service sometimes calls one unregistered that comes back
    /// (flutterfire #17602). 30 days.
    public static let blacklistLifetime = Duration.seconds(30 * 86_400)
    /// The connections that a route needs for ``routeRate``: one has 100 requests at a time, at 100 ms some 1,000 a second.
    public static let routeConnections = 10
    /// The rate of a route: 96 % of Google's quota of 600,000 a minute for a project, with a burst of a tenth of a second
    /// (firebase.google.com: *FCM throttling and quotas*). Google asks senders to take 60 s at least to their full rate
    /// (firebase.google.com: *Best practices when sending FCM messages at scale*).
    public static let routeRate = RateLimit(perSecond: 9_600, burst: 960, rampUp: .seconds(60))

    /// The service answers each notification.
    public let confirmationMode = ConfirmationMode.perNotification
    /// The endpoint's URL.
    public var endpoint: String { configuration.endpoint.description }
    /// The service and the project, to which targets belong: `https://fcm.googleapis.com:443/v1/projects/PROJECT`.
    public var serviceIdentity: String { "\(configuration.endpoint)/v1/projects/\(configuration.project)" }

    let configuration: Configuration
    private let vault: TokenVault<FCMCredentials>
    private let addresses: AddressWatch

    /// A connector with this configuration. Reads the files of credentials and trusted certificates; access tokens are fetched
    /// with the first connection.
    ///
    /// - Throws: ``FCMConfigurationError`` that names the missing or invalid setting or file.
    public init(_ configuration: Configuration) throws(FCMConfigurationError) {
        try configuration.check()
        self.configuration = configuration
        do throws(TransportConfigurationError) {
            vault = try TokenVault(
                files: configuration.credentialFiles, reloadEvery: configuration.reloadEvery, clock: configuration.clock
            ) { (generation) throws(TransportConfigurationError) in
                try FCMCredentials(configuration, generation: generation)
            }
        } catch {
            throw FCMConfigurationError(error.message)
        }
        addresses = AddressWatch(
            endpoint: configuration.endpoint.description, quarantine: configuration.addressQuarantine)
    }

    /// Google's limits, for the project. What ``Configuration/idKey`` adds to each message is left free.
    public var limits: NotificationLimits {
        var service = ServiceLimits(
            kinds: [.firebaseInstallation, .firebaseToken, .firebaseTopic, .firebaseCondition],
            blacklistLifetime: Self.blacklistLifetime)
        service.advice = ServiceAdvice(
            credentialsRefused:
                "see that the project is the right one, that its Firebase Cloud Messaging API is enabled, and that the service "
                + "account (or the account of the token command) is enabled and may send for it; have a new key file read by "
                + "the command", recipientsRefused: "see whether the route's project is that of the apps",
            suspicion: "the project")
        return .service(
            service,
            payload: Self.payloadLimit - MessageBody.idByteCount(configuration.idKey), collapseID: 0,
            topics: [configuration.project])
    }

    /// Starts checking the files at ``Configuration/reloadEvery``. Called by the engine.
    public func begin(_ host: ConnectorHost) {
        addresses.add(host)
        vault.begin(host)
    }

    /// Reads the files of credentials and trusted certificates again and uses them from now on: new connections are opened
    /// with them, open ones are drained, and lanes that the old ones had stopped run again. Happens by itself when a file
    /// changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``FCMConfigurationError`` that names the file and the fault; the credentials in use then stay in use.
    public func reload() async throws(FCMConfigurationError) {
        do throws(TransportConfigurationError) { try await vault.reload() } catch {
            throw FCMConfigurationError(error.message)
        }
    }

    /// Opens a connection with the credentials in use, and fetches an access token if there is none. Called by the engine.
    ///
    /// - Throws: ``ConnectError`` that says at which stage it failed, and whether the configuration has to be mended.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let current = vault.current
        let credentials = current.contents
        // Before dialling: a connection without a token would be of no use.
        _ = try await credentials.tokens?.token()
        let configuration = configuration
        let dialer = configuration.dialer(credentials, watch: addresses)
        let connection = try await dialer.connect(on: Dialer.nextLoop()) {
            (channel, dialed, ready: EventLoopPromise<RequestConnection<FCMDialect>>) in
            try RequestConnection(
                FCMDialect(configuration, tokens: credentials.tokens, via: dialer.avoided.relayMark),
                configuration.requests, over: channel, to: dialed, sink: sink, ready: ready)
        }
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}
