package import Holdfast
import HoldfastLMDB

/// Entries whose records cannot be read.
extension LMDBJournal {
    /// Moves unreadable entries into the quarantine.
    package func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        leave(.quarantine(order, completion)) { error in completion(.failure(error)) }
    }

    /// Brings quarantined entries back whose records can be read again.
    package func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        leave(.retryQuarantined(uids.sorted(), now, completion)) { error in completion(.failure(error)) }
    }

    /// The number of quarantined entries.
    package var quarantinedCount: Int { shared.withLock { shared in shared.figures.quarantined } }

    /// The number of entries that silence has confirmed and that are kept aside.
    package var asideCount: Int { shared.withLock { shared in shared.figures.aside } }

    /// Quarantined entries, ascending by UID from the first above `after`.
    package func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry] {
        try checkOpen()
        let (names, lanes) = shared.withLock { shared in (shared.state.producerNames, shared.state.lanes.all) }
        return try QuarantineRow.list(after: after, limit: limit, tables.quarantine, producers: names, lanes: lanes) {
            (choice) throws(JournalError) in
            try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try UIDRow.page(choice, in: snapshot)
            }
        }
    }
}
