internal import HoldfastTransport

/// Where to read feedback.
public struct LegacyAPNsFeedbackEndpoint: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: Int
    /// Without TLS, for tests: loopback only.
    public let isCleartext: Bool

    /// - Parameter text: `feedback+tls://HOST[:PORT]` (2196 by default), or `feedback://` with a loopback address, which
    ///   is read in the clear.
    /// - Throws: ``LegacyAPNsConfigurationError`` that says what is wrong with it.
    public init(_ text: String) throws(LegacyAPNsConfigurationError) {
        (isCleartext, host, port) = try LegacyAPNsEndpoint.parse(
            text, scheme: "feedback", defaultPort: BinaryProtocol.feedbackPort)
    }

    public var description: String {
        "\(isCleartext ? "feedback" : "feedback+tls")://\(HostAndPort.text(host: host, port: port))"
    }
}
