import Holdfast
import HoldfastLMDB

/// Gathers records into one buffer.
struct BatchCollector {
    /// Bytes of records after which a batch is full.
    private static let greatestByteCount = 1 << 20

    var bytes: [UInt8] = []
    var items: [EntryBatch.Item] = []
    var unreadable: [UnreadableEntry] = []

    func wantsMore(limit: Int) -> Bool {
        items.count + unreadable.count < limit && bytes.count < Self.greatestByteCount
    }

    /// Checks a record and copies its notification.
    mutating func take(_ record: Span<UInt8>, lane: UInt32, uid: UInt64) {
        switch EntryRecord.read(record, lane: lane, uid: uid) {
        case .success(let entry):
            let start = bytes.count
            record.append(entry.body, to: &bytes)
            items.append(
                EntryBatch.Item(
                    uid: UID(uid), attempts: entry.head.attempts,
                    isPossiblySent: entry.head.flags.contains(.possiblySent),
                    isMoved: entry.head.flags.contains(.isMoved), range: start..<bytes.count))
        case .failure(let what):
            unreadable.append(UnreadableEntry(uid: UID(uid), fault: RecordFault(what)))
        }
    }
}
