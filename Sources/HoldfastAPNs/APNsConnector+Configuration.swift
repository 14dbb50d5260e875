public import Holdfast
package import HoldfastRequests
package import HoldfastTransport

extension APNsConnector {
    /// Which certificates the service's own must be signed by.
    public typealias Trust = TrustedCertificates

    /// The connector's settings and named bounds.
    public struct Configuration: Sendable {
        public var endpoint: APNsEndpoint
        public var trust: Trust
        /// Nil sends no provider token.
        public var signingKey: APNsSigningKey?
        /// What Apple knows us by instead of provider tokens. Default: none.
        public var clientCertificate: ClientCertificate?

        // MARK: The way there

        /// What connections go through. Default: none.
        public var proxy: ProxyServer?
        /// The host name that TLS asks for and that the service's certificate must be for, where it is not the endpoint's:
        /// for a service that is reached by an address, or by another name. Default: the endpoint's.
        public var serverName: String?
        /// Whether the name in the service's certificate is checked. Without it whoever has any certificate that
        /// ``trust`` signed is taken for the service; that is reported (``ConnectorNotice/Kind/hostNameUnverified``)
        /// whenever an engine begins. The rest of the certificate is always checked. Default: true.
        public var verifiesHostName = true
        /// How long an address of the service that stalls is tried only when no other answers. Default: 5 min.
        public var addressQuarantine: Duration = .seconds(5 * 60)

        // MARK: Times and bounds

        /// The most a request may take from being written to its answer; then its outcome is unknown. Requests that were
        /// written within one second are given up together, with the youngest of them. Default: 30 s.
        public var sendDeadline: Duration = .seconds(30)
        /// The most that resolving, connecting, TLS and the first SETTINGS may take together, over all addresses that are
        /// tried. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// A connection on which nothing has arrived for this long is asked for a sign of life (PING). Default: 20 s.
        public var pingAfter: Duration = .seconds(20)
        /// How long that sign of life may take before the connection counts as dead. Default: 10 s.
        public var pingDeadline: Duration = .seconds(10)
        /// A connection that has had nothing to send for this long is closed; nil keeps it for as long as the service does.
        /// Apple wants connections kept for hours to days. Default: 12 h.
        public var idleClose: Duration? = .seconds(12 * 60 * 60)
        /// The most requests at a time on a connection, whatever more the service allows. Default: 1000.
        public var maximumStreams = 1000
        /// Whether `apns-unique-id` is read from each answer, which costs some 2 µs. Nil: where the endpoint is Apple's
        /// sandbox, since only that sends it. Default: nil.
        public var readsUniqueIDs: Bool?

        // MARK: Credentials

        /// How often the files of credentials and trusted certificates are looked at, and read when they have changed. Nil:
        /// only by ``APNsConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// Where provider tokens are shared.
        var tokens = ProviderTokenRegistry.shared
        /// What certificates' dates are compared with.
        var clock = EngineClock.system

        package var resolver: any AddressResolver = SystemResolver()
        /// Odd; for tests of what happens when a connection's stream numbers run out.
        package var firstStreamID: UInt32 = 1

        public init(
            endpoint: APNsEndpoint, trust: Trust = .system, signingKey: APNsSigningKey? = nil,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.endpoint = endpoint
            self.trust = trust
            self.signingKey = signingKey
            self.clientCertificate = clientCertificate
        }
    }
}

extension APNsConnector.Configuration {
    var looksForUniqueIDs: Bool { readsUniqueIDs ?? endpoint.isSandbox }

    /// The bounds of each connection.
    package var requests: RequestSettings {
        var settings = RequestSettings(
            endpoint: endpoint.description, sendDeadline: sendDeadline, pingAfter: pingAfter,
            pingDeadline: pingDeadline, idleClose: idleClose, maximumStreams: maximumStreams)
        settings.decodesSuccesses = looksForUniqueIDs
        settings.firstStreamID = firstStreamID
        return settings
    }

    /// What opens connections on this way, as whom the credentials say.
    ///
    /// - Parameter watch: nil forgets what happened at an address.
    package func dialer(_ credentials: Credentials, watch: AddressWatch? = nil) -> Dialer {
        var dialer = Dialer(
            endpoint: endpoint.description, host: endpoint.host, port: endpoint.port, tls: credentials.tls.tls,
            trust: trust, deadline: connectDeadline)
        dialer.serverName = serverName
        dialer.proxy = proxy
        dialer.resolver = resolver
        dialer.watch = watch
        return dialer
    }

    /// That the way to the service makes sense.
    package func checkNetwork() throws(APNsConfigurationError) {
        if let serverName, !HostAndPort.isName(serverName) || HostAndPort.isAddress(serverName) {
            throw APNsConfigurationError(
                "the server name \(serverName.prefix(255).debugDescription) is no host name, which a certificate is for "
                    + "(one of other letters is written as xn--…)"
            )
        }
        guard let proxy else { return }
        if let why = ProxyServer.objection(to: proxy.user, proxy.password, for: proxy.kind) {
            throw APNsConfigurationError("the proxy \(proxy) \(why)")
        }
        guard !endpoint.isCleartext else {
            throw APNsConfigurationError(
                "\(endpoint) is on this machine, in the clear, and takes no proxy such as \(proxy)")
        }
    }

    /// Nil where the host name is checked.
    var unverifiedNotice: ConnectorNotice? {
        guard !verifiesHostName, !endpoint.isCleartext else { return nil }
        return ConnectorNotice(
            .hostNameUnverified,
            "the host name in the certificate of \(endpoint) is not checked, as configured: whoever has any trusted "
                + "certificate can pass for the service; name the server instead")
    }
}

extension ProxyServer {
    /// - Parameter text: `http://[USER:PASSWORD@]HOST[:PORT]` (3128 where no port is named), `socks5://…`, `socks4://…` or
    ///   `socks4a://…` (1080); what is special in a URL is percent-encoded.
    /// - Throws: ``APNsConfigurationError`` that says what is wrong with it, without user and password.
    public init(_ text: String) throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) {
            try self.init(text: text)
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }
}
