package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// Rows of each table beyond which only some are looked for: some milliseconds.
    private static let greatestCensus = 100_000

    /// Counts the lane's keys and compares, all in one snapshot: the figures and the rows are those of one commit.
    package func unreachable(_ lane: LaneID) throws(JournalError) -> Int {
        try checkOpen()
        let number = lane.rawValue
        let (stored, census) = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            let stored = try snapshot.get(Key.lane(number).span, in: tables.lanes)
            let entries = try snapshot.census(of: number, tables.entries, from: Key.entry(number, 0).span)
            let deferred = try snapshot.census(
                of: number, tables.deferred, from: Key.deferred(number, due: .min, 0).span)
            return (stored, (entries: entries, deferred: deferred))
        }
        guard let stored else { throw .damaged("\(directory): the record of lane \(number) is missing", in: directory) }
        do throws(EntryRecord.Fault) {
            let figures = try LaneRecord(stored)
            return census.entries.heldUp(of: figures.entries) + census.deferred.missing(of: figures.deferred)
        } catch {
            throw error.error(what: "the record of lane \(number)", in: directory)
        }
    }

    /// Keys of a lane, as a reading from one end to the other finds them.
    fileprivate struct Census {
        var found = 0
        /// Keys that are not above the key before them, so that a search by key may miss them.
        var misplaced = 0

        var isFull: Bool { found >= LMDBJournal.greatestCensus }

        func missing(of count: Int) -> Int { (isFull ? 0 : max(count - found, 0)) + misplaced }

        /// Entries out of reach of a forward reading. A key out of order ends the reading, or leads a search past other
        /// keys, so it holds up all of them.
        func heldUp(of count: Int) -> Int { misplaced > 0 ? count : missing(of: count) }
    }
}

extension Snapshot {
    fileprivate func census(
        of lane: UInt32, _ table: Table, from start: Span<UInt8>
    ) throws(LMDBError) -> LMDBJournal.Census {
        try withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> LMDBJournal.Census in
            var census = LMDBJournal.Census()
            var last: (UInt64, UInt64) = (0, 0)
            var found = try cursor.seek(atLeast: start)
            while found, !census.isFull {
                var place: (UInt64, UInt64)?
                cursor.withKey { key in
                    guard key.count == 12 || key.count == 20, key.bigEndian32(at: 0) == lane else { return }
                    place = (key.bigEndian64(at: 4), key.count == 20 ? key.bigEndian64(at: 12) : 0)
                }
                guard let place else { break }
                census.found += 1
                if place <= last { census.misplaced += 1 }
                last = place
                found = try cursor.next()
            }
            return census
        }
    }
}
