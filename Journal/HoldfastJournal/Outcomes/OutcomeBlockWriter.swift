import HoldfastLMDB

/// The block that outcomes are being added to.
struct OutcomeBlockWriter: Sendable {
    let first: UInt64
    private(set) var count = 0
    private var bytes: [UInt8]
    private var used = OutcomeBlock.headerByteCount
    private var lastUID: UInt64 = 0
    private var lastSettledAt: Int64 = 0
    private var settledFrom = Int64.max
    private var settledTo = Int64.min
    private var topics: [Range<Int>] = []
    private var tag: Range<Int>?

    /// Topics of the block that a new outcome's is compared with.
    private static let greatestSearch = 16

    /// - Parameter capacity: bytes of the block.
    init(first: UInt64, capacity: Int = OutcomeBlock.capacity) {
        self.first = first
        bytes = [UInt8](repeating: 0, count: capacity)
    }

    /// Goes on with a block as it lies in the table.
    ///
    /// - Returns: nil for one that cannot be read, or that has no room.
    init?(resuming block: [UInt8], _ header: OutcomeBlockHeader, capacity: Int = OutcomeBlock.capacity) {
        guard block.count < capacity, !Self.endsSegment(header.last) else { return nil }
        var scanner = OutcomeScanner(header, block.span)
        while scanner.next(block.span) != nil {}
        guard !scanner.isBroken else { return nil }
        first = header.first
        count = header.count
        bytes = block + [UInt8](repeating: 0, count: capacity - block.count)
        used = block.count
        (lastUID, lastSettledAt) = (scanner.lastUID, scanner.lastSettledAt)
        (settledFrom, settledTo) = (header.settledFrom, header.settledTo)
        (topics, tag) = (scanner.topics, scanner.tag)
    }

    private static func endsSegment(_ number: UInt64) -> Bool { number % OutcomeBlock.segmentCount == 0 }

    /// The number of the newest outcome in it; that before the first in an empty one.
    var last: UInt64 { first &+ UInt64(count) &- 1 }

    var byteCount: Int { used }

    /// Adds an outcome.
    ///
    /// - Parameters:
    ///   - source: the bytes of which the row has ranges.
    ///   - extras: encoded; empty for none.
    /// - Returns: false if there is no room: then it is for the next block. An empty block has room for any.
    @inline(__always)
    mutating func append(_ row: OutcomeRow, in source: Span<UInt8>, extras: Span<UInt8>) -> Bool {
        let needed = used + row.greatestByteCount(extras: extras.count)
        if needed > bytes.count {
            guard count == 0 else { return false }
            bytes += [UInt8](repeating: 0, count: needed - bytes.count)
        } else if count > 0, count == Int(UInt16.max) || Self.endsSegment(last) {
            return false
        }
        let known = Known(topic: place(of: row.topic, in: source), isLastTag: isLastTag(row.tag, in: source))
        var position = used
        // Taken out, so that it can be written to beside the rest.
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        defer { swap(&bytes, &self.bytes) }
        var output = bytes.mutableSpan
        putNumbers(of: row, hasExtras: !extras.isEmpty, into: &output, at: &position)
        putWords(of: row, known, source, into: &output, at: &position)
        if !extras.isEmpty {
            output.putVarint(UInt64(extras.count), at: &position)
            output.put(0..<extras.count, of: extras, at: &position)
        }
        used = position
        count += 1
        (lastUID, lastSettledAt) = (row.uid, row.settledAt)
        settledFrom = min(settledFrom, row.settledAt)
        settledTo = max(settledTo, row.settledAt)
        return true
    }

    /// The words of an outcome that the block has spelt out already.
    private struct Known {
        /// Which of the topics, from 1; 0 for none.
        let topic: Int
        let isLastTag: Bool
    }

    @inline(__always)
    private func putNumbers(
        of row: OutcomeRow, hasExtras: Bool, into output: inout MutableSpan<UInt8>, at position: inout Int
    ) {
        output[position] = row.code | row.kind &<< 4 | (row.sentAt == nil ? 0 : 0x40) | (hasExtras ? 0x80 : 0)
        position &+= 1
        output.putSigned(Int64(bitPattern: row.uid &- lastUID), at: &position)
        output.store(row.idHigh, at: position)
        output.store(row.idLow, at: position &+ 8)
        position &+= 16
        output.putSigned(row.settledAt &- lastSettledAt, at: &position)
        output.putSigned(row.settledAt &- row.acceptedAt, at: &position)
        if let sentAt = row.sentAt { output.putVarint(UInt64(max(0, row.settledAt &- sentAt)), at: &position) }
        output.putVarint(row.attempts, at: &position)
        output.putVarint(UInt64(row.producer), at: &position)
    }

    @inline(__always)
    private mutating func putWords(
        of row: OutcomeRow, _ known: Known, _ source: Span<UInt8>, into output: inout MutableSpan<UInt8>,
        at position: inout Int
    ) {
        output.putVarint(UInt64(known.topic), at: &position)
        if known.topic == 0 {
            output.putVarint(UInt64(row.topic.count), at: &position)
            topics.append(position..<(position + row.topic.count))
            output.put(row.topic, of: source, at: &position)
        }
        if row.tag.isEmpty || known.isLastTag {
            output.putVarint(row.tag.isEmpty ? 0 : 1, at: &position)
        } else {
            output.putVarint(UInt64(row.tag.count) + 1, at: &position)
            tag = position..<(position + row.tag.count)
            output.put(row.tag, of: source, at: &position)
        }
        if row.kind == OutcomeRow.Kind.service {
            output[position] = row.service
            position &+= 1
        }
        output.putVarint(UInt64(row.recipient.count), at: &position)
        output.put(row.recipient, of: source, at: &position)
    }

    private func isLastTag(_ tag: Range<Int>, in source: Span<UInt8>) -> Bool {
        guard let last = self.tag, !tag.isEmpty else { return false }
        return bytes.span.hasSame(last, as: source, at: tag)
    }

    /// - Returns: which of the topics that the block has spelt out this is, from 1; 0 for none of the newest.
    private func place(of topic: Range<Int>, in source: Span<UInt8>) -> Int {
        let known = bytes.span
        var index = topics.count
        let end = max(0, index - Self.greatestSearch)
        while index > end {
            if known.hasSame(topics[index - 1], as: source, at: topic) { return index }
            index -= 1
        }
        return 0
    }

    /// Writes the header, and passes the whole block to `body`.
    ///
    /// - Precondition: it has an outcome.
    mutating func withImage<R, E>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        seal()
        return try body(bytes.span.extracting(0..<used))
    }

    /// The whole block.
    ///
    /// - Precondition: it has an outcome.
    consuming func image() -> [UInt8] {
        seal()
        bytes.removeLast(bytes.count - used)
        return bytes
    }

    private mutating func seal() {
        let length = used
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        defer { swap(&bytes, &self.bytes) }
        var output = bytes.mutableSpan
        output.store(OutcomeBlock.magic, at: 8)
        output.store(OutcomeBlock.version, at: 12)
        output.store(UInt8(0), at: 13)
        output.store(UInt16(count), at: 14)
        output.store(first, at: 16)
        output.store(UInt64(bitPattern: settledFrom), at: 24)
        output.store(UInt64(bitPattern: settledTo), at: 32)
        output.store(UInt32(length), at: 40)
        output.store(UInt32(0), at: 44)
        let hash = XXH64.hash(output.span.extracting(0..<length), from: 8)
        output.store(hash, at: 0)
    }
}
