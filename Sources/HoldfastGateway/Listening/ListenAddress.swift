internal import HoldfastTransport
internal import NIOCore

/// Where a listener listens.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An address of this machine, or a name of it; `0.0.0.0` and `::` are all of its addresses.
    public let host: String
    /// 0 lets the system choose.
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Parameter text: `HOST:PORT`, or `[ADDRESS]:PORT`; port 0 lets the system choose.
    /// - Throws: ``GatewayError`` that says what is wrong with it.
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

    /// Whether only this machine's own processes reach it.
    public var isLoopback: Bool { HostAndPort.isLoopback(host) }

    /// Whether only one of the two can be listened on at a time: they are the same, or one is every address of the machine.
    /// Names are not looked up.
    package func excludes(_ other: ListenAddress) -> Bool {
        guard port == other.port, port != 0 else { return false }
        if host.lowercased() == other.host.lowercased() { return true }
        let hosts = [host, other.host]
        return hosts.contains("::") || hosts.contains("0.0.0.0") && !hosts.contains { $0.contains(":") }
    }

    public var description: String { HostAndPort.text(host: host, port: port) }
}
