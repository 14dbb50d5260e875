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
