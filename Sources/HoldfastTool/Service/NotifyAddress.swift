internal import Glibc
internal import NIOCore

/// Where a service manager listens for datagrams, as `NOTIFY_SOCKET` says it: a path, or behind `@` a name in the abstract
/// namespace.
struct NotifyAddress: Sendable {
    /// The bytes for `sun_path`: an abstract name begins with NUL instead of `@`, and has none behind it.
    private let bytes: [UInt8]

    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// `nil` for a text that is neither, or too long.
    init?(_ text: String) {
        var bytes = Array(text.utf8)
        switch bytes.first {
        case UInt8(ascii: "/") where bytes.count < Self.capacity: break
        case UInt8(ascii: "@") where (2...Self.capacity).contains(bytes.count): bytes[0] = 0
        default: return nil
        }
        self.bytes = bytes
    }

    /// Sends one datagram, and blocks until it was taken, 5 s at most.
    func send(_ text: String) throws(IOError) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size) == 0 else {
            throw IOError(errnoCode: errno, reason: "setsockopt")
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        // The length says where an abstract name ends, since it may contain NULs.
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        let data = Array(text.utf8)
        let sent = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, data, data.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        guard sent >= 0 else { throw IOError(errnoCode: errno, reason: "sendto") }
    }
}
