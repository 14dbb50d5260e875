/// A short fingerprint of bytes: 64-bit FNV-1a. Tells content apart that differs by mistake, not by malice.
package enum Fingerprint {
    /// Of no bytes.
    package static let empty: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Parameter start: the fingerprint of what comes before them.
    package static func of(_ bytes: some Sequence<UInt8>, after start: UInt64 = empty) -> UInt64 {
        bytes.reduce(start) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
