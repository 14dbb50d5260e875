import Holdfast
import HoldfastLMDB

/// The environment `blacklist/`: recipients that are not to be sent to.
///
/// Apart from the entries, because random inserts into a large table fragment the free list that every commit searches. It
/// has its own writer, so its commits wait for no append.
final class LMDBBlacklist: BlacklistStorage {
    typealias Change = BlacklistChange

    static let reserve = 8 << 20

    private let directory: String
    let environment: Environment
    private let facts: Table
    private let readers: ReaderPool
    let filter: BlacklistFilter
    private let census: BlacklistCensus
    let thread = WorkThread<Change>(interval: 3600, greatestWeight: .max)
    private let shared: Monitor<Shared>
    let stepping: Stepping?
    /// The answers to the last commit until they are given, of a blacklist that is stepped.
    let unsaid = Monitor<Answers?>(nil)

    private struct Shared: Sendable {
        var tables: BlacklistTables
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
    init(opening place: JournalDirectory, _ options: JournalOptions, damage: Int?) throws(JournalError) {
        directory = place.path
        stepping = options.stepping
        let environment = try translated("open", place.path) { () throws(LMDBError) in
            try Environment.open(
                place.blacklist, options.durability.access, mapByteCount: BlacklistTables.mapByteCount, tables: 8)
        }
        // A missing table would be made anew, empty, and its entries be gone without a word.
        if !Files.exists(place.incomplete) {
            try EntriesStore.refuseOtherTables(
                than: BlacklistTables.everyName, required: BlacklistTables.requiredNames, in: .blacklist, environment,
                place)
        }
        let opened = try translated("open", place.path) { () throws(LMDBError) -> Opened in
            var tables: (tokens: Table, facts: Table)?
            for opening in [UInt8(1), 2] {
                let transaction = try WriteTransaction(environment)
                let tokens = try transaction.table("tokens")
                // A value that changes, for the commit to have something to write.
                let marker = try transaction.table("facts")
                let key = BlacklistTables.openingKey
                try transaction.put(key.span, [opening].span, in: marker)
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
            return Opened(tables: all, facts: tables.facts, count: count, lastNumber: number)
        }
        self.environment = environment
        facts = opened.facts
        readers = ReaderPool(environment)
        filter = BlacklistFilter(
            opened.tables, readers, threshold: options.blacklistFilterThreshold,
            greatestByteCount: options.greatestBlacklistFilter, stretch: options.blacklistFilterStretch)
        shared = Monitor(Shared(tables: opened.tables, count: opened.count, lastNumber: opened.lastNumber))
        census = BlacklistCensus(place, damage: damage)
        allocate()
    }

    private struct Opened {
        let tables: BlacklistTables
        let facts: Table
        let count: Int
        let lastNumber: UInt64
    }

    /// - Parameter raiseFormat: makes the journal one that programs of format 1 refuse, durable on return.
    func start(raiseFormat: @escaping @Sendable () throws(LMDBError) -> Void) {
        shared.withLock { shared in shared.raiseFormat = raiseFormat }
        filter.changed(added: [], count: count, tables)
        if stepping != nil { return }
        census.start()
        thread.start(name: "holdfast-blacklist", work: { [unowned self] changes in commit(changes)() }, finish: {})
    }

    func close() {
        if stepping == nil { thread.close() } else { stepToEnd() }
        release()
    }

    /// Releases everything, and writes nothing more: the crash of a blacklist that is stepped.
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

    /// The number of reads of the store, for tests.
    var readCount: Int { shared.withLock { shared in shared.reads } }

    private var tables: BlacklistTables { shared.withLock { shared in shared.tables } }

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
            if let failure = shared.failure { throw failure }
            if shared.isClosed { throw .closed(directory) }
        }
    }

    // MARK: Writing

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        if let fault = entries.lazy.compactMap(\.fault).first {
            return completion(.failure(JournalError(.limitReached, fault)))
        }
        leave(completion) { () throws(JournalError) in
            .add(try Self.placed(entries, at: \.recipient).map { (place: $0, entry: $1) }, completion)
        }
    }

    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        leave(completion) { () throws(JournalError) in
            .lift(try Self.placed(registrations, at: \.recipient).map { (place: $0, registration: $1) }, completion)
        }
    }

    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int {
        thread.refuseOwnThread()
        let reply = Reply<Int>()
        let places = try Self.placed(keys, at: \.recipient).map { (place: $0, scope: $1.scope) }
        if case .closed = thread.leave(.remove(places, reply)) { throw .closed(directory) }
        if stepping != nil { step(until: reply) }
        return try reply.get()
    }

    /// Leaves a change for the writer. What it is about is found on the caller's thread.
    private func leave(
        _ completion: (Result<Void, JournalError>) -> Void, _ change: () throws(JournalError) -> Change
    ) {
        do throws(JournalError) {
            if case .closed = thread.leave(try change()) { completion(.failure(.closed(directory))) }
        } catch {
            completion(.failure(error))
        }
    }

    /// Each with its place; without those that have none, and so no entries.
    private static func placed<Item>(
        _ items: [Item], at recipient: (Item) -> Recipient
    ) throws(JournalError) -> [(BlacklistPlace, Item)] {
        var placed: [(BlacklistPlace, Item)] = []
        placed.reserveCapacity(items.count)
        for item in items {
            if let place = try BlacklistPlace.of(recipient(item)) { placed.append((place, item)) }
        }
        return placed
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
            try makeAddresses(for: changes)
            let transaction = try WriteTransaction(environment)
            var removed: [Int] = []
            let (tables, before) = (tables, lastNumber)
            var draft = BlacklistDraft(tables: tables, number: before) { [self] () throws(LMDBError) in
                try raiseFormat()
            }
            for change in changes { removed.append(try draft.apply(change, transaction)) }
            let number = draft.number
            if number != before { try LastNumber.put(number, transaction, facts) }
            let count = try tables.count(transaction)
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
            filter.changed(added: changes.flatMap(\.added), count: count, tables)
            shared.withLock { shared in
                shared.count = count
                shared.lastNumber = number
            }
            return { [removed] in for (change, removed) in zip(changes, removed) { change.succeed(removed) } }
        } catch {
            return failed(error, changes, isPanicked: isPanicked)
        }
    }

    /// Makes the table of addresses, where it is not there and a change adds one, in a commit of its own.
    private func makeAddresses(for changes: [Change]) throws(LMDBError) {
        guard tables.addresses == nil,
            changes.contains(where: { change in change.added.contains { $0.part == .addresses } })
        else { return }
        try raiseFormat()
        let made = try environment.openingTables { () throws(LMDBError) -> Table in
            let transaction = try WriteTransaction(environment)
            let table = try transaction.table(BlacklistPlace.Part.addresses.rawValue)
            try transaction.commit()
            return table
        }
        shared.withLock { shared in shared.tables.addresses = made }
    }

    /// Before the first commit of what programs of format 1 do not understand.
    private func raiseFormat() throws(LMDBError) {
        guard let raise = shared.withLock({ shared in shared.raiseFormat }) else { return }
        try raise()
        shared.withLock { shared in shared.raiseFormat = nil }
    }

    /// Answers with the error. Unlike an append, a blacklisting may simply be repeated, so a commit of unknown fate is an
    /// error like others. But after a failed meta page the environment refuses everything until the journal is reopened, and
    /// the error says so.
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
