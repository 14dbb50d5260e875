import Holdfast
import HoldfastLMDB

/// The environment `blacklist/`: tokens that are not to be sent to.
///
/// Apart from the entries, because random inserts into a large table fragment the free list that every commit searches.
/// It has a writer of its own, so that its commits wait for no append.
final class LMDBBlacklist: BlacklistStorage {
    enum Change: Sendable {
        case add([BlacklistEntry], @Sendable (Result<Void, JournalError>) -> Void)
        case lift(
            [(token: DeviceToken, registeredAt: WallTime)], @Sendable (Result<Void, JournalError>) -> Void)
        case remove([DeviceToken], Reply<Int>)
    }

    static let mapByteCount = 64 << 30
    static let reserve = 8 << 20
    static let tableNames = ["tokens"]

    private let directory: String
    private let environment: Environment
    private let table: Table
    private let readers: ReaderPool
    private let thread = WorkThread<Change>(interval: 3600, greatestWeight: .max)
    private let shared: Monitor<Shared>

    private struct Shared: Sendable {
        var count: Int
        var failure: JournalError?
        var isClosed = false
    }

    /// Opens or makes it, with two synced commits before anything is read.
    init(opening place: JournalDirectory, _ options: LMDBJournal.Options) throws(JournalError) {
        directory = place.path
        let opened = try translated("open", place.blacklist) { () throws(LMDBError) -> (Environment, Table, Int) in
            let environment = try Environment.open(
                place.blacklist, options.durability.access, mapByteCount: Self.mapByteCount, tables: 8)
            var table: Table?
            for opening in [UInt8(1), 2] {
                let transaction = try WriteTransaction(environment)
                let tokens = try transaction.table("tokens")
                // A value that changes, for the commit to have something to write.
                let marker = try transaction.table("facts")
                try transaction.put(Array("opening".utf8).span, [opening].span, in: marker)
                try transaction.commit()
                table = tokens
            }
            if environment.access == .readWriteUnsynced { try environment.sync() }
            guard let table else { throw LMDBError(.invalid, "open", path: place.blacklist) }
            let count = try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.statistics(of: table).entries
            }
            return (environment, table, count ?? 0)
        }
        (environment, table) = (opened.0, opened.1)
        readers = ReaderPool(opened.0)
        shared = Monitor(Shared(count: opened.2))
        allocate()
    }

    func start() {
        thread.start(name: "holdfast-blacklist", work: { [unowned self] changes in work(changes) }, finish: {})
    }

    func close() {
        thread.close()
        readers.close()
        let isFirst = shared.withLock { shared in
            defer { shared.isClosed = true }
            return !shared.isClosed
        }
        if isFirst { environment.close() }
    }

    // MARK: Reading

    var count: Int { shared.withLock { shared in shared.count } }

    func entry(for token: DeviceToken) throws(JournalError) -> BlacklistEntry? {
        let bytes = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(token.bytes.span, in: table)
        }
        return try bytes.map { (bytes) throws(JournalError) in try record(bytes, token) }
    }

    func entries(for batch: EntryBatch) throws(JournalError) -> [(index: Int, entry: BlacklistEntry)] {
        guard count > 0 else { return [] }
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            var found: [(index: Int, token: Range<Int>, bytes: [UInt8])] = []
            let bytes = batch.bytes.span
            for index in 0..<batch.count {
                // What cannot be parsed has no token; whoever sends it will find out.
                guard let fields = try? batch.fields(at: index) else { continue }
                if let value = try snapshot.get(bytes.extracting(fields.token), in: table) {
                    found.append((index, fields.token, value))
                }
            }
            return found
        }
        var entries: [(index: Int, entry: BlacklistEntry)] = []
        for (index, range, bytes) in found {
            guard let token = DeviceToken(bytes: Array(batch.bytes[range])) else { continue }
            entries.append((index, try record(bytes, token)))
        }
        return entries
    }

    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        var entries: [BlacklistEntry] = []
        while entries.count < limit {
            let wanted = min(limit - entries.count, TokenRow.greatestCount)
            let last = entries.last?.token ?? after
            let rows = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try TokenRow.list(table, after: last, limit: wanted, in: snapshot)
            }
            for row in rows { entries.append(try row.entry(in: directory)) }
            if rows.count < wanted { break }
        }
        return entries
    }

    private func record(_ bytes: [UInt8], _ token: DeviceToken) throws(JournalError) -> BlacklistEntry {
        do throws(EntryRecord.Fault) {
            return try TokenRecord.read(bytes, token: token)
        } catch {
            throw error.error(what: "the blacklist entry of \(token.shortened)", in: directory)
        }
    }

    private func read<R>(_ body: (borrowing Snapshot) throws(LMDBError) -> R) throws(JournalError) -> R {
        if let failure = shared.withLock({ shared in shared.failure }) { throw failure }
        let result = try translated("read the blacklist of", directory) { () throws(LMDBError) in
            try readers.read(body)
        }
        guard let result else { throw .closed(directory) }
        return result
    }

    // MARK: Writing

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        if case .closed = thread.leave(.add(entries, completion)) { completion(.failure(.closed(directory))) }
    }

    func lift(
        _ registrations: [(token: DeviceToken, registeredAt: WallTime)],
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        if case .closed = thread.leave(.lift(registrations, completion)) { completion(.failure(.closed(directory))) }
    }

    func remove(_ tokens: [DeviceToken]) throws(JournalError) -> Int {
        thread.refuseOwnThread()
        let reply = Reply<Int>()
        if case .closed = thread.leave(.remove(tokens, reply)) { throw .closed(directory) }
        return try reply.get()
    }

    private func work(_ changes: [Change]) {
        if changes.isEmpty { return }
        if let failure = shared.withLock({ shared in shared.failure }) {
            for change in changes { change.fail(failure) }
            return
        }
        allocate()
        do throws(LMDBError) {
            let transaction = try WriteTransaction(environment)
            var removed: [Int] = []
            for change in changes { removed.append(try apply(change, transaction)) }
            let count = try transaction.statistics(of: table).entries
            try transaction.commit()
            shared.withLock { shared in shared.count = count }
            for (change, removed) in zip(changes, removed) { change.succeed(removed) }
        } catch {
            fail(error, changes)
        }
    }

    private func apply(_ change: Change, _ transaction: borrowing WriteTransaction) throws(LMDBError) -> Int {
        var removed = 0
        switch change {
        case .add(let entries, _):
            for entry in entries {
                // The later of two stays. A damaged one gives way.
                if let old = try sound(entry.token, transaction), old.since > entry.since { continue }
                try transaction.put(entry.token.bytes.span, TokenRecord.bytes(entry).span, in: table)
            }
        case .lift(let registrations, _):
            for (token, registeredAt) in registrations {
                guard let entry = try sound(token, transaction), registeredAt > entry.since else { continue }
                _ = try transaction.delete(token.bytes.span, in: table)
            }
        case .remove(let tokens, _):
            for token in tokens where try transaction.delete(token.bytes.span, in: table) { removed += 1 }
        }
        return removed
    }

    /// The entry of a token, if there is one and it is undamaged.
    private func sound(
        _ token: DeviceToken, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> BlacklistEntry? {
        guard let bytes = try transaction.get(token.bytes.span, in: table) else { return nil }
        do throws(EntryRecord.Fault) { return try TokenRecord.read(bytes, token: token) } catch { return nil }
    }

    /// Answers with what failed. Unlike an append a blacklisting may simply be made again, so a commit of unknown fate is
    /// an error like others; only an environment that refuses everything stays refused.
    private func fail(_ error: LMDBError, _ changes: [Change]) {
        let failure = JournalError(error, "write the blacklist of", directory)
        do throws(LMDBError) {
            _ = try WriteTransaction(environment)
        } catch {
            shared.withLock { shared in shared.failure = failure }
        }
        for change in changes { change.fail(failure) }
    }

    /// Keeps pages allocated ahead of use; without them a commit fails as a whole, which harms nothing.
    private func allocate() {
        do throws(LMDBError) {
            let info = try environment.info()
            let needed = info.highWaterPages * info.pageByteCount + Self.reserve
            let have = try environment.dataByteCount()
            if have < needed { try environment.allocateData(from: 0, to: needed + Self.reserve) }
        } catch {}
    }
}

extension LMDBBlacklist.Change {
    func succeed(_ removed: Int) {
        switch self {
        case .add(_, let completion), .lift(_, let completion): completion(.success(()))
        case .remove(_, let reply): reply.give(.success(removed))
        }
    }

    func fail(_ error: JournalError) {
        switch self {
        case .add(_, let completion), .lift(_, let completion): completion(.failure(error))
        case .remove(_, let reply): reply.give(.failure(error))
        }
    }
}

/// One row of `tokens`, copied out.
struct TokenRow {
    /// The most rows read in one snapshot.
    static let greatestCount = 10_000

    let token: [UInt8]
    let value: [UInt8]

    static func list(
        _ table: Table, after: DeviceToken?, limit: Int, in snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [TokenRow] {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> [TokenRow] in
            var rows: [TokenRow] = []
            // The first key above `after` is the first at or above it with a zero behind.
            let start = (after?.bytes ?? []) + [0]
            var found = try after == nil ? cursor.first() : cursor.seek(atLeast: start.span)
            while found, rows.count < limit {
                cursor.withCurrent { key, value in rows.append(TokenRow(token: key.array, value: value.array)) }
                found = try cursor.next()
            }
            return rows
        }
    }

    func entry(in directory: String) throws(JournalError) -> BlacklistEntry {
        guard let token = DeviceToken(bytes: token) else {
            throw JournalError(.damaged, "\(directory): a token of the blacklist has \(token.count) bytes")
        }
        do throws(EntryRecord.Fault) {
            return try TokenRecord.read(value, token: token)
        } catch {
            throw error.error(what: "the blacklist entry of \(token.shortened)", in: directory)
        }
    }
}
