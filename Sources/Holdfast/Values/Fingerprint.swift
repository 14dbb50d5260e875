/// A short fingerprint of bytes: 64-bit FNV-1a. Tells content apart that differs by mistake, not by malice.
package enum Fingerprint {
    /// Of no bytes.
    package static let empty: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Parameter start: the fingerprint of what comes before them.
    package static func of(_ bytes: some Sequence<UInt8>, after start: UInt64 = empty) -> UInt64 {
        bytes.reduce(start) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// Of bytes in memory, eight at a time; another number than ``of(_:after:)`` gives, and not for what is kept on disk.
    package static func ofWords(_ range: Range<Int>, in bytes: [UInt8]) -> UInt64 {
        let span = bytes.span
        var hash = empty ^ UInt64(truncatingIfNeeded: range.count)
        func mix(_ word: UInt64) {
            let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = product.high ^ product.low
        }
        var position = range.lowerBound
        while range.upperBound - position >= 8 {
            mix(span.littleEndian64(at: position))
            position += 8
        }
        while position < range.upperBound {
            mix(UInt64(span[position]))
            position += 1
        }
        return hash
    }
}
