internal import NIOCore

/// The part of an endpoint behind its scheme: `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, with or without a `/` at the end.
/// The host is in lower case: names that differ only in case are equal.
package struct HostAndPort: Hashable, Sendable {
    package let host: String
    package let port: Int

    /// - Throws: the fault, in words to be put behind the text itself: "has no host".
    package init(_ text: Substring, defaultPort: Int) throws(TransportConfigurationError) {
        var authority = text
        if authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains(where: { "/?#@".contains($0) }) else {
            throw TransportConfigurationError("has more than a host and a port")
        }
        var host = authority
        var port = defaultPort
        let afterBracket = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterBracket...].firstIndex(of: ":") {
            guard let number = Int(authority[authority.index(after: colon)...]), (1...65535).contains(number) else {
                throw TransportConfigurationError("has no port from 1 to 65535 behind its colon")
            }
            port = number
            host = authority[..<colon]
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw TransportConfigurationError("has no host") }
        if let why = Self.objection(to: host, isBracketed: isBracketed) { throw TransportConfigurationError(why) }
        self.host = host.lowercased()
        self.port = port
    }

    /// Takes the URL of a service apart: `https://HOST[:PORT]`, or `http://` with a host of this machine, for cleartext.
    ///
    /// - Parameter names: the texts that stand for services of their own, for the message.
    /// - Throws: the fault, in words to be put behind the text itself.
    package static func ofService(
        _ url: String, orElse names: String
    ) throws(TransportConfigurationError) -> (place: HostAndPort, isCleartext: Bool) {
        let isCleartext = url.hasPrefix("http://")
        guard isCleartext || url.hasPrefix("https://") else {
            throw TransportConfigurationError("is neither \(names) nor https://HOST[:PORT]")
        }
        let place = try HostAndPort(url.dropFirst(isCleartext ? 7 : 8), defaultPort: isCleartext ? 80 : 443)
        guard !isCleartext || isLoopback(place.host) else {
            throw TransportConfigurationError(
                "would send in the clear to another machine; http:// is for loopback only")
        }
        return (place, isCleartext)
    }

    /// - Returns: nil for an address, and for a name as resolvers and certificates have it.
    private static func objection(to host: Substring, isBracketed: Bool) -> String? {
        // An address of one link names the interface behind the percent sign.
        let address = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if host.contains(":"), isAddress(String(address[0])), address.count == 1 || isName(address[1]) { return nil }
        guard !isBracketed else { return "has no address between its brackets" }
        if isName(host) { return nil }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            return "has a host name with letters that DNS does not have: write it as DNS has it, as xn--…"
        }
        return "has a host name with other characters than letters, digits, hyphens, dots and underscores"
    }

    /// Whether the text has only the characters of host names (RFC 952, RFC 1123), and the underscore.
    package static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether connections to the host stay on this machine: it is `localhost`, or an address of loopback. A name that
    /// only begins like such an address is none.
    package static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Text that is no address is a name.
        guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return false }
        return AddressBits(address)?.isLoopback == true
    }

    /// Whether it is an address rather than a name.
    package static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

    /// Host and port, as in a URL.
    package static func text(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
