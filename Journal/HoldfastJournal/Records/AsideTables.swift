import Holdfast
import HoldfastLMDB

/// The tables of what silence has confirmed and a late error may still deny: `aside` (lane, UID → record) and
/// `asideOrder` (since, lane, UID → nothing), by which the oldest is found.
///
/// Every opening for writing makes them; the journal's format rises with their first row.
struct AsideTables: Sendable {
    static let names = ["aside", "asideOrder"]

    let rows: Table
    let order: Table

    init(_ tables: [Table]) { (rows, order) = (tables[0], tables[1]) }
}

extension Key {
    /// The key of a row of `asideOrder`. Times may be negative: the sign bit is flipped so that they sort.
    static func aside(since: Int64, _ lane: UInt32, _ uid: UInt64) -> InlineArray<20, UInt8> {
        var key = InlineArray<20, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(UInt64(bitPattern: since ^ .min).byteSwapped, at: 0)
        bytes.store(lane.byteSwapped, at: 8)
        bytes.store(uid.byteSwapped, at: 12)
        return key
    }
}

/// An entry as it lies in `aside`: since when, and then the entry's record as it was.
///
///     13 u8 1 when its outcome is to be kept, 2 with its payload   14 u16 0   16 i64 since   24 record
struct AsideRecord {
    static let magic: UInt32 = 0x7361_4648  // "HFas"
    static let headerByteCount = 24

    let since: Int64
    let keepsOutcome: Bool
    var keepsPayload = false

    static func bytes(
        since: WallTime, keepsOutcome: Bool, keepsPayload: Bool = false, record: Span<UInt8>
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerByteCount + record.count)
        bytes.appendLittleEndian(UInt64(0))
        bytes.appendLittleEndian(magic)
        bytes.append(SmallRecord.version)
        bytes.append((keepsOutcome ? 1 : 0) | (keepsPayload ? 2 : 0))
        bytes.appendLittleEndian(UInt16(0))
        bytes.appendLittleEndian(UInt64(bitPattern: since.milliseconds))
        record.append(0..<record.count, to: &bytes)
        var span = bytes.mutableSpan
        span.store(XXH64.hash(span.span, from: 8), at: 0)
        return bytes
    }

    static func read(_ span: Span<UInt8>) -> Result<AsideRecord, EntryRecord.Fault> {
        if let fault = SmallRecord.fault(span, magic, atLeast: headerByteCount) { return .failure(fault) }
        return .success(unchecked(span))
    }

    /// As it stands there, for settling, which goes through whatever the record looks like.
    static func unchecked(_ span: Span<UInt8>) -> AsideRecord {
        guard span.count >= headerByteCount else { return AsideRecord(since: 0, keepsOutcome: false) }
        return AsideRecord(
            since: Int64(bitPattern: span.load(UInt64.self, at: 16)), keepsOutcome: span[13] & 1 != 0,
            keepsPayload: span[13] & 2 != 0)
    }

    /// The entry's own record.
    static func entry(_ span: Span<UInt8>) -> [UInt8] {
        var record: [UInt8] = []
        if span.count > headerByteCount { span.append(headerByteCount..<span.count, to: &record) }
        return record
    }
}
