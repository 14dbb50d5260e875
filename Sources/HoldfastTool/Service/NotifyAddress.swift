internal import HoldfastPlatform
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
    func send(_ text: String) throws(IOError) { try send(Array(text.utf8)) }

    /// The same for bytes.
    func send(_ data: [UInt8]) throws(IOError) {
        do {
            try LocalDatagram.send(data, to: bytes)
        } catch {
            throw IOError(errnoCode: error.code, reason: error.name)
        }
    }
}
