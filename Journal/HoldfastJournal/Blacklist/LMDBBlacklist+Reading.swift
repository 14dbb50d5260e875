import Holdfast
import HoldfastLMDB

extension LMDBBlacklist {
    var count: Int { shared.withLock { shared in shared.count } }

    var damageCount: Int { census.damageCount }

    func observeDamage(_ observer: @escaping @Sendable (Int) -> Void) { census.observe(observer) }

    var lastNumber: UInt64 { shared.withLock { shared in shared.lastNumber } }

    var mark: [UInt8]? {
        do throws(JournalError) {
            return try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try BlacklistMark.read(snapshot, facts)
            }
        } catch {
            return nil
        }
    }

    var ending: JournalError? {
        shared.withLock { shared in shared.failure } ?? environment.loss(in: directory, isCopy: isCopy)
    }

    /// The number of reads of the store, for tests.
    var readCount: Int { shared.withLock { shared in shared.reads } }

    var tables: BlacklistTables { shared.withLock { shared in shared.tables } }

    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        try check()
        guard let place = try BlacklistPlace.of(recipient), filter.mayHave(place.key.span) else { return [] }
        let row = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in try tables.row(place, in: snapshot) }
        return try row?.entries(in: directory) ?? []
    }

    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup {
        try check()
        guard count > 0 else { return BlacklistLookup() }
        let tables = tables
        var tokens: [(index: Int, token: Range<Int>)] = []
        var addresses: [(index: Int, place: BlacklistPlace)] = []
        tokens.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            // A notification that cannot be parsed has no recipient, and fails when it is sent. A broadcast has none to
            // blacklist.
            guard let fields = try? batch.fields(at: index) else { continue }
            if let token = fields.token {
                tokens.append((index, token))
            } else if let kind = fields.service, !fields.isBroadcast, tables.addresses != nil {
                let key = try BlacklistPlace.key(of: kind, batch.bytes.span.extracting(fields.address))
                if filter.mayHave(key.span) { addresses.append((index, BlacklistPlace(part: .addresses, key: key))) }
            }
        }
        filter.narrow(&tokens, in: batch.bytes.span)
        guard !tokens.isEmpty || !addresses.isEmpty else { return BlacklistLookup() }
        return try lookUp(tokens, addresses, in: batch, tables)
    }

    private func lookUp(
        _ tokens: [(index: Int, token: Range<Int>)], _ addresses: [(index: Int, place: BlacklistPlace)],
        in batch: EntryBatch, _ tables: BlacklistTables
    ) throws(JournalError) -> BlacklistLookup {
        var found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            var found: [(index: Int, row: RecipientRow)] = []
            let bytes = batch.bytes.span
            for (index, token) in tokens {
                if let value = try snapshot.get(bytes.extracting(token), in: tables.tokens) {
                    let place = BlacklistPlace(part: .tokens, key: Array(batch.bytes[token]))
                    found.append((index, RecipientRow(place: place, value: value)))
                }
            }
            for (index, place) in addresses {
                if let row = try tables.row(place, in: snapshot) { found.append((index, row)) }
            }
            return found
        }
        if !addresses.isEmpty { found.sort { $0.index < $1.index } }
        var lookup = BlacklistLookup()
        for (index, row) in found {
            do throws(EntryRecord.Fault) {
                for entry in try row.entries() { lookup.entries.append((index, entry)) }
            } catch {
                lookup.unreadable.append((index, RecordFault(error)))
            }
        }
        return lookup
    }

    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        let tables = tables
        return try RecipientRow.page(after: after, limit: limit) { (after, limit) throws(JournalError) in
            try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try tables.rows(after: after, limit: limit, in: snapshot)
            }
        }.entries
    }

    private func read<R>(_ body: (borrowing Snapshot) throws(LMDBError) -> R) throws(JournalError) -> R {
        try check()
        if let failure = stepping?.faults.read() { throw failure }
        shared.withLock { shared in shared.reads += 1 }
        let result = try translated("read the blacklist of", directory) { () throws(LMDBError) in
            try readers.read(body)
        }
        guard let result else { throw .closed(directory) }
        return result
    }

    private func check() throws(JournalError) {
        try shared.withLock { (shared) throws(JournalError) in
            // What is in a copy whose file is gone is as good as before, until another one is made.
            if let failure = shared.failure, failure.code != .copyLost { throw failure }
            if shared.isClosed { throw .closed(directory) }
        }
    }
}
