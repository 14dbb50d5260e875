import Holdfast
import HoldfastLMDB

/// What one outcome of a block is found by: see ``OutcomeRow``.
struct OutcomeKeys: Hashable, Sendable {
    var uid: UInt64
    var idHigh: UInt64
    var idLow: UInt64
    var producer: UInt16
    var kind: UInt8
    var service: UInt8
    var topic: Range<Int>
    var recipient: Range<Int>
    var tag: Range<Int>
}

/// Reads the outcomes of one block, front to back.
struct OutcomeScanner {
    /// The number of the outcome that ``next(_:)`` gives next.
    private(set) var number: UInt64
    private var left: Int
    private var scanner: ByteScanner
    private(set) var lastUID: UInt64 = 0
    private(set) var lastSettledAt: Int64 = 0
    private(set) var topics: [Range<Int>] = []
    private(set) var tag: Range<Int>?

    /// - Parameter header: of a block whose checksum is right.
    init(_ header: OutcomeBlockHeader, _ bytes: Span<UInt8>) {
        number = header.first
        left = header.count
        scanner = ByteScanner(OutcomeBlock.headerByteCount..<bytes.count)
    }

    /// Whether the bytes are not those of as many outcomes as the header says. Known at the end.
    var isBroken: Bool { scanner.isBroken || left == 0 && scanner.position != scanner.end }

    /// Where the next one begins.
    var position: Int { scanner.position }

    /// The next outcome; `nil` at the end, or where the bytes make no sense.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>) -> OutcomeRow? {
        guard let head = readHead(bytes) else { return nil }
        lastSettledAt = lastSettledAt &+ scanner.signed(bytes)
        let acceptedAt = lastSettledAt &- scanner.signed(bytes)
        let sentAt = head.isSent ? lastSettledAt &- Int64(truncatingIfNeeded: scanner.varint(bytes)) : nil
        let attempts = scanner.varint(bytes)
        let keys = readKeys(head, bytes)
        let extras = head.hasExtras ? scanner.range(scanner.varint(bytes)) : 0..<0
        guard !scanner.isBroken else { return nil }
        return OutcomeRow(
            code: head.flags & 15, uid: keys.uid, idHigh: keys.idHigh, idLow: keys.idLow, settledAt: lastSettledAt,
            acceptedAt: acceptedAt, sentAt: sentAt, attempts: attempts, producer: keys.producer, kind: keys.kind,
            service: keys.service, topic: keys.topic, recipient: keys.recipient, tag: keys.tag, extras: extras)
    }

    /// What the next outcome is found by; `nil` at the end, or where the bytes make no sense. All else is passed over:
    /// ``lastSettledAt`` stays as it is.
    @inline(__always)
    mutating func nextKeys(_ bytes: Span<UInt8>) -> OutcomeKeys? {
        guard let head = readHead(bytes) else { return nil }
        // The times, that of sending if it is known, and the attempts.
        scanner.skipVarints(head.isSent ? 4 : 3, bytes)
        let keys = readKeys(head, bytes)
        if head.hasExtras { _ = scanner.range(scanner.varint(bytes)) }
        return scanner.isBroken ? nil : keys
    }

    /// The fields with which an outcome begins, beside its UID.
    private struct Head {
        /// How it ended, the kind of its recipient, and which optional fields follow.
        let flags: UInt8
        let idHigh: UInt64
        let idLow: UInt64

        var kind: UInt8 { flags >> 4 & 3 }
        var isSent: Bool { flags & 0x40 != 0 }
        var hasExtras: Bool { flags & 0x80 != 0 }
    }

    @inline(__always)
    private mutating func readHead(_ bytes: Span<UInt8>) -> Head? {
        guard left > 0, !scanner.isBroken else { return nil }
        left -= 1
        number &+= 1
        let flags = scanner.byte(bytes)
        lastUID = lastUID &+ UInt64(bitPattern: scanner.signed(bytes))
        let (high, low) = (scanner.word(bytes), scanner.word(bytes))
        return Head(flags: flags, idHigh: high, idLow: low)
    }

    /// Reads from the Producer to the recipient, behind the numbers.
    @inline(__always)
    private mutating func readKeys(_ head: Head, _ bytes: Span<UInt8>) -> OutcomeKeys {
        let producer = UInt16(clamping: scanner.varint(bytes))
        let topic = readTopic(bytes)
        let tag = readTag(bytes)
        let service = head.kind == OutcomeRow.Kind.service ? scanner.byte(bytes) : 0
        let recipient = scanner.range(scanner.varint(bytes))
        return OutcomeKeys(
            uid: lastUID, idHigh: head.idHigh, idLow: head.idLow, producer: producer, kind: head.kind,
            service: service, topic: topic, recipient: recipient, tag: tag)
    }

    private mutating func readTopic(_ bytes: Span<UInt8>) -> Range<Int> {
        let place = scanner.varint(bytes)
        if place == 0 {
            let topic = scanner.range(scanner.varint(bytes))
            topics.append(topic)
            return topic
        }
        guard place <= UInt64(topics.count) else { return scanner.range(.max) }
        return topics[Int(place) - 1]
    }

    private mutating func readTag(_ bytes: Span<UInt8>) -> Range<Int> {
        let count = scanner.varint(bytes)
        if count == 0 { return scanner.range(0) }
        if count == 1 { return tag ?? scanner.range(.max) }
        let literal = scanner.range(count - 1)
        tag = literal
        return literal
    }
}
