internal import HoldfastTransport
internal import NIOCore

/// An address to listen on.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An address or a name of this machine; `0.0.0.0` and `::` are all of its addresses.
    public let host: String
    /// The TCP port; 0 lets the system choose.
    public let port: Int

    /// Creates an address; the host is not resolved.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses an address.
    ///
    /// - Parameter text: `HOST:PORT`, or `[ADDRESS]:PORT`; port 0 lets the system choose.
    /// - Throws: ``GatewayError`` that says which part is invalid.
    public init(_ text: String) throws(GatewayError) {
        func fail(_ why: String) -> GatewayError {
            GatewayError(.configuration, "the address to listen on, \(text.prefix(200).debugDescription), \(why)")
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { throw fail("has no port from 0 to 65535 behind a colon") }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw fail("needs [ and ] around its address")
        }
        guard !host.isEmpty else { throw fail("has no host; 127.0.0.1 is this machine alone, 0.0.0.0 is everybody") }
        self.init(host: String(host), port: port)
    }

    /// Whether only processes of this machine can reach it.
    package var isLoopback: Bool { HostAndPort.isLoopback(host) }

    /// Whether only one of the two can be listened on at a time: they are equal, or one is every address of the
    /// machine. Names are not resolved.
    package func excludes(_ other: ListenAddress) -> Bool {
        guard port == other.port, port != 0 else { return false }
        if host.lowercased() == other.host.lowercased() { return true }
        let hosts = [host, other.host]
        return hosts.contains("::") || hosts.contains("0.0.0.0") && !hosts.contains { $0.contains(":") }
    }

    /// The address in the form that ``init(_:)`` parses.
    public var description: String { HostAndPort.text(host: host, port: port) }
}
