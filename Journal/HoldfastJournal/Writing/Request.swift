import Holdfast

/// Something a caller has left for the writer.
enum Request: Sendable {
    case append(Submission, @Sendable (Result<Appended, JournalError>) -> Void)
    /// An append that was refused where it was made; its completion keeps its place all the same.
    case refuse(@Sendable (Result<Appended, JournalError>) -> Void, JournalError)
    case settle(SettlementBatch, @Sendable (Result<SettlementReport, JournalError>) -> Void)
    case promote(LaneID, after: WallTime?, now: WallTime, limit: Int, @Sendable (Result<[UID], JournalError>) -> Void)
    case lowerMark(LaneID, UID, @Sendable (Result<Void, JournalError>) -> Void)
    case setState(LaneID, LaneState, @Sendable (Result<Void, JournalError>) -> Void)
    case openLanes([LaneKey], Reply<[LaneID]>)
    case openProducer(String, Reply<ProducerID>)
    case setNote([UInt8], [UInt8]?, Reply<Void>)
    case quarantine(QuarantineOrder, @Sendable (Result<[UID], JournalError>) -> Void)
    case retryQuarantined([UID], WallTime, @Sendable (Result<[UID], JournalError>) -> Void)
    case openReader(String, isWaitedFor: Bool, Reply<OutcomeCursor>)
    case setReader(String, OutcomeCursor?, @Sendable (Result<Void, JournalError>) -> Void)
    case removeRejections([UID], Reply<Int>)
    /// Done piece by piece behind the others.
    case trim(TrimWork)
    /// As a trim is; nobody waits for it.
    case index(IndexWork)
}

/// A request in the writer's hands. Large settlements and promotions take several commits.
struct Pending {
    let request: Request
    /// The acknowledgements of a settlement, in sorted runs when there are many.
    private(set) var acknowledged: [Acknowledgement] = []
    /// Keys of entries that silence has confirmed, sorted.
    private(set) var quieted: [EntryKey] = []
    /// The number of acknowledged keys that are in sorted runs.
    private var sorted = 0
    /// The number of the request's parts that are durable.
    var done = 0
    var report = SettlementReport()
    /// The UIDs that a promotion or a change of the quarantine has moved.
    var promoted: [UID] = []

    init(_ request: Request) {
        self.request = request
        guard case .settle(let batch, _) = request else { return }
        acknowledged = batch.acknowledged
        quieted = batch.quieted
        quieted.sortByKey(quieted.indices)
    }

    /// Sorts the keys that the next commit may settle, and some more. A million at once would hold up everything else.
    mutating func sort(ahead budget: Int) {
        while sorted < min(done + budget, acknowledged.count) {
            let next = min(sorted + Self.greatestSort, acknowledged.count)
            acknowledged.sortByKey(sorted..<next)
            sorted = next
        }
    }

    private static let greatestSort = 10_000

    /// Whether it may go before a request that takes several commits. It has nothing to do with entries that are there.
    var mayOvertake: Bool {
        switch request {
        case .append, .refuse, .openLanes, .openProducer, .setNote: true
        case .settle, .promote, .lowerMark, .setState, .openReader, .setReader, .removeRejections, .trim, .index,
            .quarantine, .retryQuarantined:
            false
        }
    }

    /// Bytes of the records it appends.
    var appendedBytes: Int {
        if case .append(let submission, _) = request { submission.recordByteCount } else { 0 }
    }

    var appendedCount: Int { if case .append(let submission, _) = request { submission.items.count } else { 0 } }

    /// Whether it needs room. A submission that only inquires does not.
    var isAppend: Bool { if case .append(let submission, _) = request { !submission.onlyInquires } else { false } }

    /// Whether it takes rows of a queue beside the log.
    var takesRows: Bool { if case .append(let submission, _) = request { !submission.taking.isEmpty } else { false } }

    /// The number of remaining parts that count against the limit on a commit's settlements.
    var remainingParts: Int {
        switch request {
        case .settle(let batch, _): batch.count - done
        case .promote(_, after: _, now: _, let limit, _): limit - done
        case .retryQuarantined(let uids, _, _): uids.count - done
        case .quarantine(let order, _): order.items.count - done
        case .removeRejections(let uids, _): uids.count - done
        case .append, .refuse, .lowerMark, .setState, .openLanes, .openProducer, .setNote, .openReader, .setReader,
            .trim, .index:
            0
        }
    }
}

extension Submission {
    var onlyInquires: Bool { items.isEmpty && note == nil && earliestTime == nil && !inquiries.isEmpty }

    /// Bytes that the submission takes while it waits for the writer.
    var waitingByteCount: Int { recordByteCount + inquiries.count * MemoryLayout<Identity>.size }

    /// Bytes that the submission takes in the journal, without the tree around it.
    var recordByteCount: Int {
        bytes.count + items.count * (EntryRecord.headerByteCount + 12 + 10)
            + identities.count * (IdentityRecord.byteCount + 8 + 10)
            + histories.count * (RejectionRecord.headerByteCount + SmallRecord.longestReason)
    }
}

/// Something of one entry.
protocol Keyed {
    var lane: LaneID { get }
    var uid: UID { get }
}

extension Keyed {
    fileprivate func precedes(_ other: Self) -> Bool { lane == other.lane ? uid < other.uid : lane < other.lane }
}

extension EntryKey: Keyed {}
extension Acknowledgement: Keyed {}

extension Array where Element: Keyed {
    /// Puts a range into the order of the table, in which deleting is fastest. Most batches are in order already.
    mutating func sortByKey(_ range: Range<Int>) {
        let isSorted = range.dropFirst().allSatisfy { index in self[index - 1].precedes(self[index]) }
        if !isSorted { self[range].sort { lhs, rhs in lhs.precedes(rhs) } }
    }
}

/// The effect of one commit on one request.
enum Progress {
    case appended(Appended)
    case settled(SettlementReport, parts: Int)
    /// `isLast`: no more are due.
    case promoted([UID], isLast: Bool)
    /// Moved aside, or brought back.
    case quarantined([UID], parts: Int)
    case markLowered
    case stateSet
    case lanesOpened([LaneID])
    case producerOpened(ProducerID)
    case noted
    case readerSet(OutcomeCursor)
    /// Rejections.
    case removed(Int, parts: Int)
    case failed(JournalError)
}
