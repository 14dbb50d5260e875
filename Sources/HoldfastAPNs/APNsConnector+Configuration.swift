public import Holdfast
package import HoldfastRequests
package import HoldfastTransport

extension APNsConnector {
    /// The certificates that the service's certificate must be signed by.
    public typealias Trust = TrustedCertificates

    /// The settings of a connector: its endpoint, credentials, timeouts and limits.
    public struct Configuration: Sendable {
        /// The service to send to.
        public var endpoint: APNsEndpoint
        /// The certificates to trust. Default: the system's.
        public var trust: Trust
        /// The key that signs provider tokens. `nil` sends no provider token.
        public var signingKey: APNsSigningKey?
        /// The certificate that authenticates the sender, instead of provider tokens. Default: none.
        public var clientCertificate: ClientCertificate?

        // MARK: The way there

        /// The proxy for connections. Default: none.
        public var proxy: ProxyServer?
        /// The host name for TLS, which the service's certificate must contain. Set it for a service that is reached by an
        /// address or by another name. Default: the endpoint's.
        public var serverName: String?
        /// Whether the name in the service's certificate is checked. Without the check, any holder of a certificate that
        /// ``trust`` signed can pass for the service, and each start of an engine reports that
        /// (``Holdfast/ConnectorNotice/Kind/hostNameUnverified``). The rest of the certificate is always checked. Default:
        /// `true`.
        public var verifiesHostName = true
        /// The time for which an address that has stalled is tried only when no other answers. Default: 5 min.
        public var addressQuarantine: Duration = .seconds(5 * 60)

        // MARK: Times and bounds

        /// The timeout of a request, from its writing to its answer. After it the outcome is unknown. Requests that were
        /// written within one second time out together, with the youngest of them. Default: 30 s.
        public var sendDeadline: Duration = .seconds(30)
        /// The timeout for resolving, connecting, TLS and the first SETTINGS together, over all addresses that are tried.
        /// Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// The time without incoming data after which a PING checks the connection. Default: 20 s.
        public var pingAfter: Duration = .seconds(20)
        /// The timeout of a PING, after which the connection counts as dead. Default: 10 s.
        public var pingDeadline: Duration = .seconds(10)
        /// The time without requests after which a connection is closed. `nil` keeps it for as long as the service does.
        /// Apple wants connections kept for hours to days. Default: 12 h.
        public var idleClose: Duration? = .seconds(12 * 60 * 60)
        /// The limit on requests at a time on a connection. The service may allow fewer. Default: 1000.
        public var maximumStreams = 1000
        /// Whether `apns-unique-id` is read from each answer, which costs about 2 µs. `nil` reads it from Apple's sandbox,
        /// the only service that sends it. Default: `nil`.
        public var readsUniqueIDs: Bool?

        // MARK: Credentials

        /// The interval at which the files of credentials and trusted certificates are checked, and read when they have
        /// changed. `nil` reads them only on ``APNsConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// The registry in which connectors share provider tokens.
        var tokens = ProviderTokenRegistry.shared
        /// The clock for the dates of certificates.
        var clock = EngineClock.system

        package var resolver: any AddressResolver = SystemResolver()
        /// Odd; for tests of what happens when a connection's stream numbers run out.
        package var firstStreamID: UInt32 = 1

        /// A configuration with default timeouts and limits. Give a signing key or a client certificate.
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

    /// The limits of each connection.
    package var requests: RequestSettings {
        var settings = RequestSettings(
            endpoint: endpoint.description, sendDeadline: sendDeadline, pingAfter: pingAfter,
            pingDeadline: pingDeadline, idleClose: idleClose, maximumStreams: maximumStreams)
        settings.decodesSuccesses = looksForUniqueIDs
        settings.firstStreamID = firstStreamID
        return settings
    }

    /// The dialer that opens connections with these credentials.
    ///
    /// - Parameter watch: remembers addresses that have stalled; `nil` for none.
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

    /// Checks the server name and the proxy.
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

    /// The notice that the host name is not checked; `nil` when it is.
    var unverifiedNotice: ConnectorNotice? {
        guard !verifiesHostName, !endpoint.isCleartext else { return nil }
        return ConnectorNotice(
            .hostNameUnverified,
            "the host name in the certificate of \(endpoint) is not checked, as configured: whoever has any trusted "
                + "certificate can pass for the service; name the server instead")
    }
}

extension ProxyServer {
    /// Parses the URL of a proxy.
    ///
    /// - Parameter text: `http://[USER:PASSWORD@]HOST[:PORT]` (default port 3128), `socks5://…`, `socks4://…` or
    ///   `socks4a://…` (default port 1080). Special characters are percent-encoded.
    /// - Throws: ``HoldfastAPNs/APNsConfigurationError`` with the reason. It contains neither user nor password.
    public init(_ text: String) throws(APNsConfigurationError) {
        do throws(TransportConfigurationError) {
            try self.init(text: text)
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }
}
