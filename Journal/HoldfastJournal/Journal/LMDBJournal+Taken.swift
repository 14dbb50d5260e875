package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// The rows that this journal has taken, as far as it remembers them.
    ///
    /// - Parameter number: of the commit behind which they were taken.
    package func takenRows(after number: UInt64 = 0) throws(JournalError) -> TakenRows {
        try checkOpen()
        return try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try TakenRows(in: snapshot, tables.notes, after: number)
        }
    }
}
