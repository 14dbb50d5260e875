package import Holdfast
import HoldfastLMDB

extension JournalReader {
    /// Quarantined entries, ascending by UID from the first above `after`.
    package func quarantined(after: UID = .none, limit: Int) throws(JournalError) -> [QuarantinedEntry] {
        let state = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try StoredState(snapshot, store.tables)
        }.state(in: directory)
        return try QuarantineRow.list(
            after: after, limit: limit, store.tables.quarantine, producers: state.producerNames, lanes: state.lanes.all
        ) { (choice) throws(JournalError) in
            try read { (snapshot: borrowing Snapshot) throws(LMDBError) in try UIDRow.page(choice, in: snapshot) }
        }
    }
}
