internal import HoldfastTransport

/// Where to send over the binary protocol.
public struct LegacyAPNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: Int
    /// Without TLS, for tests: loopback only.
    public let isCleartext: Bool

    /// - Parameter text: `binary+tls://HOST[:PORT]` (2195 by default), or `binary://` with a loopback address, which sends
    ///   in the clear.
    /// - Throws: ``LegacyAPNsConfigurationError`` that says what is wrong with it.
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

    public var description: String {
        "\(isCleartext ? "binary" : "binary+tls")://\(HostAndPort.text(host: host, port: port))"
    }
}

/// What is wrong with a configuration: which thing, and why.
public struct LegacyAPNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}
