internal import Foundation
internal import Holdfast

extension InMemoryJournal {
    /// What one commit leaves to be said, in order.
    struct Done: Sendable {
        var report: CommitReport?
        var observer: (@Sendable (CommitReport) -> Void)?
        var answers: [@Sendable () -> Void] = []
    }

    /// Commits everything that waits, as one commit, and then calls the observer and the completions in order, on this
    /// thread.
    public func commit() { commitWaiting() }

    /// Commits the first `count` calls that wait, as one commit.
    public func commit(atMost count: Int) { commitWaiting(atMost: count) }

    /// The calls that wait for a commit; one more when a send mark waits for one.
    public var waitingCount: Int { state.withLock { $0.waiting.count + ($0.marksWait ? 1 : 0) } }

    /// Stops a caller that would wait for itself for ever.
    func refuseOwnCompletions() {
        let committer = state.withLock(\.committer)
        precondition(
            committer != ObjectIdentifier(Thread.current), "a completion of a journal called what blocks, or commit()")
    }

    /// For one thread at a time; another one that commits is waited for.
    func commitWaiting(atMost count: Int = .max) {
        refuseOwnCompletions()
        finishCommit()
        let me = ObjectIdentifier(Thread.current)
        let done: Done? = state.wait { state in
            guard state.committer == nil else { return nil }
            state.committer = me
            return Self.commitOnce(&state, atMost: count)
        }
        if let done { finish(done) }
    }

    /// Commits until nothing waits, unless another thread is at it, which then does it all.
    func commitAll() {
        let me = ObjectIdentifier(Thread.current)
        while true {
            let done: Done? = state.withLock { state in
                guard state.committer == nil, !state.waiting.isEmpty || state.marksWait else { return nil }
                state.committer = me
                return Self.commitOnce(&state, atMost: .max)
            }
            guard let done else { return }
            finish(done)
        }
    }

    private func finish(_ done: Done) {
        if let report = done.report { done.observer?(report) }
        for answer in done.answers { answer() }
        state.withLock { $0.committer = nil }
        state.broadcast()
    }

    static func commitOnce(_ state: inout State, atMost count: Int) -> Done {
        var requests = state.waiting.prefix(count)
        var done = Done(observer: state.observer)
        if let refusal = state.broken ?? state.writeFailure {
            done.answers = failures(of: requests, &state, refusal)
            return done
        }
        guard !requests.isEmpty || state.marksWait else { return done }
        if state.isTaken { return lose(requests, &state) }
        if let remains = state.nextCommitBreaks {
            state.nextCommitBreaks = nil
            (done.report, done.answers) = breakCommit(&requests, &state, leaving: remains)
            return done
        }
        (done.report, done.answers) = perform(&requests, &state)
        return done
    }

    /// Those requests will not be done.
    static func failures(
        of requests: ArraySlice<Request>, _ state: inout State, _ error: JournalError
    ) -> [@Sendable () -> Void] {
        let progress = state.progress
        if !requests.isEmpty { state.progress = Progress() }
        state.waiting.removeFirst(requests.count)
        return requests.enumerated().map { index, request in
            { request.fail(error, after: index == 0 ? progress : Progress()) }
        }
    }

    private static func breakCommit(
        _ requests: inout ArraySlice<Request>, _ state: inout State, leaving remains: BrokenCommit
    ) -> (CommitReport, [@Sendable () -> Void]) {
        let all = requests
        var broken = state
        if remains == .all { _ = perform(&requests, &broken) }
        state.disk = broken.disk
        let error = JournalError(
            .undetermined,
            "a commit failed at its end; whether what it held is there will be known when the journal is reopened")
        state.broken = JournalError(.mustBeReopened, "\(error.message). Until then it takes nothing and gives nothing.")
        let report = CommitReport(
            newestOutcome: state.disk.outcomes.figures.newest, unreadOutcomes: state.disk.outcomes.unread,
            failure: error)
        return (report, failures(of: all, &state, error))
    }

    private static func perform(
        _ requests: inout ArraySlice<Request>, _ state: inout State
    ) -> (CommitReport, [@Sendable () -> Void]) {
        let start = ContinuousClock.now
        let outcomesBefore = (state.disk.outcomes.figures.newest, state.disk.outcomes.readers)
        let before = state.disk.laneList.map { ($0.lastUID, $0.mark) }
        var measure = CommitMeasure()
        var ended: Set<ProducerID> = []
        var answers: [@Sendable () -> Void] = []
        var room = state.greatestCommit ?? .max
        while room > 0, let request = requests.popFirst() {
            guard let answer = perform(request, &state, ended: &ended, measure: &measure, room: &room) else { break }
            answers.append(answer)
            state.waiting.removeFirst()
            state.progress = Progress()
        }
        state.disk.raiseMarks(to: state.ceilings)
        let lanes = state.disk.lanes.enumerated().compactMap { index, entry -> CommitReport.Lane? in
            let old = index < before.count ? before[index] : (UID.none, UID.none)
            guard old != (entry.lane.lastUID, entry.lane.mark) else { return nil }
            return CommitReport.Lane(
                id: entry.id, lastUID: entry.lane.lastUID, mark: entry.lane.mark,
                hasSchedules: entry.lane.deferred.scheduledCount > 0)
        }
        let drained = ended.filter { state.disk.producer($0)?.unconfirmed == 0 }.sorted()
        measure.usedBytes = state.disk.usedBytes
        measure.duration = ContinuousClock.now - start
        let report = CommitReport(
            lanes: lanes, drained: drained, newestOutcome: state.disk.outcomes.figures.newest,
            unreadOutcomes: state.disk.outcomes.unread,
            changesOutcomes: outcomesBefore != (state.disk.outcomes.figures.newest, state.disk.outcomes.readers),
            measure: measure)
        return (report, answers)
    }

    /// - Returns: the answer; nil when a part of it waits for the next commit.
    private static func perform(
        _ request: Request, _ state: inout State, ended: inout Set<ProducerID>, measure: inout CommitMeasure,
        room: inout Int
    ) -> (@Sendable () -> Void)? {
        switch request {
        case .append(let submission, let completion):
            if let greatest = state.greatestEntryCount,
                state.disk.unconfirmedCount + submission.items.count > greatest
            {
                let error = JournalError(.limitReached, "the journal takes \(greatest) unconfirmed entries, not more")
                return { completion(.failure(error)) }
            }
            let appended = state.disk.append(submission)
            let count = appended.count(of: submission)
            measure.entries += count
            if count > 0 { measure.bytes += submission.bytes.count }
            return { completion(.success(appended)) }
        case .settle(let batch, let completion):
            return settle(batch, completion, &state, ended: &ended, measure: &measure, room: &room)
        case .promote(let lane, let after, let now, let limit, let completion):
            return promote(lane, after: after, now: now, limit: limit, completion, &state, room: &room)
        case .lowerMark(let lane, let mark, let completion):
            state.disk.lowerMark(of: lane, to: mark)
            return { completion(.success(())) }
        case .setState(let lane, let laneState, let completion):
            guard state.disk.changeLane(lane, { $0.state = laneState }) != nil else {
                let error = JournalError(.notFound, "the journal has no lane number \(lane.rawValue)")
                return { completion(.failure(error)) }
            }
            return { completion(.success(())) }
        case .removeRejections(let uids, let completion):
            let count = uids.count { state.disk.rejections.remove($0) != nil }
            return { completion(.success(count)) }
        case .setReader(let name, let cursor, let completion):
            do throws(JournalError) { try state.disk.outcomes.set(name, to: cursor) } catch {
                return { completion(.failure(error)) }
            }
            return { completion(.success(())) }
        case .openReader(let name, let isWaitedFor, let completion):
            guard let cursor = state.disk.outcomes.open(name, isWaitedFor: isWaitedFor) else {
                let error = JournalError(
                    .invalidEntry, "a journal knows \(OutcomeReader.greatestCount) readers, not more")
                return { completion(.failure(error)) }
            }
            return { completion(.success(cursor)) }
        case .trim(let bounds, let completion):
            return trim(bounds, completion, &state, room: &room)
        case .quarantine(let order, let completion):
            let moved = state.disk.quarantine(order, ended: &ended)
            return { completion(.success(moved)) }
        case .retryQuarantined(let uids, let now, let completion):
            let restored = state.disk.retryQuarantined(uids, now: now)
            return { completion(.success(restored)) }
        case .openLane(let key, let completion):
            _ = state.disk.addLane(key)
            return { completion(.success(())) }
        case .openProducer(let name, let completion):
            guard let id = state.disk.addProducer(name) else {
                let error = JournalError(
                    .tooManyProducers, "a journal tells \(ProducerID.greatestCount) Producers apart, not more")
                return { completion(.failure(error)) }
            }
            return { completion(.success(id)) }
        case .setNote(let name, let value, let completion):
            state.disk.notes[name] = value
            return { completion(.success(())) }
        }
    }
}
