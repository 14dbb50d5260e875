internal import HoldfastPlatform

/// Ports of the loopback that are free.
package enum FreePort {
    package static func take() throws -> Int {
        let listener = try Socket(listening: 0)
        defer { listener.close() }
        return listener.port
    }
}

/// A blocking socket on the loopback, with the few calls that tests need.
package final class Socket: Sendable {
    let descriptor: Int32

    private init(_ descriptor: Int32) throws {
        guard descriptor >= 0 else { throw PostgresFailure("a socket failed with errno \(errno)") }
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { HoldfastPlatform.close(descriptor) }

    package convenience init(listening port: Int) throws {
        try self.init(socket(AF_INET, SocketKind.stream, 0))
        let result = unsafe Self.withAddress(port) { unsafe bind(descriptor, $0, $1) }
        guard result == 0, listen(descriptor, 100) == 0 else {
            throw PostgresFailure("port \(port) can't be listened to: errno \(errno)")
        }
    }

    /// Keeps a port of its own, at which connections are refused: nobody else can listen there meanwhile.
    package static func refusing() throws -> Socket {
        let kept = try Socket(socket(AF_INET, SocketKind.stream, 0))
        guard unsafe withAddress(0, { unsafe bind(kept.descriptor, $0, $1) }) == 0 else {
            throw PostgresFailure("a port can't be kept: errno \(errno)")
        }
        return kept
    }

    package convenience init(connectedTo port: Int) throws {
        try self.init(socket(AF_INET, SocketKind.stream, 0))
        let result = unsafe Self.withAddress(port) { unsafe connect(descriptor, $0, $1) }
        guard result == 0 else { throw PostgresFailure("nobody listens on \(port)") }
    }

    /// - Returns: `nil` when the listener was closed.
    func accept() -> Socket? { try? Socket(HoldfastPlatform.accept(descriptor, nil, nil)) }

    package var port: Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// - Returns: empty at the end.
    func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe HoldfastPlatform.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : []
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends both directions, and wakes who waits.
    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    @unsafe private static func withAddress<R>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
