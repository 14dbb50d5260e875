import Holdfast
import HoldfastLMDB

/// Facts about the whole journal, in `facts` under "state".
///
///     13 u8 1 when it was closed in order, 2 has a wall time   14 u16 0
///     16 u64 next UID   24 u64×7 totals, the superseded apart   80 u64 how often it was opened
///     88 i64 wall time of the last append or settlement   96 u64×2 key of the identities
///     112 in version 2: u64 superseded
///
/// Version 2 is written once something was superseded.
struct FactsRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x6166_4648  // "HFfa"
    static let version: UInt8 = 2

    var nextUID: UInt64 = 1
    var totals = JournalTotals()
    var openings: UInt64 = 0
    var closedInOrder = false
    var wallTime: WallTime?
    let identityKey: IdentityKey

    /// The facts of a new journal.
    init(identityKey: IdentityKey) { self.identityKey = identityKey }

    var bytes: [UInt8] {
        var content: [UInt8] = [(closedInOrder ? 1 : 0) | (wallTime == nil ? 0 : 2), 0, 0]
        content.appendLittleEndian(nextUID)
        content.append(totals)
        content.appendLittleEndian(openings)
        content.appendLittleEndian(UInt64(bitPattern: wallTime?.milliseconds ?? 0))
        content.appendLittleEndian(identityKey.first)
        content.appendLittleEndian(identityKey.second)
        guard totals.superseded > 0 else { return SmallRecord.seal(Self.magic, content) }
        content.appendLittleEndian(totals.superseded)
        return SmallRecord.seal(Self.magic, version: Self.version, content)
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, newest: Self.version, atLeast: 112) { throw fault }
        guard span.count == (span[12] > 1 ? 120 : 112) else { throw .damaged("its length is another") }
        closedInOrder = span[13] & 1 != 0
        nextUID = span.load(UInt64.self, at: 16)
        totals = JournalTotals(span, at: 24)
        if span[12] > 1 { totals.superseded = span.load(UInt64.self, at: 112) }
        openings = span.load(UInt64.self, at: 80)
        if span[13] & 2 != 0 { wallTime = WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 88))) }
        identityKey = IdentityKey(first: span.load(UInt64.self, at: 96), second: span.load(UInt64.self, at: 104))
    }
}
