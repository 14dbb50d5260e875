import Holdfast
import HoldfastLMDB

/// Everything an open journal consists of, so that it can be closed as a whole, by whom and whenever.
final class OpenParts: Sendable {
    let store: EntriesStore
    let shared: Monitor<SharedState>
    let readers: ReaderPool
    let thread: WorkThread<Request>
    let writer: JournalWriter
    let tokens: LMDBBlacklist
    let indexer: OutcomeIndexer
    private let isStepped: Bool
    private let owner: Monitor<OwnerLock?>

    init(
        store: EntriesStore, shared: Monitor<SharedState>, readers: ReaderPool, thread: WorkThread<Request>,
        writer: JournalWriter, tokens: LMDBBlacklist, indexer: OutcomeIndexer, lock: OwnerLock, isStepped: Bool
    ) {
        self.indexer = indexer
        self.store = store
        self.shared = shared
        self.readers = readers
        self.thread = thread
        self.writer = writer
        self.isStepped = isStepped
        self.tokens = tokens
        owner = Monitor(lock)
    }

    /// Writes what waits and closes. Not on the writer's thread.
    func close() {
        shared.withLock { shared in shared.isClosed = true }
        indexer.close()
        if isStepped {
            thread.shut()
            writer.stepToEnd()
        } else {
            thread.close()
        }
        tokens.close()
        release()
    }

    /// Lets go of everything, and writes nothing more: for a journal that is stepped, its crash.
    func abandon() {
        shared.withLock { shared in shared.isClosed = true }
        indexer.close()
        thread.shut()
        writer.forget()
        tokens.abandon()
        release()
    }

    private func release() {
        readers.close()
        let lock = owner.withLock { owner in
            defer { owner = nil }
            return owner
        }
        // Environments before the lock: the next owner must find them closed.
        if lock != nil { store.environment.close() }
    }
}
