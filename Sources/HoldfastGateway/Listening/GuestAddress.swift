internal import Glibc
internal import NIOCore

/// Where a client comes from, as far as places are concerned: an IPv4 address, or the first 64 bits of an IPv6 one, since
/// whoever has one of those has them all.
struct GuestAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    /// - Returns: nil for a socket that has no address of the Internet's.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address)?:
            (bits, isIPv6) = (UInt64(UInt32(bigEndian: address.address.sin_addr.s_addr)), false)
        case .v6(let address)?:
            let (high, low) = Self.halves(address.address.sin6_addr)
            // A listener for both has IPv4 addresses as ::ffff:a.b.c.d.
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            (bits, isIPv6) = isMapped ? (low & 0xFFFF_FFFF, false) : (high, true)
        case .unixDomainSocket?, nil:
            return nil
        }
    }

    private static func halves(_ address: in6_addr) -> (high: UInt64, low: UInt64) {
        unsafe withUnsafeBytes(of: address) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
