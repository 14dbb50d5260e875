public import Holdfast
import HoldfastLMDB

/// Entries whose records cannot be read.
extension LMDBJournal {
    public func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        leave(.quarantine(order, completion)) { error in completion(.failure(error)) }
    }

    public func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        leave(.retryQuarantined(uids.sorted(), now, completion)) { error in completion(.failure(error)) }
    }

    public var quarantinedCount: Int { shared.withLock { shared in shared.figures.quarantined } }

    public var asideCount: Int { shared.withLock { shared in shared.figures.aside } }

    public func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry] {
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
