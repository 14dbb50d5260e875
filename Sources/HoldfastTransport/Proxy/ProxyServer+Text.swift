internal import Foundation
package import Holdfast

extension ProxyServer {
    /// - Parameter text: `http://[USER:PASSWORD@]HOST[:PORT]`, or with `socks5`, `socks4` or `socks4a`; characters
    ///   special in a URL are percent-encoded. Default port: 3128 for HTTP and 1080 for SOCKS.
    /// - Throws: the fault, without the text before the `@`.
    package init(text: String) throws(TransportConfigurationError) {
        func fail(_ why: String) -> TransportConfigurationError {
            // A password may have an unencoded `/` or `@`, or may stand where no scheme is: nothing before the last `@`.
            let shown = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
            return TransportConfigurationError("the proxy \(shown.prefix(200).debugDescription) \(why)")
        }
        guard let colons = text.range(of: "://"), let kind = Self.kinds[text[..<colons.lowerBound].lowercased()] else {
            throw fail("begins with none of http://, socks5://, socks4:// and socks4a://")
        }
        let rest = text[colons.upperBound...]
        let at = rest.lastIndex(of: "@")
        let place: HostAndPort
        do throws(TransportConfigurationError) {
            place = try HostAndPort(
                at.map { rest[rest.index(after: $0)...] } ?? rest, defaultPort: kind == .http ? 3128 : 1080)
        } catch {
            throw fail(error.message)
        }
        guard place.host.utf8.count <= 255 else { throw fail("has a host of more than 255 bytes") }
        let parts = at.map { rest[..<$0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) } ?? []
        let decoded = parts.map { $0.removingPercentEncoding }
        guard !decoded.contains(nil) else { throw fail("has a user or a password that is not percent-encoded text") }
        let user = decoded.first ?? nil
        let password = decoded.count > 1 ? decoded[1] : nil
        if let why = Self.objection(to: user, password, for: kind) { throw fail(why) }
        self.init(kind, host: place.host, port: place.port, user: user, password: password)
    }

    private static let kinds: [String: Kind] = [
        "http": .http, "socks5": .socks5, "socks5h": .socks5, "socks4": .socks4, "socks4a": .socks4a,
    ]

    /// The part of a user name or password that the proxy's protocol cannot carry, in words; nil for none.
    package static func objection(to user: String?, _ password: String?, for kind: Kind) -> String? {
        guard let user else { return password == nil ? nil : "has a password and no user" }
        guard (1...255).contains(user.utf8.count), (password?.utf8.count ?? 0) <= 255 else {
            return "has a user that is not of 1 to 255 bytes, or a password of more than 255"
        }
        switch kind {
        case .http:
            return user.contains(":") ? "has a user with a colon, which HTTP takes for the end of the name" : nil
        case .socks5:
            return password?.isEmpty ?? true ? "has a user without a password, which SOCKS 5 does not know" : nil
        case .socks4, .socks4a:
            if password != nil { return "has a password, which SOCKS 4 does not know" }
            return user.utf8.contains(0) ? "has a user with a zero byte" : nil
        }
    }
}
