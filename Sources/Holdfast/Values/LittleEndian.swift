/// Fixed-width integers in packed bytes.
extension [UInt8] {
    @inlinable package mutating func appendLittleEndian(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

/// The bounds are looked at once for all of an integer's bytes: then the compiler makes one load of them.
extension Span<UInt8> {
    @inlinable package func littleEndian16(at offset: Int) -> UInt16 {
        precondition(offset >= 0 && count >= 2 && offset <= count &- 2)
        return UInt16(self[offset]) | UInt16(self[offset &+ 1]) << 8
    }

    @inlinable package func littleEndian32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && count >= 4 && offset <= count &- 4)
        return UInt32(littleEndian16(at: offset)) | UInt32(littleEndian16(at: offset &+ 2)) << 16
    }

    @inlinable package func littleEndian64(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && count >= 8 && offset <= count &- 8)
        return UInt64(littleEndian32(at: offset)) | UInt64(littleEndian32(at: offset &+ 4)) << 32
    }
}
