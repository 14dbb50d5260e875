import Holdfast
import HoldfastLMDB

/// How an entry has ended, beside what its own record says.
struct LoggedEnd {
    var code: UInt8
    /// Milliseconds, as all times.
    var settledAt: Int64
    /// Nil if it is not known.
    var sentAt: Int64?
    /// Beside those of the record.
    var attempts: UInt64
}

/// What few ends have.
struct LoggedParticulars {
    var cause: RejectionCause?
    var uniqueID: String?
    var keepsPayload: Bool

    var isEmpty: Bool { cause == nil && uniqueID == nil && !keepsPayload }
}

extension OutcomeAppender {
    /// Adds the end of an entry, by its record. One whose lengths do not add up is left out.
    ///
    /// Nearly all entries have no particulars: their row is written from where the record lies in the map.
    @inline(__always)
    func append(
        _ end: LoggedEnd, of record: Span<UInt8>, _ key: EntryKey, _ particulars: LoggedParticulars? = nil
    ) {
        guard let entry = EntryRecord.trusted(record, lane: key.lane.rawValue, uid: key.uid.rawValue),
            let fields = PackedNotification.OutcomeFields(record, in: entry.body)
        else { return }
        let row = OutcomeRow(end, head: entry.head, fields)
        if fields.context.isEmpty, particulars.map(\.isEmpty) ?? true {
            return append(row, in: record, extras: Span<UInt8>())
        }
        append(row, fields, of: record, particulars)
    }

    @inline(never)
    private func append(
        _ row: OutcomeRow, _ fields: PackedNotification.OutcomeFields, of record: Span<UInt8>,
        _ particulars: LoggedParticulars?
    ) {
        let extras = OutcomeExtras(
            cause: particulars?.cause, context: record.extracting(fields.context).array,
            uniqueID: Array((particulars?.uniqueID ?? "").utf8),
            payload: particulars?.keepsPayload == true ? record.extracting(fields.payload).array : [])
        append(row, in: record, extras: extras.bytes(settledAt: row.settledAt).span)
    }
}
