package import Holdfast
import HoldfastLMDB

/// Data beside the unconfirmed entries: Producers, rejections, and the fate of an entry.
extension LMDBJournal {
    /// The number of unconfirmed entries of the Producer. From memory.
    package func backlog(of producer: ProducerID) -> Int {
        shared.withLock { shared in
            let number = producer.rawValue
            return shared.state.hasProducer(number) ? shared.state.producers[Int(number) - 1].unconfirmed : 0
        }
    }

    /// Every Producer that ever opened the journal, with its totals.
    package func producers() throws(JournalError) -> [ProducerStatus] {
        try checkOpen()
        return shared.withLock { shared in shared.state }.producerStatuses
    }

    /// Rejections, ascending by UID from the first above `after`.
    package func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection] {
        try checkOpen()
        let (names, lanes) = shared.withLock { shared in (shared.state.producerNames, shared.state.lanes.all) }
        return try UIDRow.list(
            after: after, limit: limit, table: tables.rejections,
            page: { (choice) throws(JournalError) in try page(choice) },
            read: { row in
                do throws(EntryRecord.Fault) {
                    return try Rejection(row.value, uid: row.uid, producers: names, lanes: lanes)
                } catch {
                    // `journal verify` names it.
                    return nil
                }
            })
    }

    /// Identities of notifications that were submitted, ascending by UID from the first above `after`.
    package func rememberedIdentities(
        after: UID, limit: Int
    ) throws(JournalError) -> [(uid: UID, identity: Identity)] {
        try checkOpen()
        return try UIDRow.list(
            after: after, limit: limit, table: tables.identities,
            page: { (choice) throws(JournalError) in try page(choice) },
            read: { row in
                IdentityRecord(row.value.span, uid: row.uid).map { (uid: UID(row.uid), identity: $0.identity) }
            })
    }

    private func page(_ choice: UIDRow.Choice) throws(JournalError) -> [UIDRow] {
        try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in try UIDRow.page(choice, in: snapshot) }
    }

    /// The fate of an entry, as far as the journal still knows it.
    package func fate(of uid: UID) throws(JournalError) -> EntryFate? {
        try checkOpen()
        guard uid > .none else { return nil }
        let found = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try FateSearch(uid.rawValue, in: snapshot, tables, key: identityKey)
        }
        return try found.fate(in: directory)
    }
}
