/// The numbers of Apple's binary protocol (*Local and Remote Notification Programming Guide: Binary Provider API*). All
/// integers on the wire are big-endian.
///
///     command 0    00 · token length u16 · token · payload length u16 · payload
///     command 1    01 · identifier u32 · expiry u32 · token length u16 · token · payload length u16 · payload
///     command 2    02 · frame length u32 · items, each: item id u8 · length u16 · data
///     error        08 · status u8 · identifier u32; then the service closes
///     feedback     time u32 · token length u16 · token; repeated to the end of the stream
package enum BinaryProtocol {
    /// The port of Apple's gateway.
    package static let gatewayPort = 2195
    /// The port of Apple's feedback service.
    package static let feedbackPort = 2196

    enum Command {
        static let simple: UInt8 = 0
        static let enhanced: UInt8 = 1
        static let framed: UInt8 = 2
        static let error: UInt8 = 8
    }

    /// The items of a frame of command 2.
    enum Item {
        static let token: UInt8 = 1
        static let payload: UInt8 = 2
        static let identifier: UInt8 = 3
        static let expiration: UInt8 = 4
        static let priority: UInt8 = 5
    }
}

extension Span<UInt8> {
    func bigEndian16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
    }
}

extension [UInt8] {
    mutating func appendBigEndian(_ value: UInt16) {
        append(UInt8(value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func appendBigEndian(_ value: UInt32) {
        appendBigEndian(UInt16(value >> 16))
        appendBigEndian(UInt16(truncatingIfNeeded: value))
    }
}
