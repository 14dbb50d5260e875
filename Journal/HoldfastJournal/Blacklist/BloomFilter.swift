import HoldfastLMDB

/// A set of keys without false negatives and with few false positives: a blocked Bloom filter, in which the six bits of a key
/// lie in one cache line, so that a look-up costs one cache miss.
///
/// At some 13 bits a key about one look-up in two hundred says "perhaps" of a key that is not there.
struct BloomFilter: Sendable {
    /// The number of keys it is made for. With more keys it says "perhaps" more often.
    let capacity: Int
    private let seed: UInt64
    private let blockCount: UInt64
    private var words: [UInt64]

    private static let bitsPerKey = 13
    private static let wordsPerBlock = 8
    private static let bitCount = 6

    /// - Parameters:
    ///   - capacity: how many keys it shall be good for, as far as its size allows.
    ///   - greatestByteCount: its size at most.
    ///   - seed: of the hash. Two filters may exchange hashes only when they have the same.
    init(capacity: Int, greatestByteCount: Int, seed: UInt64) {
        let blockBits = 64 * Self.wordsPerBlock
        self.capacity = max(1, min(capacity, greatestByteCount * 8 / Self.bitsPerKey))
        let blocks = (self.capacity * Self.bitsPerKey + blockBits - 1) / blockBits
        blockCount = UInt64(blocks)
        self.seed = seed
        words = Array(repeating: 0, count: blocks * Self.wordsPerBlock)
    }

    var byteCount: Int { words.count * 8 }

    func hash(_ key: Span<UInt8>) -> UInt64 { Self.hash(key, seed: seed) }

    static func hash(_ key: Span<UInt8>, seed: UInt64) -> UInt64 { XXH64.hash(key, seed: seed) }

    mutating func insert(_ hash: UInt64) {
        let block = block(hash)
        var rest = Self.places(hash)
        for _ in 0..<Self.bitCount {
            words[block + Int(rest >> 61)] |= 1 << ((rest >> 55) & 63)
            rest <<= 9
        }
    }

    /// - Returns: false only for a key that was never inserted.
    func mayContain(_ hash: UInt64) -> Bool {
        let block = block(hash)
        var rest = Self.places(hash)
        for _ in 0..<Self.bitCount {
            if words[block + Int(rest >> 61)] & (1 << ((rest >> 55) & 63)) == 0 { return false }
            rest <<= 9
        }
        return true
    }

    /// The first of the block's words. From the upper half of the hash, scaled to the number of blocks.
    private func block(_ hash: UInt64) -> Int { Int(((hash >> 32) &* blockCount) >> 32) * Self.wordsPerBlock }

    /// Six times nine bits from above: which word, which bit. Mixed anew, so that the keys of one block differ in them.
    private static func places(_ hash: UInt64) -> UInt64 { (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15 }
}
