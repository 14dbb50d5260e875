package import NIOCore
internal import NIOPosix

/// Finds the addresses behind a host's name, afresh for each connection.
package protocol AddressResolver: Sendable {
    /// - Returns: at least one address, the best first; or an error.
    func addresses(of host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]>
}

/// The operating system's, which caches as it is set up to, and puts the addresses in the order of RFC 6724.
package struct SystemResolver: AddressResolver {
    package init() {}

    /// Runs on a thread of its own, because it blocks.
    package func addresses(of host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try SystemAddresses.look(up: host, port: port) }
    }
}

/// Addresses that a configuration gives, whatever the name resolves to.
package struct FixedAddresses: AddressResolver {
    private let texts: [String]

    /// - Parameter texts: IP addresses.
    package init(_ texts: [String]) { self.texts = texts }

    package func addresses(of host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let addresses = texts.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        guard !addresses.isEmpty else {
            return loop.makeFailedFuture(UnknownHost(host: host, why: "none of its addresses can be read"))
        }
        return loop.makeSucceededFuture(addresses)
    }
}

/// A name that has no address.
package struct UnknownHost: Error, Hashable, Sendable {
    package let host: String
    /// The resolver's words.
    package let why: String

    package init(host: String, why: String) {
        self.host = host
        self.why = why
    }
}
