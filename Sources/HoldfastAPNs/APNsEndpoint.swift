internal import HoldfastTransport

/// Where to send.
public struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: Int
    /// Without TLS, for tests: loopback only.
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

    /// Where the channels of this endpoint's environment are managed; nil where it is not Apple's, and nobody knows.
    public var channels: APNsEndpoint? { isSandbox ? .sandboxChannels : isProduction ? .productionChannels : nil }

    init(host: String, port: Int, isCleartext: Bool) {
        self.host = host
        self.port = port
        self.isCleartext = isCleartext
    }

    /// - Parameter text: `production` or `sandbox`, also as `production:2197` for Apple's other port;
    ///   `https://HOST[:PORT]`, with port 443 by default; or `http://` with a loopback address, which sends in the clear.
    /// - Throws: ``APNsConfigurationError`` that says what is wrong with it.
    public init(_ text: String) throws(APNsConfigurationError) {
        switch text {
        case "production", "production:443": self = .production
        case "production:2197": self = APNsEndpoint(host: Self.production.host, port: 2197, isCleartext: false)
        case "sandbox", "sandbox:443": self = .sandbox
        case "sandbox:2197": self = APNsEndpoint(host: Self.sandbox.host, port: 2197, isCleartext: false)
        default: self = try Self.parse(text)
        }
    }

    /// Apple's for development, whichever port.
    var isSandbox: Bool { host == Self.sandbox.host || host == Self.sandboxChannels.host }

    /// Apple's for production, whichever port.
    var isProduction: Bool { host == Self.production.host || host == Self.productionChannels.host }

    /// Apple's, for development or production.
    package var isApples: Bool { isSandbox || isProduction }

    private static func parse(_ text: String) throws(APNsConfigurationError) -> APNsEndpoint {
        func fail(_ why: String) -> APNsConfigurationError {
            APNsConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(why)")
        }
        let isCleartext = text.hasPrefix("http://")
        guard isCleartext || text.hasPrefix("https://") else {
            throw fail("is neither production, sandbox nor https://HOST[:PORT]")
        }
        let place: HostAndPort
        do throws(TransportConfigurationError) {
            place = try HostAndPort(text.dropFirst(isCleartext ? 7 : 8), defaultPort: isCleartext ? 80 : 443)
        } catch {
            throw fail(error.message)
        }
        guard !isCleartext || HostAndPort.isLoopback(place.host) else {
            throw fail("would send in the clear to another machine; http:// is for loopback only")
        }
        return APNsEndpoint(host: place.host, port: place.port, isCleartext: isCleartext)
    }

    /// Host and port as the `:authority` of a request.
    public var authority: String { HostAndPort.text(host: host, port: port) }

    /// The service that judges tokens there, as the blacklist names it: Apple's has two ports and is one.
    public var service: String {
        isProduction ? Self.production.description : isSandbox ? Self.sandbox.description : description
    }

    public var description: String { "\(isCleartext ? "http" : "https")://\(authority)" }
}

/// What is wrong with a configuration: which thing, and why.
public struct APNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}
