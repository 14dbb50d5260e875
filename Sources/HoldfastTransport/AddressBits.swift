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

extension AddressBits {
    /// An IPv4 address in the form of IPv6 (RFC 4291 §2.5.5.2) as IPv4, any other as it is.
    package var unmapped: AddressBits {
        guard case .v6(high: 0, let low) = self, low >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    /// Whether it is `0.0.0.0` or `::`: to a listener, every address of the machine.
    package var isUnspecified: Bool { unmapped == .v4(0) || self == .v6(high: 0, low: 0) }

    /// Whether it is of `127.0.0.0/8`, or `::1`.
    package var isLoopback: Bool {
        if case .v4(let bits) = unmapped { return bits >> 24 == 127 }
        return self == .v6(high: 0, low: 1)
    }
}
