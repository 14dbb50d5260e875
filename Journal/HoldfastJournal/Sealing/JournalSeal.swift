import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL

/// How the rows of one of a journal's two files are sealed.
final class JournalSeal: RowSeals {
    let part: JournalPart
    let core: SealCore
    private let tables: [String: TableSeal]
    private let listing: Monitor<SealingRecord>
    /// The ids that the file names, the one that seals first.
    var listed: SealingRecord { listing.withLock(\.self) }
    /// The key that hides recipients; nil for `entries/`.
    let index: [UInt8]?
    /// Whether the key that hides recipients was made anew here.
    let isIndexNew: Bool

    /// - Parameters:
    ///   - listed: the ids that the file names already.
    ///   - index: the key that hides recipients, of a blacklist; nil for a new one.
    init(_ part: JournalPart, _ keys: JournalKeys, listed: SealingRecord?, index: [UInt8]?) throws(JournalError) {
        self.part = part
        isIndexNew = index == nil
        let core = try SealCore(keys)
        self.core = core
        let id = keys.current.id
        listing = Monitor(listed?.putting(id) ?? SealingRecord([id]))
        var tables: [String: TableSeal] = [:]
        for (name, kind) in part.tables { tables[name] = TableSeal(kind, core) }
        tables["facts"] = TableSeal(part.fact.kind, core, onlyKey: part.fact.key)
        self.tables = tables
        guard part == .blacklist else {
            self.index = nil
            return
        }
        let secret: [UInt8]
        do throws(OpenSSLError) {
            if let index { secret = index } else { secret = try RandomBytes.make(32) }
        } catch {
            throw JournalError(error)
        }
        self.index = secret
        try core.hide(with: secret)
    }

    func seal(of table: String) -> (any RowSeal)? { tables[table] }

    /// - Returns: nil for a table whose rows are stored as they are.
    func tableSeal(of table: String) -> TableSeal? { tables[table] }

    /// The seal of the table with this number in its rows.
    func tableSeal(numbered number: UInt8) -> (name: String, seal: TableSeal)? {
        tables.first { $0.value.kind.rawValue << 3 == number }.map { (name: $0.key, seal: $0.value) }
    }

    /// Puts what ``facts`` has, as far as it is not there.
    func put(_ transaction: borrowing WriteTransaction, _ facts: Table) throws(LMDBError) {
        for (key, value) in self.facts where try transaction.get(key.span, in: facts) != value {
            try transaction.put(key.span, value.span, in: facts)
        }
    }

    /// Seals with the first of these keys from now on. The file names it, on disk, before any row is sealed with it.
    ///
    /// - Parameter facts: of the environment, which is open for writing.
    func use(
        _ keys: JournalKeys, in environment: Environment, _ facts: Table, directory: String
    ) throws(JournalError) {
        let known = listed
        let missing = known.ids.filter { id in keys.key(id) == nil }
        guard missing.isEmpty else { throw .keyNeeded(missing, given: keys.keys.map(\.id), in: directory) }
        let next = known.putting(keys.current.id)
        if next != known {
            try translated("write to", directory) { () throws(LMDBError) in
                let transaction = try WriteTransaction(environment)
                let key = SealingRecord.key
                try transaction.put(key.span, next.bytes.span, in: facts)
                try transaction.commit()
                if environment.access == .readWriteUnsynced { try environment.sync() }
            }
        }
        listing.withLock { $0 = next }
        try core.use(keys)
    }

    /// The rows of `facts` that say how the file is sealed. Sealed rows among them are in the clear here.
    var facts: [(key: [UInt8], value: [UInt8])] {
        [(SealingRecord.key, listed.bytes)] + (index.map { [(SealingRecord.indexKey, $0)] } ?? [])
    }
}

/// Seals whatever a salvage writes down for itself.
final class ScratchSeals: RowSeals {
    private let table: TableSeal

    init(_ keys: JournalKeys) throws(JournalError) { table = TableSeal(.scratch, try SealCore(keys)) }

    func seal(of table: String) -> (any RowSeal)? { self.table }
}

extension JournalPart {
    /// The tables whose rows are all sealed. Others have figures, names, and keyed hashes, whose key is sealed.
    fileprivate var tables: [(name: String, kind: SealedRow.Kind)] {
        switch self {
        case .entries:
            [
                ("entries", .entries), ("deferred", .deferred), ("rejections", .rejections), ("aside", .aside),
                ("outcomeLog", .outcomeLog), ("outcomes", .outcomes), ("notes", .notes), ("quarantine", .quarantine),
            ]
        case .blacklist: [("tokens", .tokens), ("addresses", .addresses)]
        }
    }

    /// The row of `facts` that is sealed: it has the key of the file's hashes.
    fileprivate var fact: (key: [UInt8], kind: SealedRow.Kind) {
        switch self {
        case .entries: (Array("state".utf8), .state)
        case .blacklist: (SealingRecord.indexKey, .index)
        }
    }
}
