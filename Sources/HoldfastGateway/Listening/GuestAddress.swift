internal import NIOCore

/// Where a client comes from, as far as places are concerned: an IPv4 address, or the first 64 bits of an IPv6 one, since
/// whoever has one of those has them all.
struct GuestAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    /// - Returns: nil for a socket that has no address of the Internet's.
    init?(_ address: SocketAddress?) {
        guard let address else { return nil }
        switch address {
        case .v4:
            (bits, isIPv6) = (UInt64(UInt32(bigEndian: Self.load(address, at: 4))), false)
        case .v6:
            let high = UInt64(bigEndian: Self.load(address, at: 8))
            let low = UInt64(bigEndian: Self.load(address, at: 16))
            // A listener for both has IPv4 addresses as ::ffff:a.b.c.d.
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            (bits, isIPv6) = isMapped ? (low & 0xFFFF_FFFF, false) : (high, true)
        case .unixDomainSocket:
            return nil
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
