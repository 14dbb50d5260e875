internal import NIOCore

/// What stands behind the scheme of an endpoint: `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, with or without a `/` at the end.
/// The host is in lower case: names that differ in that alone are one.
package struct HostAndPort: Hashable, Sendable {
    package let host: String
    package let port: Int

    /// - Throws: what is wrong with it, to be put behind the text itself: "has no host".
    package init(_ text: Substring, defaultPort: Int) throws(TransportConfigurationError) {
        var authority = text
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains(where: { "/?#@".contains($0) }) else {
            throw TransportConfigurationError("has more than a host and a port")
        }
        var host = authority
        var port = defaultPort
        let afterBracket = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterBracket...].firstIndex(of: ":") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65535).contains(number) else {
                throw TransportConfigurationError("has no port from 1 to 65535 behind its colon")
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw TransportConfigurationError("has no host") }
        self.host = host.lowercased()
        self.port = port
    }

    /// Whether what goes there stays on this machine.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// Whether it is an address rather than a name.
    package static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

    /// As in a URL.
    package static func text(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
