internal import HoldfastPlatform
internal import NIOCore

/// The C library's `getaddrinfo`: NIO's own resolver gives nobody the addresses it finds. The only file of this room that
/// touches C's memory.
struct SystemAddresses {
    /// Blocks.
    ///
    /// - Throws: ``UnknownHost``.
    static func look(up host: String, port: Int) throws(UnknownHost) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = SocketKind.stream
        unsafe hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &first)
        guard code == 0 else { throw UnknownHost(host: host, why: unsafe String(cString: gai_strerror(code))) }
        defer { unsafe freeaddrinfo(first) }
        var found: [SocketAddress] = []
        var next = unsafe first
        while let info = unsafe next {
            if let address = unsafe address(info.pointee) { found.append(address) }
            unsafe next = info.pointee.ai_next
        }
        guard !found.isEmpty else { throw UnknownHost(host: host, why: "it has no IPv4 or IPv6 address") }
        return found
    }

    private static func address(_ info: addrinfo) -> SocketAddress? {
        guard let bytes = unsafe UnsafeRawPointer(info.ai_addr) else { return nil }
        switch unsafe info.ai_family {
        case AF_INET: return SocketAddress(unsafe bytes.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: return SocketAddress(unsafe bytes.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }
}
