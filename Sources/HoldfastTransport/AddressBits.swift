package import NIOCore

/// The bits of an address of the Internet's, which NIO tells as text only.
package enum AddressBits: Hashable, Sendable {
    case v4(UInt32)
    case v6(high: UInt64, low: UInt64)

    /// - Returns: nil for a socket that has no such address.
    package init?(_ address: SocketAddress) {
        switch address {
        case .v4: self = .v4(UInt32(bigEndian: Self.load(address, at: 4)))
        case .v6:
            self = .v6(
                high: UInt64(bigEndian: Self.load(address, at: 8)), low: UInt64(bigEndian: Self.load(address, at: 16)))
        case .unixDomainSocket: return nil
        }
    }

    /// - Parameter offset: in `sockaddr_in`, where the address begins at 4, or `sockaddr_in6`, where it begins at 8.
    private static func load<Bits: FixedWidthInteger & BitwiseCopyable>(_ address: SocketAddress, at offset: Int)
        -> Bits
    {
        unsafe address.withSockAddr { pointer, size in
            unsafe UnsafeRawBufferPointer(start: pointer, count: size).loadUnaligned(
                fromByteOffset: offset, as: Bits.self)
        }
    }
}
