import Holdfast
import HoldfastLMDB

/// One outcome in a block. Numbers are of variable length (``Varint``), each time is a difference:
///
///     u8      bits 0–3 code of the end · 4–5 kind of recipient: 0 token, 1 channel, 2 another service's address ·
///             6 the time of sending is known · 7 has extras
///     signed  UID, less that of the outcome before; of the first, the UID
///     u64×2   apns-id
///     signed  settled at, less that of the outcome before; of the first, the time
///     signed  time from acceptance to settlement
///     number  with bit 6: time from sending to settlement
///     number  attempts
///     number  producer
///     number  topic: 0 and length and bytes; or n for the n-th that the block has spelt out
///     number  tag: 0 for none, 1 for the last one that the block has spelt out; or n + 1 and n bytes
///     u8      with kind 2: the service's kind
///     number  recipient's length, and the recipient
///     number  with bit 7: length of the extras, and the extras (``OutcomeExtras``)
///
/// Here as ranges of the bytes that it is read from, or is to be written from.
struct OutcomeRow: Hashable, Sendable {
    enum Kind {
        static let token: UInt8 = 0
        static let channel: UInt8 = 1
        static let service: UInt8 = 2
    }

    var code: UInt8
    var uid: UInt64
    var idHigh: UInt64
    var idLow: UInt64
    /// Milliseconds, as all times.
    var settledAt: Int64
    var acceptedAt: Int64
    /// Nil if it is not known.
    var sentAt: Int64?
    var attempts: UInt64
    var producer: UInt16
    var kind: UInt8
    var service: UInt8 = 0
    var topic: Range<Int>
    var recipient: Range<Int>
    var tag: Range<Int>
    /// When it is read; empty for none.
    var extras: Range<Int> = 0..<0

    var id: NotificationID { NotificationID(high: idHigh, low: idLow) }

    /// Bytes that it takes at most.
    func greatestByteCount(extras: Int) -> Int { 80 + topic.count + recipient.count + tag.count + extras }
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
        guard left > 0, !scanner.isBroken else { return nil }
        left -= 1
        number &+= 1
        let kind = scanner.byte(bytes)
        lastUID = lastUID &+ UInt64(bitPattern: scanner.signed(bytes))
        let (high, low) = (scanner.word(bytes), scanner.word(bytes))
        lastSettledAt = lastSettledAt &+ scanner.signed(bytes)
        let acceptedAt = lastSettledAt &- scanner.signed(bytes)
        let sentAt = kind & 0x40 == 0 ? nil : lastSettledAt &- Int64(truncatingIfNeeded: scanner.varint(bytes))
        let attempts = scanner.varint(bytes)
        let producer = UInt16(clamping: scanner.varint(bytes))
        let topic = readTopic(bytes)
        let tag = readTag(bytes)
        let service = kind >> 4 & 3 == OutcomeRow.Kind.service ? scanner.byte(bytes) : 0
        let recipient = scanner.range(scanner.varint(bytes))
        let extras = kind & 0x80 == 0 ? 0..<0 : scanner.range(scanner.varint(bytes))
        guard !scanner.isBroken else { return nil }
        return OutcomeRow(
            code: kind & 15, uid: lastUID, idHigh: high, idLow: low, settledAt: lastSettledAt, acceptedAt: acceptedAt,
            sentAt: sentAt, attempts: attempts, producer: producer, kind: kind >> 4 & 3, service: service,
            topic: topic, recipient: recipient, tag: tag, extras: extras)
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
