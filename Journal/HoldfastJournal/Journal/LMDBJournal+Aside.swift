package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// An entry that is kept aside, with where its notification lies in ``AsideImage/entries``.
    package struct AsideImage: Sendable {
        package let entries: EntryBatch
        /// The lane of each entry of the batch, and the time since when it is kept aside.
        package let places: [(lane: LaneID, since: WallTime)]
    }

    /// Every entry that is kept aside, by lane and UID. For checks: all of them are held in memory.
    package func asideImage() throws(JournalError) -> AsideImage {
        guard let rows = tables.aside?.rows else { return AsideImage(entries: .empty, places: []) }
        let (collector, places) = try read("read") {
            (snapshot: borrowing Snapshot) throws(LMDBError) -> (BatchCollector, [(lane: LaneID, since: WallTime)]) in
            var collector = BatchCollector()
            var places: [(lane: LaneID, since: WallTime)] = []
            try snapshot.withCursor(rows) { (cursor: inout Cursor) throws(LMDBError) in
                var found = try cursor.first()
                while found, collector.unreadable.isEmpty {
                    cursor.withCurrent { key, row in
                        let lane = key.bigEndian32(at: 0)
                        let record = AsideRecord.entry(row)
                        collector.take(record.span, lane: lane, uid: key.bigEndian64(at: 4))
                        let since = WallTime(milliseconds: AsideRecord.unchecked(row).since)
                        places.append((LaneID(rawValue: lane), since))
                    }
                    found = try cursor.next()
                }
            }
            return (collector, places)
        }
        if let entry = collector.unreadable.first {
            throw .damaged("\(directory): what is kept aside of UID \(entry.uid): \(entry.fault)", in: directory)
        }
        return AsideImage(entries: EntryBatch(bytes: collector.bytes, items: collector.items), places: places)
    }
}
