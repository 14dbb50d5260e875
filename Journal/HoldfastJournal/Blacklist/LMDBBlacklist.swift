import Holdfast
import HoldfastLMDB

/// The environment `blacklist/`: recipients that are not to be sent to.
///
/// Apart from the entries, because random inserts into a large table fragment the free list that every commit searches. It
/// has its own writer, so its commits wait for no append.
final class LMDBBlacklist: BlacklistCopy {
    typealias Change = BlacklistChange

    static let reserve = 8 << 20

    let directory: String
    /// Whether somebody else has what is in it: of a blacklist that hosts share, and beside a journal that a database keeps.
    let isCopy: Bool
    /// With which its rows are sealed; nil where they are not.
    let seal: JournalSeal?
    let environment: Environment
    let facts: Table
    let readers: ReaderPool
    let filter: BlacklistFilter
    let census: BlacklistCensus
    let thread = WorkThread<Change>(interval: 3600, greatestWeight: .max)
    let shared: Monitor<Shared>
    let stepping: Stepping?
    /// Of a copy, which has no journal to hold it.
    let lock: Monitor<OwnerLock?>
    /// The answers to the last commit until they are given, of a blacklist that is stepped.
    let unsaid = Monitor<Answers?>(nil)

    struct Shared: Sendable {
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
    /// - Parameters:
    ///   - seal: with which its rows are sealed.
    ///   - damage: at how many places it was found to be damaged; nil when it has not been looked through.
    init(
        opening place: JournalDirectory, _ options: JournalOptions, _ seal: JournalSeal?, damage: Int?,
        lock: OwnerLock? = nil
    ) throws(JournalError) {
        self.seal = seal
        self.lock = Monitor(lock)
        directory = place.path
        isCopy = lock != nil || options.gate != nil
        stepping = options.stepping
        let opened = try OpenedBlacklist(place, options, seal)
        environment = opened.environment
        facts = opened.facts
        readers = ReaderPool(opened.environment)
        filter = BlacklistFilter(
            opened.tables, readers, threshold: options.blacklistFilterThreshold,
            greatestByteCount: options.greatestBlacklistFilter, stretch: options.blacklistFilterStretch)
        shared = Monitor(Shared(tables: opened.tables, count: opened.count, lastNumber: opened.lastNumber))
        census = BlacklistCensus(place, options.keys, damage: damage)
        allocate()
    }

    /// - Parameter raiseFormat: makes the journal one that programs of format 1 refuse, durable on return.
    func start(raiseFormat: @escaping @Sendable () throws(LMDBError) -> Void) {
        shared.withLock { shared in shared.raiseFormat = raiseFormat }
        filter.changed(added: [], count: count, tables)
        if stepping != nil { return }
        census.start()
        thread.start(name: "holdfast-blacklist", work: { [unowned self] changes in commit(changes)() }, finish: {})
    }

    func giveUp() {
        let ending = ending
        shared.withLock { shared in shared.failure = shared.failure ?? ending }
        // The next owner of the directory may be this process.
        lock.withLock { lock in lock = nil }
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
        // The next owner must find it closed.
        lock.withLock { lock in lock = nil }
    }
}
