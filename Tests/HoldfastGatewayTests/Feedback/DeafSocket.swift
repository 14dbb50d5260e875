import HoldfastPlatform

/// A connection of which nothing is read unless it is said to. (An event loop would read what is there when the peer closes.)
final class DeafSocket: Sendable {
    struct Failure: Error {
        let code: CInt
    }

    private let descriptor: CInt

    init(port: Int) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw Failure(code: errno) }
    }

    /// Writes, and does not wait for room.
    ///
    /// - Returns: 0, or the error's number.
    func write(_ bytes: [UInt8]) -> CInt {
        let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
        let count = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
        return count == bytes.count ? 0 : errno
    }

    /// What has come, 100 bytes at most, or as much as a reset has left.
    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT))
        }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// With something unread the kernel resets the connection.
    func die() { HoldfastPlatform.close(descriptor) }
}
