internal import HoldfastTransport
internal import NIOCore

/// The origin of a client for the limits of addresses: an IPv4 address, or the first 64 bits of an IPv6 one, since the
/// holder of one of those has them all.
struct GuestAddress: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    /// - Returns: nil for a socket that has no address of the Internet's.
    init?(_ address: SocketAddress?) {
        switch address.flatMap({ AddressBits($0) }) {
        case nil: return nil
        case .v4(let address)?: (bits, isIPv6) = (UInt64(address), false)
        case .v6(let high, let low)?:
            // A listener for both has IPv4 addresses as ::ffff:a.b.c.d.
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            (bits, isIPv6) = isMapped ? (low & 0xFFFF_FFFF, false) : (high, true)
        }
    }
}
