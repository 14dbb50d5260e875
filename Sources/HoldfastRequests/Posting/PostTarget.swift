package import Holdfast
package import HoldfastTransport

/// Where requests are posted to, and on which way.
package struct PostTarget: Hashable, Sendable {
    package var address: PostAddress
    /// The authorities that may have signed the receiver's certificate.
    package var trust: TrustedCertificates
    package var proxy: ProxyServer?
    /// The receiver's IP addresses, in place of those of its name; empty resolves the name.
    package var addresses: [String] = []

    package init(address: PostAddress, trust: TrustedCertificates = .system, proxy: ProxyServer? = nil) {
        (self.address, self.trust, self.proxy) = (address, trust, proxy)
    }

    /// Reads the trusted certificates once, to check them.
    ///
    /// - Throws: an error that names the file that is missing or invalid.
    package func check() throws(TransportConfigurationError) {
        if !address.isCleartext { _ = try ClientTLS(trust: trust) }
    }

    /// The way to the receiver. Reads the file of the trusted certificates anew, so that a changed one holds for the next
    /// connection.
    ///
    /// - Throws: ``ConnectError`` that names a file that is missing or invalid.
    package func dialer(within limit: Duration) throws(ConnectError) -> Dialer {
        do throws(TransportConfigurationError) {
            var dialer = Dialer(
                endpoint: address.server, host: address.host, port: address.port,
                tls: address.isCleartext ? nil : try ClientTLS(trust: trust), trust: trust, deadline: limit)
            dialer.proxy = proxy
            if !addresses.isEmpty { dialer.resolver = FixedAddresses(addresses) }
            return dialer
        } catch {
            throw ConnectError(.configuration, error.message)
        }
    }
}
