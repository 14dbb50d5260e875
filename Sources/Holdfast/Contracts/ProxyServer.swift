/// A proxy through which connections to a push service are made.
///
/// TLS is end to end with the service, so the proxy sees the service's name, the amount of data and the times, and nothing
/// else.
public struct ProxyServer: Hashable, Sendable {
    /// The protocol that the proxy speaks. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// `CONNECT`, with Basic authentication where there is a user.
        case http
        /// RFC 1928; with user and password by RFC 1929.
        case socks5
        /// Given an IPv4 address, which is resolved on this machine; a user's name without a password.
        case socks4
        /// SOCKS 4 with the service's name, which the proxy resolves.
        case socks4a
    }

    /// The protocol that the proxy speaks.
    public let kind: Kind
    /// A name, or an address without brackets.
    public let host: String
    /// The TCP port, 1 to 65,535.
    public let port: Int
    /// The user's name; `nil` for a proxy without authentication.
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
    /// `socks5://proxy.example:1080`, without user and password.
    public var description: String {
        "\(kind.rawValue)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The ``description``, so that a debugger's print shows no password either.
    public var debugDescription: String { description }

    /// A mirror without children, so that printing a value by reflection does not show the password.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
