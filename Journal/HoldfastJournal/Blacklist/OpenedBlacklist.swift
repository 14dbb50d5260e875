import Holdfast
import HoldfastLMDB

/// The environment `blacklist/` as an opening finds or makes it.
struct OpenedBlacklist {
    let environment: Environment
    let tables: BlacklistTables
    let facts: Table
    let count: Int
    let lastNumber: UInt64

    private struct Found {
        let tables: BlacklistTables
        let facts: Table
        let count: Int
        let lastNumber: UInt64
    }

    /// Makes two synced commits before anything is read.
    ///
    /// - Parameter seal: with which its rows are sealed.
    init(_ place: JournalDirectory, _ options: JournalOptions, _ seal: JournalSeal?) throws(JournalError) {
        let environment = try translated("open", place.path) { () throws(LMDBError) in
            try Environment.open(
                place.blacklist, options.durability.access, mapByteCount: BlacklistTables.mapByteCount, tables: 8)
        }
        if let seal { environment.seal(with: seal) }
        // A missing table would be made anew, empty, and its entries be gone without a word.
        if !Files.exists(place.incomplete) {
            try EntriesStore.refuseOtherTables(
                than: BlacklistTables.everyName, required: BlacklistTables.requiredNames, in: .blacklist, environment,
                place)
        }
        let found = try translated("open", place.path) { () throws(LMDBError) -> Found in
            var tables: (tokens: Table, facts: Table)?
            for opening in [UInt8(1), 2] {
                let transaction = try WriteTransaction(environment)
                let tokens = try transaction.table("tokens")
                // A value that changes, for the commit to have something to write.
                let marker = try transaction.table("facts")
                let key = BlacklistTables.openingKey
                try transaction.put(key.span, [opening].span, in: marker)
                try seal?.put(transaction, marker)
                try transaction.commit()
                tables = (tokens, marker)
            }
            if environment.access == .readWriteUnsynced { try environment.sync() }
            guard let tables else { throw LMDBError(.invalid, "open", path: place.blacklist) }
            let addresses = try ReaderPool.openTables([BlacklistPlace.Part.addresses.rawValue], in: environment)
            let all = BlacklistTables(tokens: tables.tokens, addresses: addresses?.first)
            let transaction = try WriteTransaction(environment)
            let count = try all.count(transaction)
            let number = try LastNumber.find(transaction, all, tables.facts)
            try transaction.commit()
            return Found(tables: all, facts: tables.facts, count: count, lastNumber: number)
        }
        self.environment = environment
        (tables, facts) = (found.tables, found.facts)
        (count, lastNumber) = (found.count, found.lastNumber)
    }
}
