import Foundation
import Holdfast
import HoldfastLMDB

/// The journal's one writer: takes everything that waits, commits it, answers.
///
/// Runs on its own thread. What fails does not take others with it: appends are refused first, so that settlements, which
/// make room, go through.
final class JournalWriter: @unchecked Sendable {  // after init, everything mutable is touched by its own thread only
    let store: EntriesStore
    let directory: String
    private let options: LMDBJournal.Options
    let readers: ReaderPool
    private let shared: Monitor<SharedState>
    private let thread: WorkThread<Request>

    private var state: JournalState
    var space: SpaceGuard
    private var backlog: [Pending] = []
    /// Done one after another, a piece with each commit.
    var trims: [TrimWork] = []
    private let identities = IdentityIndex()
    private var failure: JournalError?
    /// Whether the disk had no room even for the marks: they wait for the next request, or the next second.
    private var marksRefused = false
    private var nextReaderCheck = ContinuousClock.now

    private static let readerCheckInterval = Duration.seconds(1)

    init(
        _ store: EntriesStore, _ state: JournalState, _ space: SpaceGuard, directory: String,
        options: LMDBJournal.Options, readers: ReaderPool, shared: Monitor<SharedState>, thread: WorkThread<Request>
    ) {
        self.store = store
        self.state = state
        self.space = space
        self.directory = directory
        self.options = options
        self.readers = readers
        self.shared = shared
        self.thread = thread
    }

    var entryLimit: Int? { options.entryLimit }

    // MARK: The thread's work

    /// Does what waits, in as many commits as it takes.
    func work(_ requests: [Request]) {
        take(requests)
        marksRefused = false
        repeat {
            commit()
            take(thread.takeMore())
        } while !backlog.isEmpty || !trims.isEmpty || marksWait
        checkReaders()
    }

    private func take(_ requests: [Request]) {
        for request in requests {
            if case .trim(let work) = request { trims.append(work) } else { backlog.append(Pending(request)) }
        }
    }

    /// Whether a ceiling was raised while a commit was under way that could not know of it.
    private var marksWait: Bool {
        failure == nil && !marksRefused
            && state.wouldRaiseMarks(shared.withLock { shared in shared.ceilings })
    }

    /// Frees what readers have pinned that died without saying so.
    private func checkReaders() {
        let now = ContinuousClock.now
        guard now >= nextReaderCheck, failure == nil else { return }
        nextReaderCheck = now + Self.readerCheckInterval
        do throws(LMDBError) { try store.environment.checkReaders() } catch { fail(error) }
    }

    /// Says that the journal was closed in order, and syncs what an unsynced one has left.
    func finish() {
        guard failure == nil else { return }
        state.facts.closedInOrder = true
        do throws(LMDBError) {
            let transaction = try WriteTransaction(store.environment)
            let bytes = state.facts.bytes
            let key = EntriesStore.stateKey
            try transaction.put(key.span, bytes.span, in: store.tables.facts)
            try transaction.commit()
            if store.environment.access == .readWriteUnsynced { try store.environment.sync() }
        } catch {
            // Nothing is lost by this: the flag classifies nothing, and everything answered for is on disk.
            fail(error)
        }
    }

    // MARK: One commit

    private enum Attempt {
        case committed(JournalState, CommitFigures, [Progress], TrimWork?)
        /// One request cannot be done; the others may.
        case refused(Int, JournalError)
        case noRoom(LMDBError)
        case failed(JournalError)
    }

    private func commit() {
        if let failure {
            answer(backlog.count, failure)
            failTrims(failure)
            return
        }
        let ceilings = shared.withLock { shared in shared.ceilings }
        if backlog.isEmpty, trims.isEmpty, !state.wouldRaiseMarks(ceilings) { return }
        let start = ContinuousClock.now
        var isSmall = space.isTight
        var (count, verdicts) = plan(isSmall: isSmall)
        while true {
            switch attempt(count, verdicts, budget: budget(isSmall), ceilings: ceilings) {
            case .committed(let state, let figures, let progress, let trim):
                identities.commit()
                finish(state, figures, progress, since: start)
                advanceTrim(trim)
                return
            case .refused(let index, let error):
                // Beyond the requests it is the trim.
                if index < count { verdicts[index] = error } else { failTrims(error) }
            case .noRoom(let error):
                space.refusal = error.code
                let refusal = JournalError(error, "append to", directory)
                let appends = (0..<count).filter { index in backlog[index].isAppend && verdicts[index] == nil }
                if !appends.isEmpty {
                    for index in appends { verdicts[index] = refusal }
                } else if !isSmall {
                    isSmall = true
                    (count, verdicts) = (min(count, 1), Array(verdicts.prefix(1)))
                } else if count > 0, !trims.isEmpty {
                    failTrims(JournalError(error, "trim", directory))
                } else {
                    // With nothing to answer the marks alone were tried; trying on would never end.
                    marksRefused = count == 0
                    let failure = JournalError(error, "write to", directory)
                    answer(count, failure)
                    failTrims(failure)
                    return
                }
            case .failed(let error):
                fail(error, verdicts)
                return
            }
        }
    }

    private func budget(_ isSmall: Bool) -> Int {
        isSmall ? options.greatestSettlementCommitWhenFull : options.greatestSettlementCommit
    }

    /// How many of the waiting requests go into one commit, and which of them are refused beforehand.
    private func plan(isSmall: Bool) -> (Int, [JournalError?]) {
        var verdicts: [JournalError?] = []
        var bytes = 0
        var parts = 0
        var entries = state.unconfirmed
        let highWaterPages = backlog.contains(where: \.isAppend) ? self.highWaterPages() : nil
        for pending in backlog {
            let more = pending.appendedBytes
            if !verdicts.isEmpty, more > 0, bytes + more > options.greatestCommit { break }
            if parts >= budget(isSmall) { break }
            var verdict: JournalError?
            if let highWaterPages, pending.isAppend {
                let count = pending.appendedCount
                verdict = refusal(of: bytes + more, entries: entries + count, highWaterPages: highWaterPages)
                if verdict == nil {
                    bytes += more
                    entries += count
                }
            }
            verdicts.append(verdict)
            parts += pending.remainingParts
        }
        if bytes > 0, let highWaterPages, let refusal = allocate(bytes, highWaterPages: highWaterPages) {
            for index in verdicts.indices where backlog[index].isAppend { verdicts[index] = refusal }
        }
        return (verdicts.count, verdicts)
    }

    private func attempt(_ count: Int, _ verdicts: [JournalError?], budget: Int, ceilings: [UInt64]) -> Attempt {
        var progress: [Progress] = []
        progress.reserveCapacity(count)
        // What an attempt has left that failed.
        identities.rollBack()
        let begun: CommitDraft
        do throws(LMDBError) {
            begun = try CommitDraft(store, state, identities, directory: directory)
        } catch {
            return .failed(JournalError(error, "write to", directory))
        }
        do throws(LMDBError) {
            var draft = begun
            var remaining = budget
            for index in 0..<count {
                if let verdict = verdicts[index] {
                    progress.append(.failed(verdict))
                    continue
                }
                do throws(LMDBError) {
                    let done = try draft.apply(backlog[index], budget: remaining)
                    remaining -= done.parts
                    progress.append(done)
                } catch {
                    if CommitFailure(error, isDiskFull: space.isDiskFull, isPanicked: false) == .noRoom {
                        return .noRoom(error)
                    }
                    // On a damaged file nothing more is written: it would only be spread.
                    let failure = JournalError(error, "write to", directory)
                    return error.code.isDamage ? .failed(failure) : .refused(index, failure)
                }
            }
            var trim = trims.first
            if let work = trim {
                do throws(LMDBError) {
                    trim = try draft.trim(work, budget: Self.trimBudget(budget, remaining: remaining))
                } catch {
                    if CommitFailure(error, isDiskFull: space.isDiskFull, isPanicked: false) == .noRoom {
                        return .noRoom(error)
                    }
                    let failure = JournalError(error, "trim", directory)
                    return error.code.isDamage ? .failed(failure) : .refused(count, failure)
                }
            }
            let (state, figures) = try draft.commit(ceilings: ceilings)
            return .committed(state, figures, progress, trim)
        } catch {
            return classify(error)
        }
    }

    private func classify(_ error: LMDBError) -> Attempt {
        var isPanicked = error.code == .panic
        do throws(LMDBError) { _ = try WriteTransaction(store.environment) } catch { isPanicked = true }
        // Found before the meta page was begun, so nothing of the commit is there.
        if error.code.isDamage, !isPanicked { return .failed(JournalError(error, "write to", directory)) }
        // Looked up only where the meta page was not begun. Asking writes over the first unused page, which after a meta
        // page that failed may be one that the commit has used.
        let isDiskFull = !isPanicked && (space.isDiskFull || !hasDiskRoom)
        switch CommitFailure(error, isDiskFull: isDiskFull, isPanicked: isPanicked) {
        // Half a write on a full disk comes as EIO; say what it is.
        case .noRoom where error.code == .inputOutput:
            return .noRoom(LMDBError(.noSpace, error.operation, path: error.path))
        case .noRoom: return .noRoom(error)
        case .undetermined:
            return .failed(
                JournalError(
                    .undetermined,
                    "a commit to \(directory) failed (\(error.operation): \(error.code)); whether what it held is there "
                        + "will be known when the journal is reopened"))
        }
    }

    // MARK: After a commit

    private func finish(
        _ state: JournalState, _ figures: CommitFigures, _ progress: [Progress], since start: ContinuousClock.Instant
    ) {
        var measure = CommitMeasure(
            entries: Int(clamping: state.facts.totals.accepted - self.state.facts.totals.accepted),
            duration: ContinuousClock.now - start, usedBytes: figures.usedPages * space.pageByteCount)
        for (index, progress) in progress.enumerated() { measure.add(progress, of: backlog[index]) }
        let report = CommitReport(from: self.state, to: state, outcomes: figures.outcomes, measure: measure)
        self.state = state
        space.usedPages = figures.usedPages
        let observer = shared.withLock { shared in
            shared.state = state
            shared.figures = figures
            return shared.observer
        }
        observer?(report)
        var finished = 0
        var weight = 0
        for (index, progress) in progress.enumerated() {
            weight += backlog[index].appendedBytes
            guard backlog[index].advance(by: progress) else { break }
            finished += 1
        }
        thread.relieve(weight)
        backlog.removeFirst(finished)
    }

    /// Answers the first `count` requests with an error.
    private func answer(_ count: Int, _ error: JournalError) {
        var weight = 0
        for index in 0..<count {
            weight += backlog[index].appendedBytes
            _ = backlog[index].advance(by: .failed(error))
        }
        thread.relieve(weight)
        backlog.removeFirst(count)
    }

    /// From now on nothing is done any more: those in the failed commit hear what failed, all others that it did.
    private func fail(_ error: JournalError, _ verdicts: [JournalError?] = []) {
        let later = JournalError(.mustBeReopened, "\(error.message). Until then it takes nothing and gives nothing.")
        failure = later
        let (observer, outcomes) = shared.withLock { shared in
            shared.failure = later
            return (shared.observer, shared.figures.outcomes)
        }
        observer?(CommitReport(outcomes: outcomes, failure: error))
        for verdict in verdicts { answer(1, verdict ?? error) }
        answer(backlog.count, later)
        failTrims(later)
    }

    private func fail(_ error: LMDBError) {
        fail(JournalError(error, "write to", directory))
    }
}
