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

    init(host: String, port: Int, isCleartext: Bool) {
        self.host = host
        self.port = port
        self.isCleartext = isCleartext
    }

    /// - Parameter text: `production`, `sandbox`, `https://HOST[:PORT]` (443 by default; Apple also listens on 2197), or
    ///   `http://` with a loopback address, which sends in the clear.
    /// - Throws: ``APNsConfigurationError`` that says what is wrong with it.
    public init(_ text: String) throws(APNsConfigurationError) {
        switch text {
        case "production": self = .production
        case "sandbox": self = .sandbox
        default: self = try Self.parse(text)
        }
    }

    private static func parse(_ text: String) throws(APNsConfigurationError) -> APNsEndpoint {
        func fail(_ why: String) -> APNsConfigurationError {
            APNsConfigurationError("the endpoint \(text.prefix(200).debugDescription) \(why)")
        }
        let isCleartext = text.hasPrefix("http://")
        guard isCleartext || text.hasPrefix("https://") else {
            throw fail("is neither production, sandbox nor https://HOST[:PORT]")
        }
        var authority = text.dropFirst(isCleartext ? 7 : 8)
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains(where: { "/?#@".contains($0) }) else { throw fail("has more than a host and a port") }

        var host = authority
        var port = isCleartext ? 80 : 443
        let afterBracket = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterBracket...].firstIndex(of: ":") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65535).contains(number) else {
                throw fail("has no port from 1 to 65535 behind its colon")
            }
            port = number
            host = authority[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw fail("has no host") }
        guard !isCleartext || host == "localhost" || host == "::1" || host.hasPrefix("127.") else {
            throw fail("would send in the clear to another machine; http:// is for loopback only")
        }
        return APNsEndpoint(host: String(host), port: port, isCleartext: isCleartext)
    }

    /// Host and port as the `:authority` of a request.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    public var description: String { "\(isCleartext ? "http" : "https")://\(authority)" }
}

/// What is wrong with a configuration: which thing, and why.
public struct APNsConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}
