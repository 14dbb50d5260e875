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
        func fail(_ why: String) -> LegacyAPNsConfigurationError {
            LegacyAPNsConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(why)")
        }
        let schemes = ["binary+tls://", "binary://"]
        guard let scheme = schemes.first(where: text.hasPrefix) else {
            throw fail("is neither binary+tls://HOST[:PORT] nor binary://HOST[:PORT]")
        }
        isCleartext = scheme == "binary://"
        let place: HostAndPort
        do throws(TransportConfigurationError) {
            place = try HostAndPort(text.dropFirst(scheme.count), defaultPort: BinaryProtocol.gatewayPort)
        } catch {
            throw fail(error.message)
        }
        guard !isCleartext || place.isLoopback else {
            throw fail("would send in the clear to another machine; binary:// is for loopback only")
        }
        (host, port) = (place.host, place.port)
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
