internal import HoldfastTransport

/// The address of a feedback service.
public struct LegacyAPNsFeedbackEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether it is spoken to without TLS, which is possible on loopback only. For tests.
    public let isCleartext: Bool

    /// Parses an endpoint.
    ///
    /// - Parameter text: `feedback+tls://HOST[:PORT]` (2196 by default), or `feedback://` with a loopback address,
    ///   which is read in cleartext.
    /// - Throws: ``LegacyAPNsConfigurationError`` that says which part is invalid.
    public init(_ text: String) throws(LegacyAPNsConfigurationError) {
        (isCleartext, host, port) = try LegacyAPNsEndpoint.parse(
            text, scheme: "feedback", defaultPort: BinaryProtocol.feedbackPort)
    }

    /// The endpoint in the form that ``init(_:)`` parses.
    public var description: String {
        "\(isCleartext ? "feedback" : "feedback+tls")://\(HostAndPort.text(host: host, port: port))"
    }
}
