package import HoldfastTransport

/// The URL of a receiver that is posted to.
package struct PostAddress: Hashable, Sendable {
    /// Whether TLS is not spoken; only with addresses of this machine.
    package let isCleartext: Bool
    package let host: String
    package let port: Int
    /// The path and the query, as a request names them. May hold a secret, and is never logged.
    package let target: String

    /// The most bytes of a URL.
    package static let greatestLength = 2048

    /// - Parameters:
    ///   - text: `https://HOST[:PORT][/PATH][?QUERY]`, or `http://` with an address of loopback.
    ///   - cargo: what is posted, in the plural.
    ///   - credentials: what requests carry in place of a user and a password.
    /// - Throws: the fault, in words to be put behind the key's name. They never quote path or query.
    package init(
        _ text: String, cargo: String, credentials: String
    ) throws(TransportConfigurationError) {
        guard text.utf8.count <= Self.greatestLength else {
            throw TransportConfigurationError("has \(text.utf8.count) bytes, more than \(Self.greatestLength)")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw TransportConfigurationError("has a space, or a letter that is not percent-encoded")
        }
        let lowercased = text.lowercased()
        let scheme = lowercased.hasPrefix("https://") ? "https://" : lowercased.hasPrefix("http://") ? "http://" : nil
        guard let scheme else { throw TransportConfigurationError("begins with neither https:// nor http://") }
        isCleartext = scheme == "http://"
        let rest = text.dropFirst(scheme.count)
        guard !rest.contains("#") else { throw TransportConfigurationError("has a fragment (#), which is never sent") }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw TransportConfigurationError(
                "has a user or a password; \(credentials)")
        }
        let place = try HostAndPort(authority, defaultPort: isCleartext ? 80 : 443)
        (host, port) = (place.host, place.port)
        guard !isCleartext || HostAndPort.isLoopback(host) else {
            throw TransportConfigurationError(
                "is http:// to another machine: \(cargo) go there in the clear; use https://, or 127.0.0.1 or [::1]")
        }
        let target = rest.dropFirst(authority.count)
        self.target = target.isEmpty ? "/" : target.hasPrefix("?") ? "/\(target)" : String(target)
    }

    /// The server, for people: the URL without its path and its query, which may hold a secret.
    package var server: String { "\(isCleartext ? "http" : "https")://\(authority)" }

    /// The value of `Host`.
    package var authority: String {
        port == (isCleartext ? 80 : 443)
            ? host.contains(":") ? "[\(host)]" : host : HostAndPort.text(host: host, port: port)
    }
}
