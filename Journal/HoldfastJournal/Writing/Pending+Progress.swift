import Holdfast

extension Progress {
    /// Settlements and promotions that count against the bound on a commit.
    var parts: Int {
        switch self {
        case .settled(_, let parts), .removed(_, let parts), .quarantined(_, let parts): parts
        case .promoted(let uids, _): uids.count
        case .appended, .markLowered, .stateSet, .lanesOpened, .producerOpened, .noted, .readerSet, .failed: 0
        }
    }
}

extension CommitMeasure {
    /// Counts the effect of a commit on one request.
    mutating func add(_ progress: Progress, of pending: Pending) {
        switch progress {
        case .appended(let appended):
            // What is repeats and nothing else appends nothing.
            if case .append(let submission, _) = pending.request, appended.count(of: submission) > 0 {
                bytes += pending.appendedBytes
            }
        case .settled(let report, _): settlements += report.settled
        case .promoted, .quarantined, .markLowered, .stateSet, .lanesOpened, .producerOpened, .noted, .readerSet,
            .removed, .failed:
            break
        }
    }
}

extension Pending {
    /// Whether a commit that does so much of the request does the last of it.
    func isFinished(by progress: Progress) -> Bool {
        switch progress {
        case .promoted(let uids, let isLast): isLast || uids.count >= remainingParts
        case .settled, .removed, .quarantined: progress.parts >= remainingParts
        case .appended, .markLowered, .stateSet, .lanesOpened, .producerOpened, .noted, .readerSet, .failed: true
        }
    }

    /// Takes in what a commit has done, and answers if that was the last of it.
    ///
    /// - Returns: whether the request is done with.
    mutating func advance(by progress: Progress) -> Bool {
        let isFinished = isFinished(by: progress)
        switch (request, progress) {
        case (.append(_, let completion), .appended(let appended)):
            completion(.success(appended))
        case (.append(_, let completion), .failed(let error)), (.refuse(let completion, _), .failed(let error)):
            completion(.failure(error))
        case (.settle(_, let completion), .settled(let more, let parts)):
            done += parts
            report.settled += more.settled
            report.gone += more.gone
            report.withdrawn += more.withdrawn
            if !isFinished { return false }
            completion(.success(report))
        case (.settle(_, let completion), .failed(let error)):
            completion(.failure(error))
        case (.promote(_, after: _, now: _, _, let completion), .promoted(let uids, _)):
            done += uids.count
            promoted += uids
            if !isFinished { return false }
            completion(.success(promoted))
        case (.promote(_, after: _, now: _, _, let completion), .failed(let error)):
            // Entries moved by earlier commits stay moved: the caller must hear of them.
            completion(promoted.isEmpty ? .failure(error) : .success(promoted))
        case (.quarantine(_, let completion), .quarantined(let uids, let parts)):
            done += parts
            promoted += uids
            if !isFinished { return false }
            completion(.success(promoted))
        case (.retryQuarantined(_, _, let completion), .quarantined(let restored, let parts)):
            done += parts
            promoted += restored
            if !isFinished { return false }
            completion(.success(promoted))
        case (.quarantine(_, let completion), .failed(let error)),
            (.retryQuarantined(_, _, let completion), .failed(let error)):
            completion(.failure(error))
        case (.lowerMark(_, _, let completion), .markLowered):
            completion(.success(()))
        case (.lowerMark(_, _, let completion), .failed(let error)):
            completion(.failure(error))
        case (.setState(_, _, let completion), .stateSet):
            completion(.success(()))
        case (.setState(_, _, let completion), .failed(let error)):
            completion(.failure(error))
        case (.openLanes(_, let reply), .lanesOpened(let lanes)):
            reply.give(.success(lanes))
        case (.openLanes(_, let reply), .failed(let error)):
            reply.give(.failure(error))
        case (.openProducer(_, let reply), .producerOpened(let producer)):
            reply.give(.success(producer))
        case (.openProducer(_, let reply), .failed(let error)):
            reply.give(.failure(error))
        case (.setNote(_, _, let reply), .noted):
            reply.give(.success(()))
        case (.setNote(_, _, let reply), .failed(let error)):
            reply.give(.failure(error))
        case (.openReader(_, isWaitedFor: _, let reply), .readerSet(let cursor)):
            reply.give(.success(cursor))
        case (.openReader(_, isWaitedFor: _, let reply), .failed(let error)):
            reply.give(.failure(error))
        case (.setReader(_, _, let completion), .readerSet):
            completion(.success(()))
        case (.setReader(_, _, let completion), .failed(let error)):
            completion(.failure(error))
        case (.removeRejections(_, let reply), .removed(let count, let parts)):
            done += parts
            report.settled += count
            if !isFinished { return false }
            reply.give(.success(report.settled))
        case (.removeRejections(_, let reply), .failed(let error)):
            reply.give(.failure(error))
        case (.trim(let work), .failed(let error)):
            work.completion(.failure(error))
        default:
            preconditionFailure("a request was answered as another")
        }
        return true
    }
}
