public import Holdfast
internal import HoldfastRequests
internal import HoldfastTransport

extension FCMConnector {
    /// The settings of a connector: its project, credentials, timeouts and limits.
    public struct Configuration: Sendable {
        /// The service to send to. Default: Google's.
        public var endpoint = FCMEndpoint.production
        /// The certificates to trust, for the service and for the endpoint of access tokens. Default: the system's.
        public var trust = TrustedCertificates.system
        /// The source of access tokens.
        public var authorization: FCMAuthorization
        /// The id of the project that is sent for: the topic of notifications. Default: the service account's.
        public var project: String

        // MARK: Messages

        /// Whether the service only checks messages, and delivers none (`validateOnly`). Default: `false`.
        public var validatesOnly = false
        /// A key of the message's `data` that gets the notification's id, a UUID in lower case, for apps that drop duplicates:
        /// FCM has nothing by which a repeated request is known. A message that has the key already keeps its own value.
        /// Default: none.
        public var idKey: String?

        // MARK: The way there

        /// The IP addresses that connections go to, in place of those that the endpoint's name resolves to; TLS and requests keep
        /// that name. For a machine where Google's name leads to a gateway. Access tokens of an endpoint under `googleapis.com`
        /// are fetched from them, too, since Google's front ends serve all its names. Default: none, so that names are resolved.
        public var addresses: [String] = []
        /// The proxy for connections, also for access tokens. Default: none.
        public var proxy: ProxyServer?
        /// The host name for TLS, which the service's certificate must contain. Default: the endpoint's.
        public var serverName: String?
        /// The time for which an address that has stalled is tried only when no other answers. Default: 5 min.
        public var addressQuarantine: Duration = .seconds(5 * 60)

        // MARK: Times and bounds

        /// The timeout of a request, from its writing to its answer. After it the outcome is unknown. Google asks to wait for
        /// at least 15 s before a request is given up (firebase-admin-node #1947). Default: 30 s.
        public var sendDeadline: Duration = .seconds(30)
        /// The timeout for resolving, connecting, TLS and the first SETTINGS together, over all addresses that are tried.
        /// Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// The time without incoming data after which a PING checks the connection. Default: 20 s.
        public var pingAfter: Duration = .seconds(20)
        /// The timeout of a PING, after which the connection counts as dead. Default: 10 s.
        public var pingDeadline: Duration = .seconds(10)
        /// The time without requests after which a connection is closed. `nil` keeps it for as long as the service does.
        /// Default: 10 min.
        public var idleClose: Duration? = .seconds(10 * 60)
        /// The limit on requests at a time on a connection. More than Google's 100 end it (firebase-admin-node #2943). The
        /// service may allow fewer. Default: 100.
        public var maximumStreams = 100

        // MARK: Credentials

        /// The interval at which the files of credentials and trusted certificates are checked, and read when they have
        /// changed. `nil` reads them only on ``FCMConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// The registry in which connectors share access tokens.
        var tokens = AccessTokenRegistry.shared
        /// The clock for dates, and for messages' time to live.
        var clock = EngineClock.system

        var resolver: any AddressResolver = SystemResolver()

        /// A configuration with default timeouts and limits, for the account's project.
        public init(serviceAccount: ServiceAccount) {
            authorization = .serviceAccount(serviceAccount)
            project = serviceAccount.projectID
        }

        /// A configuration with default timeouts and limits.
        ///
        /// - Parameter project: the id of the project that is sent for.
        public init(command: TokenCommand, project: String) {
            authorization = .command(command)
            self.project = project
        }
    }
}

extension FCMConnector.Configuration {
    /// The paths of all files that credentials and trust are read from.
    var credentialFiles: [String] { authorization.files + (trust.file.map { [$0] } ?? []) }

    /// The limits of each connection.
    var requests: RequestSettings {
        var settings = RequestSettings(
            endpoint: endpoint.description, sendDeadline: sendDeadline, pingAfter: pingAfter,
            pingDeadline: pingDeadline,
            idleClose: idleClose, maximumStreams: maximumStreams)
        // Google's successes have a body, which is read in any case. One without is a proxy's, and the dialect has to see it.
        settings.decodesSuccesses = true
        return settings
    }

    /// The dialer that opens connections with these credentials.
    func dialer(_ credentials: FCMCredentials, watch: AddressWatch?) -> Dialer {
        var dialer = Dialer(
            endpoint: endpoint.description, host: endpoint.host, port: endpoint.port, tls: credentials.tls.tls,
            trust: trust, deadline: connectDeadline)
        dialer.serverName = serverName
        dialer.proxy = proxy
        dialer.resolver = addresses.isEmpty ? resolver : FixedAddresses(addresses)
        dialer.watch = watch
        return dialer
    }

    /// Checks everything that no file is read for.
    func check() throws(FCMConfigurationError) {
        guard ServiceAccount.isProject(project) else {
            throw FCMConfigurationError("\(project.prefix(64).debugDescription) is no project id")
        }
        if case .command(let command) = authorization { try command.check() }
        if let idKey { try Self.check(idKey: idKey) }
        if let serverName, !HostAndPort.isName(serverName) || HostAndPort.isAddress(serverName) {
            throw FCMConfigurationError(
                "the server name \(serverName.prefix(255).debugDescription) is no host name, which a certificate is for"
            )
        }
        try checkAddresses()
        guard let proxy else { return }
        if let why = ProxyServer.objection(to: proxy.user, proxy.password, for: proxy.kind) {
            throw FCMConfigurationError("the proxy \(proxy) \(why)")
        }
        guard !endpoint.isCleartext else {
            throw FCMConfigurationError(
                "\(endpoint) is on this machine, in the clear, and takes no proxy such as \(proxy)")
        }
    }

    private func checkAddresses() throws(FCMConfigurationError) {
        guard !addresses.isEmpty else { return }
        if let text = addresses.first(where: { !HostAndPort.isAddress($0) }) {
            throw FCMConfigurationError(
                "the address \(text.prefix(255).debugDescription) is no IP address such as 192.0.2.7 or 2001:db8::7")
        }
        guard !HostAndPort.isAddress(endpoint.host) else {
            throw FCMConfigurationError(
                "\(endpoint) is an address itself: give the service's name there, and its addresses beside it")
        }
        if let proxy {
            throw FCMConfigurationError(
                "the proxy \(proxy) resolves the service's name itself: addresses mean nothing behind it")
        }
    }

    /// The addresses that access tokens are fetched from; empty to resolve the name of their endpoint.
    func tokenAddresses(of host: String) -> [String] { host.hasSuffix(".googleapis.com") ? addresses : [] }

    /// Google's rule for keys of data (firebase.google.com, *REST Resource: projects.messages*).
    private static func check(idKey: String) throws(FCMConfigurationError) {
        let isWord =
            (1...64).contains(idKey.utf8.count)
            && idKey.utf8.allSatisfy {
                $0 < 128 && Character(UnicodeScalar($0)).isLetter || (0x30...0x39).contains($0)
                    || [0x2d, 0x2e, 0x5f].contains($0)
            }
        let isReserved =
            idKey == "from" || idKey == "message_type" || idKey.hasPrefix("google.") || idKey.hasPrefix("gcm.")
        guard isWord, !isReserved else {
            throw FCMConfigurationError(
                "the id key \(idKey.prefix(64).debugDescription) can't be a key of data: it has letters, digits, - . and _, "
                    + "64 at most, and Google keeps from, message_type, google. and gcm. for itself")
        }
    }
}
