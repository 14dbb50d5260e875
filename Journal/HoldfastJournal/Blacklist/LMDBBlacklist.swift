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
            [TokenRegistration], @Sendable (Result<Void, JournalError>) -> Void)
        case remove([BlacklistKey], Reply<Int>)
    }

    static let mapByteCount = 64 << 30
    static let reserve = 8 << 20
    static let tableNames = ["tokens"]
    /// With what is known of the blacklist as a whole.
    static let everyName = tableNames + ["facts"]
    static let openingKey = Array("opening".utf8)

    private let directory: String
    let environment: Environment
    private let table: Table
    private let facts: Table
    private let readers: ReaderPool
    let filter: BlacklistFilter
    private let census: BlacklistCensus
    let thread = WorkThread<Change>(interval: 3600, greatestWeight: .max)
    private let shared: Monitor<Shared>
    let stepping: Stepping?
    /// Of one that is stepped: the answers to the last commit, until they are given.
    let unsaid = Monitor<Answers?>(nil)

    private struct Shared: Sendable {
        var count: Int
        var lastNumber: UInt64
        var failure: JournalError?
        var isClosed = false
        /// Makes the journal one that programs of format 1 refuse, durable on return; nil when it is.
        var raiseFormat: (@Sendable () throws(LMDBError) -> Void)?
        /// Transactions that looked something up.
        var reads = 0
    }

    /// Opens or makes it, with two synced commits before anything is read.
    ///
    /// - Parameter damage: at how many places it was found to be damaged; nil when it has not been looked through.
    init(opening place: JournalDirectory, _ options: LMDBJournal.Options, damage: Int?) throws(JournalError) {
        directory = place.path
        stepping = options.stepping
        let environment = try translated("open", place.path) { () throws(LMDBError) in
            try Environment.open(
                place.blacklist, options.durability.access, mapByteCount: Self.mapByteCount, tables: 8)
        }
        // An empty table would be made in its place, and what was listed be gone without a word.
        if !Files.exists(place.incomplete) {
            try EntriesStore.refuseOtherTables(
                than: Self.everyName, required: Self.everyName, in: .blacklist, environment, place)
        }
        let opened = try translated("open", place.path) { () throws(LMDBError) -> Opened in
            var tables: (tokens: Table, facts: Table)?
            for opening in [UInt8(1), 2] {
                let transaction = try WriteTransaction(environment)
                let tokens = try transaction.table("tokens")
                // A value that changes, for the commit to have something to write.
                let marker = try transaction.table("facts")
                try transaction.put(Self.openingKey.span, [opening].span, in: marker)
                try transaction.commit()
                tables = (tokens, marker)
            }
            if environment.access == .readWriteUnsynced { try environment.sync() }
            guard let tables else { throw LMDBError(.invalid, "open", path: place.blacklist) }
            let transaction = try WriteTransaction(environment)
            let count = try transaction.statistics(of: tables.tokens).entries
            let number = try LastNumber.find(transaction, tables.tokens, tables.facts)
            try transaction.commit()
            return Opened(tokens: tables.tokens, facts: tables.facts, count: count, lastNumber: number)
        }
        self.environment = environment
        (table, facts) = (opened.tokens, opened.facts)
        readers = ReaderPool(environment)
        filter = BlacklistFilter(
            opened.tokens, readers, threshold: options.blacklistFilterThreshold,
            greatestByteCount: options.greatestBlacklistFilter, stretch: options.blacklistFilterStretch)
        shared = Monitor(Shared(count: opened.count, lastNumber: opened.lastNumber))
        census = BlacklistCensus(place, damage: damage)
        allocate()
    }

    private struct Opened {
        let tokens: Table
        let facts: Table
        let count: Int
        let lastNumber: UInt64
    }

    /// - Parameter raiseFormat: makes the journal one that programs of format 1 refuse, durable on return.
    func start(raiseFormat: @escaping @Sendable () throws(LMDBError) -> Void) {
        shared.withLock { shared in shared.raiseFormat = raiseFormat }
        filter.changed(added: [], count: count)
        if stepping != nil { return }
        census.start()
        thread.start(name: "holdfast-blacklist", work: { [unowned self] changes in commit(changes)() }, finish: {})
    }

    func close() {
        if stepping == nil { thread.close() } else { stepToEnd() }
        release()
    }

    /// Lets go of everything, and writes nothing more: the crash of one that is stepped.
    func abandon() {
        thread.shut()
        _ = thread.takeMore()
        unsaid.withLock { unsaid in unsaid = nil }
        release()
    }

    private func release() {
        census.close()
        filter.close()
        readers.close()
        let isFirst = shared.withLock { shared in
            defer { shared.isClosed = true }
            return !shared.isClosed
        }
        if isFirst { environment.close() }
    }

    // MARK: Reading

    var count: Int { shared.withLock { shared in shared.count } }

    var damageCount: Int { census.damageCount }

    func observeDamage(_ observer: @escaping @Sendable (Int) -> Void) { census.observe(observer) }

    var lastNumber: UInt64 { shared.withLock { shared in shared.lastNumber } }

    /// How often the store was read, for tests.
    var readCount: Int { shared.withLock { shared in shared.reads } }

    func entries(for token: DeviceToken) throws(JournalError) -> [BlacklistEntry] {
        try check()
        guard filter.mayHave(token.bytes.span) else { return [] }
        let bytes = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(token.bytes.span, in: table)
        }
        guard let bytes else { return [] }
        return try TokenRow(token: token.bytes, value: bytes).entries(in: directory)
    }

    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup {
        try check()
        guard count > 0 else { return BlacklistLookup() }
        var tokens: [(index: Int, token: Range<Int>)] = []
        tokens.reserveCapacity(batch.count)
        for index in 0..<batch.count {
            // What cannot be parsed has no token; whoever sends it will find out. A broadcast has none either.
            if let token = try? batch.fields(at: index).token { tokens.append((index, token)) }
        }
        filter.narrow(&tokens, in: batch.bytes.span)
        guard !tokens.isEmpty else { return BlacklistLookup() }
        return try lookUp(tokens, in: batch)
    }

    private func lookUp(
        _ tokens: [(index: Int, token: Range<Int>)], in batch: EntryBatch
    ) throws(JournalError) -> BlacklistLookup {
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            var found: [(index: Int, token: Range<Int>, bytes: [UInt8])] = []
            let bytes = batch.bytes.span
            for (index, token) in tokens {
                if let value = try snapshot.get(bytes.extracting(token), in: table) {
                    found.append((index, token, value))
                }
            }
            return found
        }
        var lookup = BlacklistLookup()
        for (index, range, bytes) in found {
            do throws(EntryRecord.Fault) {
                let token = TokenRow(token: Array(batch.bytes[range]), value: bytes)
                for entry in try token.entries() { lookup.entries.append((index, entry)) }
            } catch {
                lookup.unreadable.append((index, RecordFault(error)))
            }
        }
        return lookup
    }

    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try TokenRow.page(after: after, limit: limit) { (after, limit) throws(JournalError) in
            try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try TokenRow.list(table, after: after, limit: limit, in: snapshot)
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
            if let failure = shared.failure { throw failure }
            if shared.isClosed { throw .closed(directory) }
        }
    }

    // MARK: Writing

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        guard entries.allSatisfy(TokenRecord.fits) else {
            let error = JournalError(.limitReached, "a topic or endpoint of the blacklist has at most 65,535 bytes")
            return completion(.failure(error))
        }
        if case .closed = thread.leave(.add(entries, completion)) { completion(.failure(.closed(directory))) }
    }

    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        if case .closed = thread.leave(.lift(registrations, completion)) { completion(.failure(.closed(directory))) }
    }

    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int {
        thread.refuseOwnThread()
        let reply = Reply<Int>()
        if case .closed = thread.leave(.remove(keys, reply)) { throw .closed(directory) }
        if stepping != nil { step(until: reply) }
        return try reply.get()
    }

    typealias Answers = @Sendable () -> Void

    /// Makes one commit of the changes.
    ///
    /// - Returns: what answers them.
    func commit(_ changes: [Change]) -> Answers {
        if changes.isEmpty { return {} }
        if let failure = shared.withLock({ shared in shared.failure }) {
            return { for change in changes { change.fail(failure) } }
        }
        allocate()
        do throws(LMDBError) {
            let transaction = try WriteTransaction(environment)
            var removed: [Int] = []
            let before = lastNumber
            var number = before
            for change in changes { removed.append(try apply(change, transaction, &number)) }
            if number != before { try LastNumber.put(number, transaction, facts) }
            let count = try transaction.statistics(of: table).entries
            switch stepping?.faults.blacklistCommit() {
            case nil: try transaction.commit()
            case .diskFull: throw LMDBError(.noSpace, "mdb_txn_commit", path: directory)
            case .lost:
                return failed(LMDBError(.inputOutput, "mdb_txn_commit", path: directory), changes, isPanicked: true)
            case .kept:
                try transaction.commit()
                return failed(LMDBError(.inputOutput, "mdb_txn_commit", path: directory), changes, isPanicked: true)
            }
            if let loss = environment.loss(in: directory) {
                shared.withLock { shared in shared.failure = loss }
                return { for change in changes { change.fail(loss) } }
            }
            // Before anybody hears of it, and after the commit: see BlacklistFilter.
            filter.changed(added: changes.flatMap(\.added), count: count)
            shared.withLock { [number] shared in
                shared.count = count
                shared.lastNumber = number
            }
            return { [removed] in for (change, removed) in zip(changes, removed) { change.succeed(removed) } }
        } catch {
            return failed(error, changes, isPanicked: isPanicked)
        }
    }

    /// - Parameter number: the last that was given.
    private func apply(
        _ change: Change, _ transaction: borrowing WriteTransaction, _ number: inout UInt64
    ) throws(LMDBError) -> Int {
        var removed = 0
        switch change {
        case .add(let entries, _):
            for entry in entries {
                // Damaged ones give way.
                var known = try sound(entry.token, transaction) ?? TokenEntries()
                guard known.add(entry, number: &number) else { continue }
                try put(known, of: entry.token, transaction)
            }
        case .lift(let registrations, _):
            for registration in registrations {
                guard var known = try sound(registration.token, transaction), known.lift(by: registration) > 0 else {
                    continue
                }
                try put(known, of: registration.token, transaction)
            }
        case .remove(let keys, _):
            for key in keys { removed += try remove(key, transaction) }
        }
        return removed
    }

    private func remove(
        _ key: BlacklistKey, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> Int {
        guard var known = try sound(key.token, transaction) else {
            // Damaged ones go as a whole, and count as one.
            guard key.scope == nil else { return 0 }
            return try transaction.delete(key.token.bytes.span, in: table) ? 1 : 0
        }
        let removed = known.remove(key.scope)
        if removed > 0 { try put(known, of: key.token, transaction) }
        return removed
    }

    private func put(
        _ known: TokenEntries, of token: DeviceToken, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        if known.entries.isEmpty {
            _ = try transaction.delete(token.bytes.span, in: table)
        } else {
            if !TokenRow.isOfFormat1(known.entries) { try raiseFormat() }
            try transaction.put(token.bytes.span, TokenRow.bytes(known.entries).span, in: table)
        }
    }

    /// Before the first commit of what programs of format 1 do not understand.
    private func raiseFormat() throws(LMDBError) {
        guard let raise = shared.withLock({ shared in shared.raiseFormat }) else { return }
        try raise()
        shared.withLock { shared in shared.raiseFormat = nil }
    }

    /// The entries of a token, if there are any and they are undamaged.
    private func sound(
        _ token: DeviceToken, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> TokenEntries? {
        guard let bytes = try transaction.get(token.bytes.span, in: table) else { return nil }
        do throws(EntryRecord.Fault) {
            return TokenEntries(try TokenRow.entries(bytes, token: token))
        } catch {
            return nil
        }
    }

    /// Answers with what failed. Unlike an append a blacklisting may simply be made again, so a commit of unknown fate is
    /// an error like others; but after a failed meta page the environment refuses everything, for ever: then the journal
    /// must be reopened, and says so, lest somebody wait for a disk that has long been well.
    private func failed(_ error: LMDBError, _ changes: [Change], isPanicked: Bool) -> Answers {
        var failure = JournalError(error, "write the blacklist of", directory)
        if isPanicked {
            failure = JournalError(
                .undetermined,
                "\(failure.message). Whether the change is there will be known when the journal is reopened.")
            let later = JournalError(
                .mustBeReopened, "a commit to the blacklist of \(directory) failed (\(error.code)): reopen the journal")
            shared.withLock { shared in shared.failure = later }
        }
        return { [failure] in for change in changes { change.fail(failure) } }
    }

    private var isPanicked: Bool {
        do throws(LMDBError) {
            _ = try WriteTransaction(environment)
            return false
        } catch {
            return error.code == .panic
        }
    }

    /// Keeps pages allocated ahead of use; without them a commit fails as a whole, which harms nothing.
    private func allocate() {
        if stepping != nil { return }
        do throws(LMDBError) {
            let info = try environment.info()
            let needed = info.highWaterPages * info.pageByteCount + Self.reserve
            let have = try environment.dataByteCount()
            if have < needed { try environment.allocateData(from: 0, to: needed + Self.reserve) }
        } catch {}
    }
}

extension LMDBBlacklist.Change {
    var added: [DeviceToken] {
        if case .add(let entries, _) = self { entries.map(\.token) } else { [] }
    }

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
