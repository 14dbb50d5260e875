internal import HoldfastTransport

/// The address of a gateway of the binary protocol.
public struct LegacyAPNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether it is spoken to without TLS, which is possible on loopback only. For tests.
    public let isCleartext: Bool

    /// Parses an endpoint.
    ///
    /// - Parameter text: `binary+tls://HOST[:PORT]` (2195 by default), or `binary://` with a loopback address, which
    ///   sends in cleartext.
    /// - Throws: ``LegacyAPNsConfigurationError`` that says which part is invalid.
    public init(_ text: String) throws(LegacyAPNsConfigurationError) {
        (isCleartext, host, port) = try Self.parse(text, scheme: "binary", defaultPort: BinaryProtocol.gatewayPort)
    }

    /// Parses `SCHEME+tls://HOST[:PORT]`, or `SCHEME://` with a loopback address.
    static func parse(
        _ text: String, scheme: String, defaultPort: Int
    ) throws(LegacyAPNsConfigurationError) -> (isCleartext: Bool, host: String, port: Int) {
        func fail(_ why: String) -> LegacyAPNsConfigurationError {
            LegacyAPNsConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(why)")
        }
        let prefixes = ["\(scheme)+tls://", "\(scheme)://"]
        guard let prefix = prefixes.first(where: text.hasPrefix) else {
            throw fail("is neither \(scheme)+tls://HOST[:PORT] nor \(scheme)://HOST[:PORT]")
        }
        let isCleartext = prefix == prefixes[1]
        let place: HostAndPort
        do throws(TransportConfigurationError) {
            place = try HostAndPort(text.dropFirst(prefix.count), defaultPort: defaultPort)
        } catch {
            throw fail(error.message)
        }
        guard !isCleartext || HostAndPort.isLoopback(place.host) else {
            throw fail("would be in the clear to another machine; \(scheme):// is for loopback only")
        }
        return (isCleartext, place.host, place.port)
    }

    /// The endpoint in the form that ``init(_:)`` parses.
    public var description: String {
        "\(isCleartext ? "binary" : "binary+tls")://\(HostAndPort.text(host: host, port: port))"
    }
}

/// A fault in a configuration: the setting concerned, and the reason.
public struct LegacyAPNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault in words, for operators. Holds no secret.
    public let message: String
    /// Creates an error with this message.
    public init(_ message: String) { self.message = message }
    /// The ``message``.
    public var description: String { message }
}
