import Holdfast
import HoldfastLMDB

/// Builds the index of one segment from its blocks: for each key that an outcome is found by, the blocks that have it.
///
/// A key that lies in very many blocks is noted as being everywhere, so that a topic that all share costs nothing.
struct SegmentIndex {
    let segment: UInt64
    private let hash: OutcomeHash
    /// The upper 48 bits of a key's hash, and the block by the place of its first outcome in the segment.
    private var entries: [UInt64] = []
    private var settledFrom = Int64.max
    private var settledTo = Int64.min
    private var blocks = 0
    /// The number of outcomes in the blocks that were taken in.
    private(set) var outcomes = 0

    /// Entries that a bucket has on average: so few that hardly one has more than fit into a page.
    static let usualBucket = 840

    init(_ segment: UInt64, _ hash: OutcomeHash) {
        self.segment = segment
        self.hash = hash
        entries.reserveCapacity(4 * Int(OutcomeBlock.segmentCount))
    }

    /// Takes in a block of the segment.
    ///
    /// - Parameter header: as it was read from `bytes`.
    mutating func add(_ bytes: Span<UInt8>, _ header: OutcomeBlockHeader) {
        let block = header.first &- OutcomeBlock.first(of: segment)
        var scanner = OutcomeScanner(header, bytes)
        var producers: [UInt16] = []
        var topicCount = 0
        var lastTag: Range<Int>?
        while let keys = scanner.nextKeys(bytes) {
            note(hash.uid(keys.uid), block)
            note(hash.id(keys.idHigh, keys.idLow), block)
            note(hash.recipient(bytes, keys.recipient, kind: keys.kind, service: keys.service), block)
            if !keys.tag.isEmpty, keys.tag != lastTag {
                note(hash.tag(bytes, keys.tag), block)
                lastTag = keys.tag
            }
            if scanner.topics.count > topicCount {
                topicCount = scanner.topics.count
                note(hash.topic(bytes, keys.topic), block)
            }
            if producers.last != keys.producer, !producers.contains(keys.producer) {
                producers.append(keys.producer)
                note(hash.producer(keys.producer), block)
            }
            outcomes += 1
        }
        blocks += 1
        settledFrom = min(settledFrom, header.settledFrom)
        settledTo = max(settledTo, header.settledTo)
    }

    @inline(__always)
    private mutating func note(_ hash: UInt64, _ block: UInt64) { entries.append(hash & ~0xFFFF | block & 0xFFFF) }

    /// The rows of the index: its buckets in their order, and then the summary.
    consuming func rows() -> [(key: InlineArray<6, UInt8>, value: [UInt8])] {
        let count = min(
            max(1, (entries.count + Self.usualBucket - 1) / Self.usualBucket), SegmentSummary.greatestBuckets)
        // Where each bucket begins, when all lie behind each other.
        var starts = [Int](repeating: 0, count: count + 1)
        for entry in entries { starts[OutcomeBucket.place(of: entry, of: count) + 1] += 1 }
        for index in 1...count { starts[index] += starts[index - 1] }
        var sorted = [UInt32](repeating: 0, count: entries.count)
        var next = starts
        for entry in entries {
            let bucket = OutcomeBucket.place(of: entry, of: count)
            sorted[next[bucket]] = UInt32(truncatingIfNeeded: entry)
            next[bucket] += 1
        }
        var rows: [(key: InlineArray<6, UInt8>, value: [UInt8])] = []
        rows.reserveCapacity(count + 1)
        for bucket in 0..<count {
            let key = Key.outcomeIndex(segment, bucket)
            let value = OutcomeBucket.bytes(sorted[starts[bucket]..<starts[bucket + 1]], key: key.span)
            rows.append((key, value))
        }
        let summary = SegmentSummary(
            segment: segment, buckets: count, check: hash.check, settledFrom: settledFrom, settledTo: settledTo,
            outcomes: outcomes, blocks: blocks)
        rows.append((Key.outcomeIndex(segment, SegmentSummary.place), summary.bytes))
        return rows
    }
}

extension Key {
    /// The key of a row of `outcomeIndex`.
    static func outcomeIndex(_ segment: UInt64, _ bucket: Int) -> InlineArray<6, UInt8> {
        var key = InlineArray<6, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(UInt32(truncatingIfNeeded: segment).byteSwapped, at: 0)
        bytes.store(UInt16(truncatingIfNeeded: bucket).byteSwapped, at: 4)
        return key
    }
}
