internal import Foundation
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPostgres

/// Where a bench has its journal.
enum BenchJournalPlace {
    case directory(String)
    /// - Parameter copies: the directory of working copies.
    case postgres(HostTerms, copies: String)

    /// - Returns: the journal, and what closes it.
    func open() throws -> (LMDBJournal, close: () -> Void) {
        switch self {
        case .directory(let path):
            let journal = try LMDBJournal(directory: path)
            return (journal, { journal.close() })
        case .postgres(let terms, let copies):
            try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: true)
            let owned = try HostJournals(terms, try HostDirectory(copies)).openOwn(OpeningStop())
            return (owned.journal, { owned.close() })
        }
    }
}

/// The database of a bench, with its schema made.
struct BenchDatabase {
    /// Which losses are survived.
    let durability: DatabaseDurability
    private let target: PQTarget
    private let schema: SchemaName

    init(_ database: String, _ schema: String) throws {
        (target, self.schema) = (try PQTarget(database), try SchemaName(schema))
        let connection = try PQConnection(
            target, PQSession(applicationName: "holdfast-bench"), by: .now + .seconds(10), PQInterruption())
        defer { connection.close() }
        try Migrator(schema: self.schema).migrate(connection, by: .now + .seconds(60))
        durability = try DatabaseDurability(connection, by: .now + .seconds(10))
    }

    func terms(host: String) -> HostTerms { HostTerms(target: target, schema: schema, host: host) }
}
