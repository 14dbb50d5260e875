import Holdfast
import HoldfastLMDB

/// How a journal is changed that is a copy of another, which may have gone on since (SEMANTICS rule 23): its UIDs begin far
/// beyond those that the other may have given out meanwhile, and everything counts as possibly sent.
struct CopyRule {
    static let jump: UInt64 = 1 << 32

    static func apply(_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]? {
        switch table {
        case "facts" where value.count > 16:
            var facts = try FactsRecord(value.array)
            facts.nextUID = facts.nextUID.addingReportingOverflow(jump).overflow ? facts.nextUID : facts.nextUID + jump
            return facts.bytes
        case "lanes":
            var lane = try LaneRecord(value.array)
            lane.mark = lane.lastUID
            lane.flaggedDeferred = lane.deferred
            return lane.bytes
        case "deferred": return try EntryRecord.flagged(value)
        case "quarantine":
            var row = try QuarantineRecord(value.array)
            row.isPossiblySent = true
            return row.bytes
        default: return nil
        }
    }
}

extension EntryRecord {
    /// The same record with the flag that it may have been sent.
    static func flagged(_ value: Span<UInt8>) throws(Fault) -> [UInt8] {
        let head = uncheckedHead(value)
        _ = try read(value, lane: head.lane, uid: head.uid).get()
        var bytes = value.array
        bytes[13] |= Flags.possiblySent.rawValue
        var span = bytes.mutableSpan
        span.store(XXH64.hash(span.span, from: 8), at: 0)
        return bytes
    }
}
