public import Holdfast
internal import HoldfastTransport

/// The address of a push service, or of the service that manages its channels.
public struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host name or address.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether connections are without TLS. For tests, on loopback only.
    public let isCleartext: Bool

    /// `api.push.apple.com:443`
    public static let production = APNsEndpoint(host: "api.push.apple.com", port: 443, isCleartext: false)
    /// `api.sandbox.push.apple.com:443`
    public static let sandbox = APNsEndpoint(host: "api.sandbox.push.apple.com", port: 443, isCleartext: false)

    // MARK: Where broadcast channels are managed

    /// `api-manage-broadcast.push.apple.com:2196`
    public static let productionChannels = APNsEndpoint(
        host: "api-manage-broadcast.push.apple.com", port: 2196, isCleartext: false)
    /// `api-manage-broadcast.sandbox.push.apple.com:2195`
    public static let sandboxChannels = APNsEndpoint(
        host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195, isCleartext: false)

    /// The service that manages the channels of this endpoint's environment; `nil` for an endpoint that is not Apple's.
    public var channels: APNsEndpoint? { isSandbox ? .sandboxChannels : isProduction ? .productionChannels : nil }

    init(host: String, port: Int, isCleartext: Bool) {
        self.host = host
        self.port = port
        self.isCleartext = isCleartext
    }

    /// Parses the text of an endpoint.
    ///
    /// - Parameter text: `production` or `sandbox`, also as `production:2197` for Apple's other port;
    ///   `https://HOST[:PORT]`, with port 443 by default; or `http://` with a loopback address, for cleartext.
    /// - Throws: ``APNsConfigurationError`` with the reason.
    public init(_ text: String) throws(APNsConfigurationError) {
        switch text {
        case "production", "production:443": self = .production
        case "production:2197": self = APNsEndpoint(host: Self.production.host, port: 2197, isCleartext: false)
        case "sandbox", "sandbox:443": self = .sandbox
        case "sandbox:2197": self = APNsEndpoint(host: Self.sandbox.host, port: 2197, isCleartext: false)
        default: self = try Self.parse(text)
        }
    }

    /// Whether this is Apple's service for development, on any port.
    var isSandbox: Bool { host == Self.sandbox.host || host == Self.sandboxChannels.host }

    /// Whether this is Apple's service for production, on any port.
    var isProduction: Bool { host == Self.production.host || host == Self.productionChannels.host }

    /// The environment of Apple's service; `nil` for an endpoint that is not Apple's.
    public var environment: PushEnvironment? { isSandbox ? .sandbox : isProduction ? .production : nil }

    /// Whether this is a service of Apple's.
    package var isApples: Bool { isSandbox || isProduction }

    private static func parse(_ text: String) throws(APNsConfigurationError) -> APNsEndpoint {
        do throws(TransportConfigurationError) {
            let (place, isCleartext) = try HostAndPort.ofService(text, orElse: "production, sandbox")
            return APNsEndpoint(host: place.host, port: place.port, isCleartext: isCleartext)
        } catch {
            throw APNsConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(error.message)")
        }
    }

    /// Host and port as the `:authority` of a request.
    public var authority: String { HostAndPort.text(host: host, port: port) }

    /// The service that judges tokens, as the blacklist names it: the same for both ports of Apple's.
    public var service: String {
        isProduction ? Self.production.description : isSandbox ? Self.sandbox.description : description
    }

    /// The URL, such as `https://api.push.apple.com:443`.
    public var description: String { "\(isCleartext ? "http" : "https")://\(authority)" }
}

/// A fault in a configuration, which names the setting or file and the reason.
public struct APNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, for people.
    public let message: String
    /// An error with this message.
    public init(_ message: String) { self.message = message }
    /// The message.
    public var description: String { message }
}
