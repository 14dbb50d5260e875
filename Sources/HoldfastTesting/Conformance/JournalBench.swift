internal import Holdfast
internal import HoldfastAPNsAnswers

/// Where a rule is checked: a journal, its calls waited for, and what they have answered.
final class JournalBench {
    private(set) var journal: any JournalService
    private let reopenJournal: @Sendable (any Journal) throws -> any Journal
    let patience: Duration
    /// How often each completion was called.
    private var calls: [Monitor<Int>] = []
    /// What was reported about commits since the last opening.
    private(set) var reports = Monitor<[CommitReport]>([])

    static let immediate = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
    static let considerate = LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce)
    static let once = LaneKey(route: "other", urgency: .immediate, guarantee: .atMostOnce)
    static let now = WallTime(milliseconds: 1_700_000_500_000)

    init(
        _ journal: any Journal, reopen: @escaping @Sendable (any Journal) throws -> any Journal, patience: Duration
    ) throws {
        self.journal = journal.handle.service
        reopenJournal = reopen
        self.patience = patience
        try observe()
    }

    private func observe() throws {
        reports = Monitor([])
        try journal.observeCommits { [reports] report in
            reports.withLock { $0.append(report) }
            reports.broadcast()
        }
    }

    /// Every completion was called, and once.
    func finish() throws {
        journal.close()
        for call in calls {
            let times = call.withLock { $0 }
            try expect("how often a completion was called", times, is: 1)
        }
    }

    func reopen() throws {
        journal = try reopenJournal(journal).handle.service
        try observe()
    }

    // MARK: Calls, waited for

    /// A completion that counts its calls.
    func completion<Value: Sendable>(
        _ body: @escaping @Sendable (Result<Value, JournalError>) -> Void
    ) -> @Sendable (Result<Value, JournalError>) -> Void {
        let count = Monitor(0)
        calls.append(count)
        return { result in
            count.withLock { $0 += 1 }
            body(result)
        }
    }

    func wait<Value: Sendable>(
        _ what: String, _ start: (@escaping @Sendable (Result<Value, JournalError>) -> Void) -> Void
    ) throws -> Value {
        let answer = Monitor<Result<Value, JournalError>?>(nil)
        start(
            completion { result in
                answer.withLock { $0 = result }
                answer.broadcast()
            })
        guard let result = answer.wait(atMost: patience, for: { $0 }) else {
            throw Deviation("the completion of \(what)", expected: "a call within \(patience)", found: "none")
        }
        return try result.get()
    }

    func lane(_ key: LaneKey = immediate) throws -> LaneID { try journal.openLane(key).id }

    func producer(_ name: String = "default") throws -> ProducerID { try journal.openProducer(name) }

    /// A submission of sample notifications, all for one lane.
    func submission(
        _ numbers: some Sequence<Int>, lane: LaneID, producer: String = "default", identities: Bool = false,
        payloadByteCount: Int = 0, acceptedAt: WallTime = now
    ) throws -> Submission {
        var submission = Submission(
            producer: try journal.openProducer(producer), acceptedAt: acceptedAt, earliestTime: acceptedAt)
        for number in numbers {
            if identities { submission.identities.append((submission.items.count, Self.identity(number))) }
            let range = SampleNotification.append(
                number, payloadByteCount: payloadByteCount, producer: producer, to: &submission.bytes)
            submission.items.append(Submission.Item(lane: lane, range: range))
        }
        return submission
    }

    /// Appends ``SampleNotification/broadcast``.
    func appendBroadcast(lane: LaneID, producer: String = "default") throws -> UID {
        var submission = Submission(producer: try journal.openProducer(producer), acceptedAt: Self.now)
        PackedNotification.append(
            SampleNotification.broadcast, id: SampleNotification.id(7), expiration: .unstored(until: 4_000_000_000),
            acceptedAt: SampleNotification.acceptedAt, producer: producer, to: &submission.bytes)
        submission.items.append(Submission.Item(lane: lane, range: 0..<submission.bytes.count))
        return try append(submission).first
    }

    static func identity(_ number: Int) -> Identity { Identity(high: 0xFEED, low: UInt64(number)) }

    func append(_ submission: Submission) throws -> Appended {
        try wait("append") { journal.append(submission, completion: $0) }
    }

    /// Appends sample notifications and returns their UIDs.
    @discardableResult
    func append(
        _ numbers: some Collection<Int>, lane: LaneID, producer: String = "default", identities: Bool = false,
        acceptedAt: WallTime = now
    ) throws -> [UID] {
        let appended = try append(
            submission(numbers, lane: lane, producer: producer, identities: identities, acceptedAt: acceptedAt))
        try expect("repeats of an append of new notifications", appended.repeats, is: [])
        return (0..<UInt64(numbers.count)).map { UID(appended.first.rawValue + $0) }
    }

    @discardableResult
    func settle(_ batch: SettlementBatch) throws -> SettlementReport {
        try wait("settle") { journal.settle(batch, completion: $0) }
    }

    @discardableResult
    func settle(
        _ uids: [UID], _ lane: LaneID, _ kind: Settlement.Kind, keepsOutcomes: Bool = false,
        settledAt: WallTime = now
    ) throws -> SettlementReport {
        try settle(
            SettlementBatch(
                others: uids.map { Settlement(EntryKey(lane: lane, uid: $0), kind) }, settledAt: settledAt,
                earliestTime: settledAt, keepsOutcomes: keepsOutcomes))
    }

    @discardableResult
    func acknowledge(
        _ uids: [UID], _ lane: LaneID, keepsOutcomes: Bool = false, settledAt: WallTime = now
    ) throws -> SettlementReport {
        try settle(
            SettlementBatch(
                acknowledging: uids.map { EntryKey(lane: lane, uid: $0) }, settledAt: settledAt,
                earliestTime: settledAt, keepsOutcomes: keepsOutcomes))
    }

    func deferEntries(
        _ uids: [UID], _ lane: LaneID, until due: Int64, attempts: UInt16 = 1, possiblySent: Bool = false
    ) throws -> SettlementReport {
        try settle(
            uids, lane,
            .deferUntil(
                WallTime(milliseconds: due), attempts: attempts, reason: .serviceUnavailable,
                possiblySent: possiblySent))
    }

    func promote(_ lane: LaneID, after: Int64? = nil, now: Int64, limit: Int = 1000) throws -> [UID] {
        try wait("promoteDue") {
            journal.promoteDue(
                lane, after: after.map { WallTime(milliseconds: $0) }, now: WallTime(milliseconds: now), limit: limit,
                completion: $0)
        }
    }

    func lowerMark(_ lane: LaneID, to mark: UID) throws {
        try wait("lowerMark") { journal.lowerMark(of: lane, to: mark, completion: $0) }
    }

    func setState(of lane: LaneID, to state: LaneState) throws {
        try wait("setState") { journal.setState(of: lane, to: state, completion: $0) }
    }

    func setReader(_ name: String, to cursor: OutcomeCursor?) throws {
        try wait("setReader") { journal.setReader(name, to: cursor, completion: $0) }
    }

    /// UIDs of the outcomes in the log, in the order in which they ended.
    func endedUIDs(after cursor: OutcomeCursor = .start, limit: Int = .max) throws -> [UID] {
        try journal.outcomes(after: cursor, limit: limit).outcomes.map(\.uid)
    }

    func trim(_ bounds: TrimBounds) throws -> Trimmed {
        try wait("trim") { journal.trim(bounds, completion: $0) }
    }

    // MARK: What is there

    /// UIDs of the lane's entries, read whole.
    func uids(_ lane: LaneID) throws -> [UID] {
        var uids: [UID] = []
        while true {
            let batch = try journal.unconfirmed(lane, after: uids.last ?? .none, through: .max, limit: 500)
            if batch.isEmpty { return uids }
            uids += batch.items.map(\.uid)
        }
    }

    func mark(_ key: LaneKey = immediate) throws -> UID {
        try unwrap("the lane's line in the status", journal.status().lanes.first { $0.key == key }).mark
    }

    func expectError(_ code: JournalError.Code, _ what: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as JournalError {
            return try expect("the code of the error of \(what)", error.code, is: code)
        }
        throw Deviation(what, expected: "an error", found: "none")
    }

    /// Waits for a report for which `body` has a value.
    func report<Value>(_ what: String, _ body: (CommitReport) -> Value?) throws -> Value {
        let found = reports.wait(atMost: patience) { reports -> Value? in
            for report in reports.reversed() { if let value = body(report) { return value } }
            return nil
        }
        guard let found else { throw Deviation(what, expected: "a report within \(patience)", found: "none") }
        return found
    }

    /// The marks of a lane as reported, in order.
    func reportedMarks(_ lane: LaneID) -> [UID] {
        reports.withLock { reports in reports.flatMap(\.lanes).filter { $0.id == lane }.map(\.mark) }
    }
}

let sampleCause = RejectionCause(
    reason: .unregistered, status: 410, timestamp: WallTime(milliseconds: 1_600_000_000_321),
    rejectedAt: WallTime(milliseconds: 1_700_000_400_001))
