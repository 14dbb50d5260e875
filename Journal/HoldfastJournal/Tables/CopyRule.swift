import Holdfast
import HoldfastLMDB

/// The changes that make a copy of a journal safe to open, since the original may have gone on: its UIDs begin far beyond
/// any that the original may have given out meanwhile, and every entry counts as possibly sent.
struct CopyRule {
    /// UIDs that are skipped.
    static let jump: UInt64 = 1 << 32

    static func skipUIDs(_ facts: inout FactsRecord) {
        facts.nextUID = facts.nextUID.addingReportingOverflow(jump).overflow ? facts.nextUID : facts.nextUID + jump
    }

    /// Returns the row as the copy has it; `nil` for an unchanged one.
    static func apply(_ table: String, _ value: Span<UInt8>) throws(EntryRecord.Fault) -> [UInt8]? {
        switch table {
        case "facts" where value.count >= 13 && value.load(UInt32.self, at: 8) == FactsRecord.magic:
            var facts = try FactsRecord(value.array)
            skipUIDs(&facts)
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
