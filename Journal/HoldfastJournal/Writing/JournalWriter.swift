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
    let options: JournalOptions
    let readers: ReaderPool
    let shared: Monitor<SharedState>
    let thread: WorkThread<Request>

    var state: JournalState
    var space: SpaceGuard
    var backlog: [Pending] = []
    /// Done one after another, a piece with each commit.
    var trims: [TrimWork] = []
    let identities = IdentityIndex()
    let outcomes: OutcomeAppender
    /// The index of a segment of the log that is being put, some rows with each commit.
    var indexWork: IndexWork?
    /// Nil in a journal that is stepped: then the writer builds indexes itself.
    let indexer: OutcomeIndexer
    /// The reason for refusing appends for want of room, as ``SharedState`` was told last.
    var toldRoom: JournalError?
    /// Appends were refused for want of room, which what lies aside may take.
    var isAsideInTheWay = false
    /// The appends for which there was no room when they came.
    var refusedRoom = RefusedRoom()
    /// Something was refused for want of room on the disk, which old outcomes may take.
    var isLogInTheWay = false
    /// The most bytes that the log may have, as the last settlement said; nil for no limit.
    var logLimit: Int?
    /// The last commit has left the log larger than that.
    var isLogTooLarge = false
    /// Identities may take more than their part of the limit: the journal was just opened, or a commit was made since that was seen
    /// to.
    var mayRememberTooMuch = true
    var failure: JournalError?
    /// Whether the disk had no room even for the marks: they wait for the next request, or the next second.
    var marksRefused = false
    /// The last commit, of a journal that is stepped, until everything is said that it left to be said.
    var unsaid: Aftermath?
    /// The environments whose files are looked after: a blacklist without commits has no other watch.
    private let environments: [Environment]
    private var nextLook = ContinuousClock.now
    /// Identities in the commit that is being made, of which the gate has said that other journals have them, and the UIDs
    /// there.
    var elsewhere: [Identity: UInt64] = [:]
    /// What a commit in the making leaves of ``indexWork``.
    var indexLeft: IndexWork?

    /// Bytes that an entry takes more where it is sealed.
    private let sealByteCount: Int

    private static let lookInterval = Duration.seconds(1)

    init(
        _ store: EntriesStore, _ state: JournalState, _ space: SpaceGuard, _ outcomes: OutcomeAppender,
        directory: String, options: JournalOptions, readers: ReaderPool, shared: Monitor<SharedState>,
        thread: WorkThread<Request>, indexer: OutcomeIndexer, blacklist: Environment
    ) {
        self.outcomes = outcomes
        self.indexer = indexer
        environments = [store.environment, blacklist]
        self.store = store
        sealByteCount = store.environment.rowSeals == nil ? 0 : SealedRow.byteCount(0, storedKey: 12)
        self.state = state
        self.space = space
        self.directory = directory
        self.options = options
        self.readers = readers
        self.shared = shared
        self.thread = thread
    }

    var entryLimit: Int? { options.entryLimit }
    /// Whether a database keeps what is in it.
    var isCopy: Bool { options.gate != nil }

    // MARK: The thread's work

    /// Does what waits, in as many commits as it takes.
    func work(_ requests: [Request]) {
        take(requests)
        marksRefused = false
        repeat {
            if let aftermath = commit() {
                report(aftermath)
                answer(aftermath)
            }
            giveWay()
            take(thread.takeMore())
        } while !backlog.isEmpty || !trims.isEmpty || indexWork != nil || marksWait
        lookAround()
    }

    func take(_ requests: [Request]) {
        for request in requests {
            switch request {
            case .trim(let work): trims.append(work)
            case .index(let work): takeIndex(work)
            default: backlog.append(Pending(request))
            }
        }
    }

    /// Whether a ceiling was raised while a commit was under way that could not know of it.
    var marksWait: Bool {
        failure == nil && !marksRefused
            && state.wouldRaiseMarks(shared.withLock { shared in shared.ceilings })
    }

    /// Frees what readers have pinned that died without saying so, and makes sure that the files are where they were.
    private func lookAround() {
        let now = ContinuousClock.now
        guard now >= nextLook, failure == nil else { return }
        nextLook = now + Self.lookInterval
        if let ending = options.ownership?.ending { return fail(ending, later: ending) }
        do throws(LMDBError) { try store.environment.checkReaders() } catch {
            return fail(JournalError(error, "write to", directory))
        }
        lookAtRoom()
        beginIndex()
        for environment in environments {
            if let loss = environment.loss(in: directory, isCopy: isCopy) { return fail(loss, later: loss) }
        }
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
            fail(JournalError(error, "write to", directory))
        }
    }

    // MARK: One commit

    /// Makes one commit of what waits.
    ///
    /// - Parameter count: the most requests that it holds.
    /// - Returns: what is to be said of it; nil when there was nothing to do.
    func commit(atMost greatest: Int = .max) -> Aftermath? {
        if let failure {
            indexWork = nil
            return backlog.isEmpty && trims.isEmpty ? nil : Aftermath(.refused(backlog.count, failure))
        }
        if space.refusal != nil { indexWork = nil }
        let ceilings = shared.withLock { shared in shared.ceilings }
        if backlog.isEmpty, trims.isEmpty, indexWork == nil, !state.wouldRaiseMarks(ceilings) { return nil }
        let start = ContinuousClock.now
        defer { elsewhere.removeAll() }
        var isSmall = space.isTight
        letOvertake(budget(isSmall))
        var (count, verdicts) = plan(isSmall: isSmall, atMost: greatest)
        for index in 0..<count { backlog[index].sort(ahead: options.greatestSettlementCommit) }
        while true {
            switch attempt(count, verdicts, budget: budget(isSmall), ceilings: ceilings) {
            case .committed(let state, let figures, let progress, let trim):
                identities.commit()
                outcomes.commit()
                indexWork = indexLeft
                return take(state, figures, progress, trim, ceilings, since: start)
            case .repeats(let others):
                for other in others { elsewhere[Identity(high: other.high, low: other.low)] = other.value }
            case .refused(let index, let error):
                // Beyond the requests it is the trim.
                if index < count { verdicts[index] = error } else { failTrims(error) }
            case .rowsGone:
                for index in 0..<count where backlog[index].takesRows {
                    verdicts[index] = verdicts[index] ?? Self.rowsGone
                }
            case .indexRefused:
                indexWork = nil
            case .noRoom(let error):
                space.refusal = error.code
                (indexWork, isLogInTheWay) = (nil, true)
                let refusal = JournalError(error, "append to", directory)
                let appends = (0..<count).filter { index in backlog[index].isAppend && verdicts[index] == nil }
                if !appends.isEmpty {
                    refused(
                        appends.reduce(0) { $0 + backlog[$1].appendedBytes },
                        entries: appends.reduce(0) { $0 + backlog[$1].appendedCount })
                    tellRoom(refusal)
                    for index in appends { verdicts[index] = refusal }
                } else if !isSmall {
                    isSmall = true
                    (count, verdicts) = (min(count, 1), Array(verdicts.prefix(1)))
                } else if count > 0, !trims.isEmpty {
                    failTrims(JournalError(error, "trim", directory))
                } else {
                    // With nothing to answer the marks alone were tried; trying on would never end.
                    marksRefused = count == 0
                    return Aftermath(.refused(count, JournalError(error, "write to", directory)))
                }
            case .failed(let error):
                return failed(error, verdicts, later: options.ownership?.ending)
            case .lost(let error):
                // The file may be put back, or another owner may find them, and then they are there.
                let doubt = JournalError(.undetermined, error.message)
                for index in 0..<count where backlog[index].isAppend { verdicts[index] = verdicts[index] ?? doubt }
                return failed(error, verdicts, later: error)
            }
        }
    }

    /// What appends hear that take rows which are not the journal's. Whoever has made them looks which there are.
    private static let rowsGone = JournalError(
        .unreachable,
        "submissions by SQL were not taken: the database does not have all of them for this journal any more. They are looked for "
            + "again")

    private func budget(_ isSmall: Bool) -> Int {
        isSmall ? options.greatestSettlementCommitWhenFull : options.greatestSettlementCommit
    }

    /// Plans one commit: the number of waiting requests that go into it, and the errors of requests refused beforehand.
    private func plan(isSmall: Bool, atMost greatest: Int) -> (Int, [JournalError?]) {
        var verdicts: [JournalError?] = []
        var bytes = 0
        var parts = 0
        var entries = state.unconfirmed
        let highWaterPages = backlog.contains(where: \.isAppend) ? self.highWaterPages() : nil
        for pending in backlog.prefix(greatest) {
            let more = pending.appendedBytes + pending.appendedCount * sealByteCount
            if !verdicts.isEmpty, more > 0, bytes + more > options.greatestCommit { break }
            if parts >= budget(isSmall) { break }
            var verdict: JournalError?
            if let highWaterPages, pending.isAppend {
                let count = pending.appendedCount
                verdict = refusal(of: bytes + more, entries: entries + count, highWaterPages: highWaterPages)
                if verdict == nil {
                    bytes += more
                    entries += count
                } else {
                    refused(more, entries: count)
                }
            }
            verdicts.append(verdict)
            parts += pending.remainingParts
        }
        if bytes > 0, let highWaterPages {
            if let refusal = allocate(bytes, highWaterPages: highWaterPages) {
                refused(bytes, entries: entries - state.unconfirmed)
                for index in verdicts.indices where backlog[index].isAppend { verdicts[index] = refusal }
            } else if verdicts.allSatisfy({ $0 == nil }) {
                refusedRoom.admitted(bytes)
            }
        }
        if let refusal = verdicts.compactMap(\.self).last {
            tellRoom(refusal)
        } else if refusedRoom.isEmpty, backlog.prefix(verdicts.count).contains(where: \.isAppend) {
            tellRoom(nil)
        }
        return (verdicts.count, verdicts)
    }

    /// Takes the state of a commit as the current one.
    private func take(
        _ state: JournalState, _ figures: CommitFigures, _ progress: [Progress], _ trim: TrimWork?,
        _ ceilings: MarkCeilings, since start: ContinuousClock.Instant
    ) -> Aftermath {
        var measure = CommitMeasure(
            entries: Int(clamping: state.facts.totals.accepted - self.state.facts.totals.accepted),
            duration: ContinuousClock.now - start, syncDuration: figures.syncDuration,
            usedBytes: figures.usedPages * space.pageByteCount, limitBytes: space.limit)
        for (index, progress) in progress.enumerated() {
            measure.add(progress, of: backlog[index])
        }
        noteLogLimit(behind: progress.count, bytes: figures.logPages * space.pageByteCount)
        let report = CommitReport(from: self.state, to: state, measure: measure)
        self.state = state
        space.usedPages = figures.usedPages
        mayRememberTooMuch = true
        shared.withLock { shared in
            shared.state = state
            shared.figures = figures
            shared.ceilings.committed(ceilings)
        }
        beginIndex()
        return Aftermath(.done(progress, trim), report)
    }

    /// Reports and answers what failed outside of a commit.
    ///
    /// - Parameter later: as of ``failed(_:_:later:)``.
    private func fail(_ error: JournalError, later: JournalError? = nil) {
        let aftermath = failed(error, later: later)
        report(aftermath)
        answer(aftermath)
    }
}
