/// SipHash-2-4 with a 128-bit result (Aumasson and Bernstein; the reference implementation's `siphash.c`), incremental.
package struct SipHash128 {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var tail: UInt64 = 0
    private var byteCount = 0

    package init(key: IdentityKey) {
        v0 = 0x736F_6D65_7073_6575 ^ key.first
        v1 = 0x646F_7261_6E64_6F6D ^ key.second ^ 0xEE
        v2 = 0x6C79_6765_6E65_7261 ^ key.first
        v3 = 0x7465_6462_7974_6573 ^ key.second
    }

    /// Eight bytes, little-endian.
    package mutating func append(_ word: UInt64) {
        let shift = UInt64(byteCount & 7) * 8
        byteCount &+= 8
        guard shift > 0 else { return compress(word) }
        compress(tail | word << shift)
        tail = word >> (64 - shift)
    }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            tail |= UInt64(byte) << (UInt64(byteCount & 7) * 8)
            byteCount &+= 1
            if byteCount & 7 == 0 {
                compress(tail)
                tail = 0
            }
        }
    }

    /// The first and the last eight bytes of the digest, each little-endian.
    package mutating func finalize() -> (UInt64, UInt64) {
        compress(tail | UInt64(byteCount & 0xFF) << 56)
        v2 ^= 0xEE
        for _ in 0..<4 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xDD
        for _ in 0..<4 { round() }
        return (first, v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func round() {
        v0 = v0 &+ v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 = v2 &+ v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 = v0 &+ v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 = v2 &+ v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
