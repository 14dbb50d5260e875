/// A proxy that connections to a push service go through.
///
/// It carries bytes: TLS is spoken with the service itself, through it, so a proxy sees which service is talked to, how much
/// and when, and nothing else.
public struct ProxyServer: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `CONNECT`, with Basic authentication where there is a user.
        case http
        /// RFC 1928; with user and password by RFC 1929.
        case socks5
        /// Given an IPv4 address, which is resolved on this machine; a user's name without a password.
        case socks4
        /// The same with the service's name, which the proxy resolves.
        case socks4a
    }

    public let kind: Kind
    public let host: String
    public let port: Int
    /// Nil where it asks nobody who they are.
    public let user: String?
    /// Never part of a description, an error or a log line.
    package let password: String?

    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - user: 1 to 255 bytes of UTF-8; for HTTP without a colon.
    ///   - password: at most 255 bytes of UTF-8; SOCKS 4 has none.
    public init(_ kind: Kind, host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }
}

extension ProxyServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `socks5://proxy.example:1080`, without who we are there.
    public var description: String {
        "\(kind.rawValue)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    public var debugDescription: String { description }

    /// Without children: what looks into values to print them must not find the password.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
