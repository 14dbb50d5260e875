internal import Holdfast

/// The environments that host names stand for: those of the configuration, and Apple's own, which clients use whose resolver
/// leads here.
struct HostEnvironments: Sendable {
    private let hosts: [String: PushEnvironment]

    /// Apple's names for its services over HTTP/2, and for those of the binary protocol.
    private static let apples: [String: PushEnvironment] = [
        "api.push.apple.com": .production, "api.sandbox.push.apple.com": .sandbox,
        "api.development.push.apple.com": .sandbox, "gateway.push.apple.com": .production,
        "gateway.sandbox.push.apple.com": .sandbox,
    ]

    init(_ hosts: [String: PushEnvironment]) {
        self.hosts = Dictionary(hosts.map { (HTTP2IngressConfiguration.hostName(of: $0), $1) }) { first, _ in first }
    }

    /// What the name that a client connects to says of the environment: the `:authority` of a request, or what it asks TLS for.
    ///
    /// - Returns: a configured name's environment, which is an order; and that of Apple's own, which is a wish: a client that
    ///   was led here unawares is served by the one route that there is.
    func environment(of authority: String?) -> (stated: PushEnvironment?, preferred: PushEnvironment?) {
        guard let authority else { return (nil, nil) }
        let name = HTTP2IngressConfiguration.hostName(of: authority)
        if let stated = hosts[name] { return (stated, nil) }
        return (nil, Self.apples[name])
    }
}

extension HTTP2IngressConfiguration {
    /// The host of an `:authority`, in lower case and without its port and a final dot.
    package static func hostName(of authority: String) -> String {
        var name = authority.lowercased()[...]
        if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber) {
            name = name[..<colon]
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        return String(name)
    }
}
