import Holdfast
import HoldfastLMDB

/// One attempt at a commit: what waits is applied to a draft, which is committed or given up as a whole.
extension JournalWriter {
    enum Attempt {
        case committed(JournalState, CommitFigures, [Progress], TrimWork?)
        /// Not made, since other journals of the fleet have these identities, under these UIDs.
        case repeats([CommitClaim])
        /// Not made, since rows of the queue that appends take are not there; all else may be.
        case rowsGone
        /// The index of a segment cannot be put; all else may be.
        case indexRefused
        /// One request cannot be done; the others may.
        case refused(Int, JournalError)
        case noRoom(LMDBError)
        case failed(JournalError)
        /// Made, in a file that the next opening does not find; or perhaps made, in a journal that is another owner's now.
        case lost(JournalError)
    }

    /// - Parameters:
    ///   - count: the number of waiting requests that go into it.
    ///   - verdicts: the errors of those that were refused beforehand.
    ///   - budget: settlements and promotions that it may hold.
    func attempt(_ count: Int, _ verdicts: [JournalError?], budget: Int, ceilings: MarkCeilings) -> Attempt {
        // What an attempt has left that failed.
        identities.rollBack()
        outcomes.rollBack()
        let begun: CommitDraft
        do throws(LMDBError) {
            begun = try CommitDraft(
                store, state, identities, outcomes, elsewhere: elsewhere, directory: directory,
                pageByteCount: space.pageByteCount, keepsNothingAside: space.isTight)
        } catch {
            return .failed(JournalError(error, "write to", directory))
        }
        var draft = begun
        draft.deadline = options.commitDeadline
        if let failure = limit(&draft, behind: count) { return failure }
        var progress: [Progress] = []
        var trim = trims.first
        if let failure = apply(count, verdicts, to: &draft, budget: budget, &progress) { return failure }
        let remaining = progress.reduce(budget) { remaining, done in remaining - done.parts }
        if let failure = apply(&trim, to: &draft, budget: Self.trimBudget(budget, remaining: remaining), behind: count)
        {
            return failure
        }
        if let failure = putIndex(into: &draft) { return failure }
        if let damage = draft.damage {
            return .failed(.damaged("\(directory) is damaged: \(damage)", in: directory))
        }
        return commit(draft, progress, trim, ceilings)
    }

    /// - Parameter count: the number of requests that the commit holds.
    private func limit(_ draft: inout CommitDraft, behind count: Int) -> Attempt? {
        do throws(LMDBError) {
            try draft.limitIdentities(toPages: space.greatestIdentityPages)
            if let bytes = logLimit(behind: count) { try draft.limitLog(to: bytes) }
            return nil
        } catch {
            return .failed(JournalError(error, "write to", directory))
        }
    }

    /// - Returns: why the commit is given up; nil if it is not.
    private func apply(
        _ count: Int, _ verdicts: [JournalError?], to draft: inout CommitDraft, budget: Int,
        _ progress: inout [Progress]
    ) -> Attempt? {
        progress.reserveCapacity(count)
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
                // Out of time: what waits behind it has the next commit, so that nothing is done before its turn.
                if !backlog[index].isFinished(by: done) { break }
            } catch {
                return givingUp(error, at: index, "write to")
            }
        }
        return nil
    }

    /// - Parameter count: the number of requests that the commit holds already.
    private func apply(
        _ trim: inout TrimWork?, to draft: inout CommitDraft, budget: Int, behind count: Int
    ) -> Attempt? {
        guard let work = trim else { return nil }
        do throws(LMDBError) {
            trim = try draft.trim(work, budget: budget)
            return nil
        } catch {
            return givingUp(error, at: count, "trim")
        }
    }

    private func givingUp(_ error: LMDBError, at index: Int, _ action: String) -> Attempt {
        if CommitFailure(error, isDiskFull: space.isDiskFull, isPanicked: false) == .noRoom { return .noRoom(error) }
        // On a damaged file nothing more is written: it would only be spread.
        let failure = JournalError(error, action, directory)
        return error.code.isDamage ? .failed(failure) : .refused(index, failure)
    }

    private func putIndex(into draft: inout CommitDraft) -> Attempt? {
        indexLeft = nil
        guard let work = indexWork else { return nil }
        do throws(LMDBError) {
            indexLeft = try draft.putIndex(work, budget: Self.indexBudget)
            return nil
        } catch {
            return error.code.isDamage ? .failed(JournalError(error, "write to", directory)) : .indexRefused
        }
    }

    private func commit(
        _ draft: consuming CommitDraft, _ progress: [Progress], _ trim: TrimWork?, _ ceilings: MarkCeilings
    ) -> Attempt {
        do throws(LMDBError) {
            // Ends before the error is looked into, which begins a transaction of its own.
            let draft = draft
            switch options.stepping?.faults.entriesCommit() {
            case nil: break
            case .diskFull: throw LMDBError(.noSpace, "mdb_txn_commit", path: directory)
            case .lost: return undetermined(LMDBError(.inputOutput, "mdb_txn_commit", path: directory))
            case .kept:
                _ = try draft.commit(ceilings: ceilings)
                return undetermined(LMDBError(.inputOutput, "mdb_txn_commit", path: directory))
            }
            switch try draft.commit(ceilings: ceilings) {
            case .repeats(let others): return .repeats(others)
            case .committed(let state, let figures):
                // On disk it is; the question is whether anybody will find it.
                if let loss = store.environment.loss(in: directory, isCopy: isCopy) { return .lost(loss) }
                return .committed(state, figures, progress, trim)
            }
        } catch {
            return classify(error)
        }
    }

    private func classify(_ error: LMDBError) -> Attempt {
        if error.code == .rowsGone { return .rowsGone }
        if let ending = options.ownership?.ending {
            if error.code == .notKept { return .failed(ending) }
            if error.code == .copyIsBehind { return .lost(ending) }
        }
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
        case .undetermined: return undetermined(error)
        }
    }

    private func undetermined(_ error: LMDBError) -> Attempt {
        .failed(
            JournalError(
                .undetermined,
                "a commit to \(directory) failed (\(error.operation): \(error.code)); whether what it held is there "
                    + "will be known when the journal is reopened"))
    }
}
