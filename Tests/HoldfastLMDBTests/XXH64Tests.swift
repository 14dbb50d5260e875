import HoldfastLMDB
import Testing

@Suite("XXH64")
struct XXH64Tests {
    /// The generator of the reference implementation's own self-test (xxHash, cli/xsum_sanity_check.c): `byteGen`
    /// starts with PRIME32_1 and is squared for each byte's top bits.
    static let sanityBuffer: [UInt8] = {
        var generator: UInt64 = 2_654_435_761
        return (0..<2367).map { _ in
            defer { generator = generator &* 11_400_714_785_074_694_797 }
            return UInt8(generator >> 56)
        }
    }()

    @Test(
        "The published vectors hold",
        arguments: [
            (0, UInt64(0), UInt64(0xEF46_DB37_51D8_E999)),
            (0, 0x9E37_79B1, 0xAC75_FDA2_929B_17EF),
            (1, 0, 0xE934_A84A_DB05_2768),
            (1, 0x9E37_79B1, 0x5014_6076_43A9_B4C3),
            (4, 0, 0x9136_A0DC_A574_57EE),
            (14, 0, 0x8282_DCC4_994E_35C8),
            (14, 0x9E37_79B1, 0xC3BD_6BF6_3DEB_6DF0),
            (222, 0, 0xB641_AE8C_B691_C174),
            (222, 0x9E37_79B1, 0x20CB_8AB7_AE10_C14A),
        ])
    func published(count: Int, seed: UInt64, expected: UInt64) {
        let bytes = Array(Self.sanityBuffer[..<count])
        #expect(XXH64.hash(bytes.span, seed: seed) == expected)
    }

    @Test(
        "Well-known texts hash as they do everywhere",
        arguments: [
            ("a", UInt64(0xD24E_C4F1_A98C_6E5B)), ("abc", 0x44BC_2CF5_AD77_0999),
            ("xxhash", 0x32DD_38952C4BC720),
            ("The quick brown fox jumps over the lazy dog", 0x0B24_2D36_1FDA_71BC),
        ])
    func texts(text: String, expected: UInt64) {
        #expect(XXH64.hash(Array(text.utf8).span) == expected)
    }

    @Test("A hash from an offset is the hash of the rest")
    func offset() {
        let bytes = Self.sanityBuffer
        #expect(XXH64.hash(bytes.span, from: 8) == XXH64.hash(Array(bytes[8...]).span))
    }
}
