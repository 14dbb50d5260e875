package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// The rows that this journal has taken, as far as it remembers them.
    package func takenRows() throws(JournalError) -> TakenRows {
        try checkOpen()
        return try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try TakenRows(in: snapshot, tables.notes, after: 0)
        }
    }
}
