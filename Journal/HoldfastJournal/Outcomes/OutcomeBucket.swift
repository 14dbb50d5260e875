import Holdfast
import HoldfastLMDB

/// A bucket of a segment's index, as it lies in `outcomeIndex`. The checksum's seed is the hash of its key.
///
///     13 u8 0   14 u16 number of entries   16 u16 number of keys that are everywhere   18 u16 0
///     20 u32×n entries: in the upper half 16 bits of a key's hash, in the lower a block that has it, by the place of the
///        block's first outcome in the segment
///        u16×n the 16 bits of keys that lie in too many blocks to name them
///
/// At most one page. One with more different keys than fit has version 1 and 0xFFFF in place of the number of entries: then
/// nobody can say what lies where.
enum OutcomeBucket {
    static let magic: UInt32 = 0x696F_4648  // "HFoi"
    static let headerByteCount = 20
    static let greatestCount = (OutcomeBlock.capacity - headerByteCount) / 4
    private static let isOverfull = UInt16.max

    /// The answer of a bucket about a key.
    enum Answer: Hashable {
        /// Not in the segment.
        case nowhere
        /// At most in these blocks, ascending.
        case blocks([UInt16])
        /// Perhaps in any.
        case anywhere
    }

    /// Which bucket of so many a key's hash belongs to.
    @inline(__always)
    static func place(of hash: UInt64, of count: Int) -> Int {
        Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(count)) >> 32)
    }

    /// - Parameter entries: in the order of their blocks.
    static func bytes(_ entries: ArraySlice<UInt32>, key: Span<UInt8>) -> [UInt8] {
        if entries.count <= greatestCount { return bytes(entries, everywhere: [], count: UInt16(entries.count), key) }
        var thinned = Array(entries)
        let everywhere = thin(&thinned)
        guard thinned.count + (everywhere.count + 1) / 2 <= greatestCount else {
            return bytes([], everywhere: [], count: isOverfull, key)
        }
        return bytes(thinned[...], everywhere: everywhere, count: UInt16(thinned.count), key)
    }

    private static func bytes(
        _ entries: ArraySlice<UInt32>, everywhere: [UInt16], count: UInt16, _ key: Span<UInt8>
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: headerByteCount + 4 * entries.count + 2 * everywhere.count)
        var output = bytes.mutableSpan
        output.store(magic, at: 8)
        output.store(SmallRecord.version, at: 12)
        output.store(count, at: 14)
        output.store(UInt16(everywhere.count), at: 16)
        var position = headerByteCount
        for entry in entries {
            output.store(entry, at: position)
            position &+= 4
        }
        for mark in everywhere {
            output.store(mark, at: position)
            position &+= 2
        }
        output.store(XXH64.hash(output.span, from: 8, seed: XXH64.hash(key)), at: 0)
        return bytes
    }

    /// Takes out repeats, and then the keys with most blocks until the rest fits.
    private static func thin(_ entries: inout [UInt32]) -> [UInt16] {
        entries = Array(Set(entries)).sorted()
        var everywhere: [UInt16] = []
        var counts: [UInt16: Int] = [:]
        for entry in entries { counts[UInt16(entry >> 16), default: 0] += 1 }
        let byCount = counts.sorted { lhs, rhs in lhs.value == rhs.value ? lhs.key < rhs.key : lhs.value > rhs.value }
        var left = entries.count
        for (mark, count) in byCount {
            if left + (everywhere.count + 1) / 2 <= greatestCount || count == 1 { break }
            everywhere.append(mark)
            left -= count
        }
        let taken = Set(everywhere)
        entries.removeAll { entry in taken.contains(UInt16(entry >> 16)) }
        return everywhere
    }

    /// - Parameters:
    ///   - bytes: the row; damage says nothing, so the key may be anywhere.
    ///   - key: the row's.
    ///   - hash: of what is looked for.
    static func look(for hash: UInt64, in bytes: Span<UInt8>, key: Span<UInt8>) -> Answer {
        guard let (count, everywhere) = counts(bytes, key: key) else { return .anywhere }
        let mark = UInt16(truncatingIfNeeded: hash >> 16)
        for index in 0..<everywhere {
            if bytes.load(UInt16.self, at: headerByteCount + 4 * count + 2 * index) == mark { return .anywhere }
        }
        var blocks: [UInt16] = []
        for index in 0..<count {
            let entry = bytes.load(UInt32.self, at: headerByteCount + 4 * index)
            guard UInt16(truncatingIfNeeded: entry >> 16) == mark else { continue }
            let block = UInt16(truncatingIfNeeded: entry)
            if blocks.last != block { blocks.append(block) }
        }
        return blocks.isEmpty ? .nowhere : .blocks(blocks)
    }

    /// The two counts of a sound row; nil for damage, and for one that says nothing.
    private static func counts(_ bytes: Span<UInt8>, key: Span<UInt8>) -> (Int, everywhere: Int)? {
        guard fault(bytes, key: key) == nil else { return nil }
        let count = bytes.load(UInt16.self, at: 14)
        guard count != isOverfull else { return nil }
        return (Int(count), Int(bytes.load(UInt16.self, at: 16)))
    }

    /// The fault of a row; nil if it is sound.
    static func fault(_ bytes: Span<UInt8>, key: Span<UInt8>) -> EntryRecord.Fault? {
        let seed = XXH64.hash(key)
        if let fault = SmallRecord.fault(bytes, magic, seed: seed, atLeast: headerByteCount) { return fault }
        let count = bytes.load(UInt16.self, at: 14)
        let length =
            headerByteCount + (count == isOverfull ? 0 : 4 * Int(count)) + 2 * Int(bytes.load(UInt16.self, at: 16))
        return length == bytes.count ? nil : .damaged("its lengths do not add up")
    }
}

/// The summary of a segment's index. Readers read it first, and the writer writes it last: a segment without it has no index.
///
///     13 u8 0   14 u16 number of buckets   16 u32 segment   20 u32 check of the secret
///     24 i64 the least time of settlement   32 i64 the greatest   40 u32 outcomes   44 u32 blocks
struct SegmentSummary: Hashable, Sendable {
    static let magic: UInt32 = 0x736F_4648  // "HFos"
    static let byteCount = 48
    /// The bucket's number in its key: behind all buckets.
    static let place = 0xFFFF
    static let greatestBuckets = 0xFFFE

    let segment: UInt64
    let buckets: Int
    let check: UInt32
    let settledFrom: Int64
    let settledTo: Int64
    let outcomes: Int
    let blocks: Int

    var bytes: [UInt8] {
        var content: [UInt8] = [0]
        content.appendLittleEndian(UInt16(buckets))
        content.appendLittleEndian(UInt32(truncatingIfNeeded: segment))
        content.appendLittleEndian(check)
        content.appendLittleEndian(UInt64(bitPattern: settledFrom))
        content.appendLittleEndian(UInt64(bitPattern: settledTo))
        content.appendLittleEndian(UInt32(outcomes))
        content.appendLittleEndian(UInt32(blocks))
        return SmallRecord.seal(Self.magic, content)
    }

    /// - Parameter segment: by its key.
    static func read(_ bytes: Span<UInt8>, segment: UInt64) throws(EntryRecord.Fault) -> SegmentSummary {
        if let fault = SmallRecord.fault(bytes, magic, atLeast: byteCount) { throw fault }
        let buckets = Int(bytes.load(UInt16.self, at: 14))
        guard UInt64(bytes.load(UInt32.self, at: 16)) == segment & 0xFFFF_FFFF else {
            throw .damaged("it is the summary of segment \(bytes.load(UInt32.self, at: 16))")
        }
        guard bytes.count == byteCount, (1...greatestBuckets).contains(buckets) else {
            throw .damaged("its fields make no sense")
        }
        return SegmentSummary(
            segment: segment, buckets: buckets, check: bytes.load(UInt32.self, at: 20),
            settledFrom: Int64(bitPattern: bytes.load(UInt64.self, at: 24)),
            settledTo: Int64(bitPattern: bytes.load(UInt64.self, at: 32)),
            outcomes: Int(bytes.load(UInt32.self, at: 40)), blocks: Int(bytes.load(UInt32.self, at: 44)))
    }
}
