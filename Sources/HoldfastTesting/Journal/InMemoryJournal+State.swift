internal import Foundation
internal import Holdfast

extension InMemoryJournal {
    typealias Completion<Value> = @Sendable (Result<Value, JournalError>) -> Void

    /// Something that a caller has left for a commit.
    enum Request: Sendable {
        case append(Submission, Completion<Appended>)
        case settle(SettlementBatch, Completion<SettlementReport>)
        case promote(LaneID, WallTime?, WallTime, Int, Completion<[UID]>)
        case lowerMark(LaneID, UID, Completion<Void>)
        case setState(LaneID, LaneState, Completion<Void>)
        case removeRejections([UID], Completion<Int>)
        case setReader(String, OutcomeCursor?, Completion<Void>)
        case openReader(String, isWaitedFor: Bool, Completion<OutcomeCursor>)
        case trim(TrimBounds, Completion<Trimmed>)
        case quarantine(QuarantineOrder, Completion<[UID]>)
        case retryQuarantined([UID], WallTime, Completion<[UID]>)
        case openLane(LaneKey, Completion<Void>)
        case openProducer(String, Completion<ProducerID>)
        case setNote(String, [UInt8]?, Completion<Void>)

        func fail(_ error: JournalError) {
            switch self {
            case .append(_, let completion): completion(.failure(error))
            case .settle(_, let completion): completion(.failure(error))
            case .promote(_, _, _, _, let completion): completion(.failure(error))
            case .removeRejections(_, let completion): completion(.failure(error))
            case .openReader(_, _, let completion): completion(.failure(error))
            case .lowerMark(_, _, let completion), .setState(_, _, let completion), .setReader(_, _, let completion),
                .openLane(_, let completion),
                .setNote(_, _, let completion):
                completion(.failure(error))
            case .trim(_, let completion): completion(.failure(error))
            case .quarantine(_, let completion), .retryQuarantined(_, _, let completion): completion(.failure(error))
            case .openProducer(_, let completion): completion(.failure(error))
            }
        }
    }

    struct State: Sendable {
        var disk: InMemoryDisk
        var ceilings: [LaneID: UID] = [:]
        var waiting: [Request] = []
        var observer: (@Sendable (CommitReport) -> Void)?
        var isClosed = false
        /// Whoever commits just now.
        var committer: ObjectIdentifier?
        /// A commit that goes from moment to moment: on disk, and not told to everybody yet.
        var underWay: Done?

        /// Every write fails with this, and leaves the journal as it was.
        var writeFailure: JournalError?
        var readFailure: JournalError?
        /// Recipients whose record of the blacklist cannot be read.
        var blacklistFaults: [Recipient: RecordFault] = [:]
        var greatestEntryCount: Int?
        /// The most settlements, promotions and deletions of one commit.
        var greatestCommit: Int?
        /// Of the first request that waits.
        var progress = Progress()
        var nextCommitBreaks: BrokenCommit?
        /// A commit was undetermined: nothing is taken and nothing is given.
        var broken: JournalError?

        /// Of the blacklist, which has a writer of its own.
        var blacklistWaiting: [InMemoryBlacklist.Request] = []
        var blacklistWriteFailure: JournalError?

        /// What the journals of several hosts have in common.
        let store: InMemoryStore
        /// Of the store when this journal was opened.
        let epoch: Int64
        var handOutUntil: Duration?

        init(disk: InMemoryDisk, store: InMemoryStore, epoch: Int64) {
            self.disk = disk
            self.store = store
            self.epoch = epoch
        }

        var marksWait: Bool { broken == nil && writeFailure == nil && disk.wouldRaiseMarks(to: ceilings) }
    }
}
