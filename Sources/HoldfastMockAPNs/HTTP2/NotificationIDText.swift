import HoldfastMocking

/// The `apns-id` of an answer: 36 bytes, reused for each answer.
struct NotificationIDText {
    static let byteCount = 36

    private(set) var bytes = [UInt8](repeating: UInt8(ascii: "-"), count: byteCount)
    private var generator: SplitMix64

    init() {
        var system = SystemRandomNumberGenerator()
        generator = SplitMix64(state: system.next())
    }

    /// Takes over the request's id, which must be well-formed.
    mutating func set(_ text: String) {
        let digits = text.utf8Span.span
        guard digits.count == Self.byteCount else { return }
        for position in 0..<Self.byteCount { bytes[position] = digits[position] }
    }

    /// A new random UUID (version 4).
    mutating func setRandom() {
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        var position = 0
        for nibble in 0..<32 {
            if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                bytes[position] = UInt8(ascii: "-")
                position += 1
            }
            let half = nibble < 16 ? high : low
            bytes[position] = ASCII.hexDigit(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (nibble & 15))) & 15)
            position += 1
        }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Steele, Lea and Flood's generator: identifiers need to differ, not to be secret, and a system call for each would
/// show in benchmarks.
private struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
