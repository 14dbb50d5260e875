/// Whether a listener could be bound to an address. NIO can only be asked by listening there at once.
package enum AddressProbe {
    /// Binds a socket and closes it, without listening.
    ///
    /// - Returns: a number of `errno`; nil where it was bound.
    package static func bindError(host: String, port: Int) -> Int32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = SocketKind.stream
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "\(port)", &hints, &found) == 0, let first = unsafe found else {
            return EADDRNOTAVAIL
        }
        defer { unsafe freeaddrinfo(first) }
        let descriptor = unsafe socket(first.pointee.ai_family, SocketKind.stream, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // As listeners have it: what a dead process left behind does not count.
        var isReused: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, length) == 0,
            unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0
        else { return errno }
        return nil
    }
}
