/// The 64-bit xxHash (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md): finds damage, not forgery.
///
/// Here, beside the door to liblmdb, because it reads records where they lie in the map, eight bytes at a time.
package enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of `bytes` from `start` to the end.
    package static func hash(_ bytes: Span<UInt8>, from start: Int = 0, seed: UInt64 = 0) -> UInt64 {
        precondition(start >= 0 && start <= bytes.count)
        return unsafe bytes.withUnsafeBytes { buffer in
            unsafe hash(UnsafeRawBufferPointer(rebasing: buffer[start...]), seed: seed)
        }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var position = 0
        var hash: UInt64
        if bytes.count >= 32 {
            hash = unsafe stripes(of: bytes, seed: seed, position: &position)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        while position + 8 <= bytes.count {
            hash ^= round(0, unsafe word(bytes, position))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            position += 8
        }
        if position + 4 <= bytes.count {
            let half = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
            hash ^= UInt64(half) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            position += 4
        }
        while position < bytes.count {
            hash ^= unsafe UInt64(bytes[position]) &* prime5
            hash = rotate(hash, 11) &* prime1
            position += 1
        }
        return avalanche(hash)
    }

    /// All whole stripes of 32 bytes.
    private static func stripes(of bytes: UnsafeRawBufferPointer, seed: UInt64, position: inout Int) -> UInt64 {
        var lane1 = seed &+ prime1 &+ prime2
        var lane2 = seed &+ prime2
        var lane3 = seed
        var lane4 = seed &- prime1
        while position + 32 <= bytes.count {
            lane1 = round(lane1, unsafe word(bytes, position))
            lane2 = round(lane2, unsafe word(bytes, position + 8))
            lane3 = round(lane3, unsafe word(bytes, position + 16))
            lane4 = round(lane4, unsafe word(bytes, position + 24))
            position += 32
        }
        var hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
        hash = merge(hash, lane1)
        hash = merge(hash, lane2)
        hash = merge(hash, lane3)
        return merge(hash, lane4)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 &- count) }

    @inline(__always)
    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    private static func avalanche(_ value: UInt64) -> UInt64 {
        var hash = value
        hash ^= hash &>> 33
        hash = hash &* prime2
        hash ^= hash &>> 29
        hash = hash &* prime3
        return hash ^ (hash &>> 32)
    }
}
