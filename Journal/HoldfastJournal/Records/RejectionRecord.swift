import Holdfast
import HoldfastLMDB

/// A rejection as it lies in `rejections`: why and when, and then the entry's record as it was.
///
///     13 u8 1 has a status, 2 has a timestamp   14 u16 status   16 i64 timestamp   24 i64 rejected at
///     32 u16 reason's length   34 u16 0   36 u32 record's length   40 reason · record
struct RejectionRecord {
    static let magic: UInt32 = 0x6A72_4648  // "HFrj"
    static let headerByteCount = 40

    let cause: RejectionCause
    /// Where the entry's record lies.
    let record: Range<Int>

    static func bytes(_ cause: RejectionCause, record: [UInt8]) -> [UInt8] {
        let reason = SmallRecord.cut(cause.reason)
        var content: [UInt8] = [(cause.status == nil ? 0 : 1) | (cause.timestamp == nil ? 0 : 2)]
        content.appendLittleEndian(UInt16(clamping: cause.status ?? 0))
        content.appendLittleEndian(UInt64(bitPattern: cause.timestamp?.milliseconds ?? 0))
        content.appendLittleEndian(UInt64(bitPattern: cause.rejectedAt.milliseconds))
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(UInt16(0))
        content.appendLittleEndian(UInt32(record.count))
        content.append(contentsOf: reason)
        content.append(contentsOf: record)
        return SmallRecord.seal(magic, content)
    }

    static func read(_ span: Span<UInt8>) -> Result<RejectionRecord, EntryRecord.Fault> {
        if let fault = SmallRecord.fault(span, magic, atLeast: 40) { return .failure(fault) }
        let reason = 40..<(40 + Int(span.load(UInt16.self, at: 32)))
        let record = reason.upperBound..<(reason.upperBound + Int(span.load(UInt32.self, at: 36)))
        guard record.upperBound == span.count else { return .failure(.damaged("its lengths do not add up")) }
        var text: [UInt8] = []
        span.append(reason, to: &text)
        let cause = RejectionCause(
            reason: Reason(rawValue: String(decoding: text, as: UTF8.self)),
            status: span[13] & 1 == 0 ? nil : Int(span.load(UInt16.self, at: 14)),
            timestamp: span[13] & 2 == 0
                ? nil : WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 16))),
            rejectedAt: WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 24))))
        return .success(RejectionRecord(cause: cause, record: record))
    }
}

extension RejectionRecord {
    /// The head of the entry's record.
    static func head(_ span: Span<UInt8>) throws(EntryRecord.Fault) -> EntryRecord.Head {
        let record = try read(span).get().record
        var inner: [UInt8] = []
        span.append(record, to: &inner)
        return EntryRecord.uncheckedHead(inner.span)
    }
}
