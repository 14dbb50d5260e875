package import Holdfast
internal import HoldfastLMDB

extension LMDBJournal {
    /// Counts all that waits in a working copy as possibly sent, since others go on from an earlier time of it: whoever exports it
    /// then sends nothing a second time that was at-most-once. Deferred entries keep what their records say.
    ///
    /// - Parameter directory: of a copy that nobody has open.
    /// - Returns: the last UID of each lane.
    package static func countAsSent(
        inCopy directory: String, mapByteCount: Int
    ) throws(JournalError) -> [LaneKey: UInt64] {
        let environment = try translated("open", directory) { () throws(LMDBError) in
            try Environment.open(
                entries(in: directory), .readWriteUnsynced, mapByteCount: mapByteCount, tables: 64)
        }
        defer { environment.close() }
        guard let tables = try EntriesStore(reading: environment, directory: directory)?.tables else { return [:] }
        let found = try translated("read", directory) { () throws(LMDBError) in
            let pool = ReaderPool(environment)
            defer { pool.close() }
            return try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try EntriesStore.lanes(in: snapshot, tables)
            }
        }
        guard case .success(let lanes)? = found else {
            throw .damaged("the figures of its lanes can't be read", in: directory)
        }
        try translated("write to", directory) { () throws(LMDBError) in
            let transaction = try WriteTransaction(environment)
            for (index, var lane) in lanes.enumerated() {
                lane.mark = lane.lastUID
                let (key, row) = (Key.lane(UInt32(index) + 1), lane.bytes)
                try transaction.put(key.span, row.span, in: tables.lanes)
            }
            try transaction.commit()
        }
        return Dictionary(lanes.map { ($0.key, $0.lastUID) }, uniquingKeysWith: max)
    }
}
