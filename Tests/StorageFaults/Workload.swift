import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal

/// Random work on a journal, from several threads, whose every request and answer is noted.
struct Workload: Sendable {
    struct Size: Sendable {
        var steps = 40
        /// Of the largest batches.
        var greatestBatch = 300
        /// Threads that append beside the main one.
        var helpers = 2
    }

    static let lanes: [LaneKey] = [
        LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce),
        LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce),
        LaneKey(route: "other", urgency: .immediate, guarantee: .atMostOnce),
    ]

    let history: Monitor<History>
    let journal: LMDBJournal
    private let acknowledgeable = Monitor(0)

    init(_ history: Monitor<History>, _ journal: LMDBJournal) throws {
        self.history = history
        self.journal = journal
        // Another workload may have had this journal before.
        journal.endObserving()
        try journal.observeCommits { report in
            let position = Recorder.position
            history.withLock { history in
                for lane in report.lanes {
                    history.marks.append(
                        .init(lane: lane.id.rawValue, mark: lane.mark.rawValue, reportedAt: position))
                }
            }
        }
    }

    // MARK: Requests

    /// Notes a request and makes it, both in one go: the order of the notes is that of the journal.
    private func ask(_ request: History.Request, _ make: (Int) -> Void) {
        history.withLock { history in
            let index = history.entries.count
            history.entries.append(.init(request: request, askedAt: Recorder.position))
            history.unanswered += 1
            if !request.mayOvertake { history.inPlace.insert(index) }
            make(index)
        }
    }

    private static func answer(_ history: Monitor<History>, _ index: Int, _ answer: History.Answer) {
        let position = Recorder.position
        history.withLock { history in
            history.entries[index].answer = answer
            history.entries[index].answeredAt = position
            history.unanswered -= 1
            history.inPlace.remove(index)
            let isDone = if case .failed = answer { false } else { true }
            if isDone, let first = history.inPlace.min(), first < index { history.overtakings += 1 }
            switch (answer, history.entries[index].request) {
            case (.appended(let first), .append(let items, _)):
                for (offset, item) in items.enumerated() {
                    history.known.append((UID(first.rawValue + UInt64(offset)), item))
                }
            case (.done, .settle(let batch)):
                for settlement in batch.others {
                    if case .reject = settlement.kind { history.rejected.append(settlement.key.uid) }
                }
            case (.failed(let error), _):
                history.errors.append(error)
            default: break
            }
        }
        history.broadcast()
    }

    /// Appends from the journal are made under the history's lock: a refusal at once would be answered under it.
    /// None of the workload's is: they are small, and the journal is open.
    func append(count: Int, lanes: ClosedRange<UInt32>, payload: Int, note: (name: String, value: [UInt8])? = nil) {
        var submission = Submission.empty
        history.withLock { history in
            var items: [History.Item] = []
            for index in 0..<count {
                let width = Int(lanes.upperBound - lanes.lowerBound) + 1
                let lane = lanes.lowerBound + UInt32(history.nextNumber / 3 % width)
                let number = history.nextNumber
                history.nextNumber += 1
                items.append(.init(lane: lane, number: number))
                submission.add(number, index, LaneID(rawValue: lane), payload: payload)
            }
            submission.note = note
            history.entries.append(.init(request: .append(items, note: note), askedAt: Recorder.position))
            history.unanswered += 1
            let place = history.entries.count - 1
            let noted = self.history
            journal.append(submission) { result in
                switch result {
                case .success(let appended): Self.answer(noted, place, .appended(appended.first))
                case .failure(let error): Self.answer(noted, place, .failed(error))
                }
            }
        }
    }

    func settle(_ batch: SettlementBatch) {
        let noted = history
        ask(.settle(batch)) { index in
            journal.settle(batch) { result in Self.answer(noted, index, result.answer) }
        }
    }

    func promote(_ lane: UInt32, now: Int64, limit: Int) {
        let noted = history
        ask(.promote(lane, now: now, limit: limit)) { index in
            journal.promoteDue(LaneID(rawValue: lane), after: nil, now: WallTime(milliseconds: now), limit: limit) {
                result in
                Self.answer(noted, index, result.answer)
            }
        }
    }

    /// Calls that wait for their commit are made without the lock, so only while nobody else asks for anything.
    private func wait(_ request: History.Request, _ make: () throws(JournalError) -> Void) {
        var place = 0
        ask(request) { index in place = index }
        do throws(JournalError) {
            try make()
            Self.answer(history, place, .done)
        } catch {
            Self.answer(history, place, .failed(error))
        }
    }

    func openLane(_ key: LaneKey) {
        wait(.openLane(key)) { () throws(JournalError) in
            // The number 1, which all submissions carry, is there before any of them.
            _ = try journal.openProducer("test")
            _ = try journal.openLane(key)
        }
    }

    func setNote(_ name: String, _ value: [UInt8]?) {
        wait(.setNote(name, value)) { () throws(JournalError) in try journal.setNote(name, to: value) }
    }

    func removeRejections(_ uids: [UID]) {
        wait(.removeRejections(uids)) { () throws(JournalError) in _ = try journal.removeRejections(uids) }
    }

    /// Blacklists the tokens of these entries and, once that is durable, rejects them.
    func convict(_ victims: [(uid: UID, item: History.Item)]) {
        let noted = history
        let workload = self
        history.withLock { history in
            let first = history.blacklistings.count
            for victim in victims {
                history.blacklistings.append(.init(number: victim.item.number, askedAt: Recorder.position))
            }
            history.unanswered += 1
            journal.blacklist.add(victims.map { victim in BlacklistEntry(blacklisting: victim.item.number) }) {
                result in
                let position = Recorder.position
                if case .success = result {
                    noted.withLock { history in
                        for index in 0..<victims.count { history.blacklistings[first + index].doneAt = position }
                    }
                    workload.settle(
                        SettlementBatch(
                            others: victims.map { victim in
                                Settlement(
                                    EntryKey(lane: LaneID(rawValue: victim.item.lane), uid: victim.uid),
                                    .reject(.blacklisted))
                            }))
                }
                noted.withLock { history in
                    if case .failure(let error) = result { history.errors.append(error) }
                    history.unanswered -= 1
                }
                noted.broadcast()
            }
        }
    }

    /// Waits until everything is answered.
    func settleDown(_ limit: TimeInterval = 30) throws {
        guard history.wait(atMost: .seconds(limit), for: { history in history.unanswered == 0 ? true : nil }) != nil
        else {
            throw Breach("requests were not answered within \(Int(limit)) s")
        }
    }

    // MARK: The work

    /// - Parameter quiet: waits for each request, so that the calls come in the same order each time.
    func run(_ size: Size, seed: UInt64, quiet: Bool = false) throws {
        var generator = SplitMix64(state: seed)
        for key in Self.lanes.dropLast() {
            openLane(key)
            // Without its lanes there is nothing to be done.
            guard case .done = history.withLock({ history in history.entries.last?.answer }) else { return }
        }
        var laneCount: UInt32 = 2
        for step in 0..<size.steps {
            if !quiet, step % 10 == 5 { try runHelpers(size, lanes: 1...laneCount, &generator) }
            if step == size.steps / 2 {
                try settleDown()
                openLane(Self.lanes[2])
                if case .done = history.withLock({ history in history.entries.last?.answer }) { laneCount = 3 }
            }
            try operate(size, lanes: 1...laneCount, &generator)
            if quiet || Int.random(in: 0..<4, using: &generator) == 0 { try settleDown() }
        }
        try settleDown()
    }

    private func runHelpers(_ size: Size, lanes: ClosedRange<UInt32>, _ generator: inout SplitMix64) throws {
        let left = Monitor(size.helpers)
        for _ in 0..<size.helpers {
            let count = Int.random(in: 1...20, using: &generator)
            Thread.detachNewThread {
                for _ in 0..<4 { append(count: count, lanes: lanes, payload: 150) }
                left.withLock { left in left -= 1 }
                left.broadcast()
            }
        }
        guard left.wait(atMost: .seconds(30), for: { left in left == 0 ? true : nil }) != nil else {
            throw Breach("a thread that appends hangs")
        }
    }

    private func operate(_ size: Size, lanes: ClosedRange<UInt32>, _ generator: inout SplitMix64) throws {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<7:
            let isLarge = Int.random(in: 0..<6, using: &generator) == 0
            let count = Int.random(in: 1...(isLarge ? size.greatestBatch : 30), using: &generator)
            // Some lie in overflow pages.
            let payload = !isLarge && Int.random(in: 0..<5, using: &generator) == 0 ? 3900 : 120
            let note: (name: String, value: [UInt8])? =
                Bool.random(using: &generator) ? ("progress", [UInt8(count & 0xFF), 1]) : nil
            append(count: count, lanes: lanes, payload: payload, note: note)
        case 7..<13:
            let isLarge = Int.random(in: 0..<4, using: &generator) == 0
            settle(batch(isLarge ? size.greatestBatch : 40, &generator))
            // While it takes its commits, others come.
            guard isLarge else { break }
            for _ in 0..<3 {
                append(count: Int.random(in: 1...9, using: &generator), lanes: lanes, payload: 120)
            }
        case 13..<15:
            promote(
                UInt32.random(in: lanes, using: &generator), now: Int64.random(in: 0...1000, using: &generator),
                limit: Int.random(in: 1...30, using: &generator))
        case 15:
            let last = history.withLock { history in history.known.last?.uid.rawValue ?? 0 }
            journal.raiseMark(
                of: LaneID(rawValue: UInt32.random(in: lanes, using: &generator)), to: UID(last + 50))
        case 16:
            try settleDown()
            setNote(
                "note",
                (0..<Int.random(in: 1...60, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                })
        case 17:
            try settleDown()
            let rejected = history.withLock { history in Array(history.rejected.prefix(5)) }
            if !rejected.isEmpty { removeRejections(rejected) }
            history.withLock { history in history.rejected.removeFirst(min(5, history.rejected.count)) }
        default:
            let victims = history.withLock { history in Array(history.known.shuffled(using: &generator).prefix(3)) }
            if !victims.isEmpty { convict(victims) }
        }
    }

    private func batch(_ count: Int, _ generator: inout SplitMix64) -> SettlementBatch {
        var batch = SettlementBatch()
        let known = history.withLock { history in history.known }
        guard !known.isEmpty else { return batch }
        batch.possibleDuplicates = Int.random(in: 0...3, using: &generator)
        for _ in 0..<Int.random(in: 1...count, using: &generator) {
            guard let (uid, item) = known.randomElement(using: &generator) else { break }
            let key = EntryKey(lane: LaneID(rawValue: item.lane), uid: uid)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5: batch.acknowledged.append(Acknowledgement(key))
            case 5: batch.others.append(Settlement(key, .reject(.ours)))
            case 6: batch.others.append(Settlement(key, .expire))
            case 7: batch.others.append(Settlement(key, Bool.random(using: &generator) ? .unknown : .withdraw))
            default:
                let due = WallTime(milliseconds: Int64.random(in: 0...1000, using: &generator))
                batch.others.append(
                    Settlement(
                        key,
                        .deferUntil(
                            due, attempts: UInt16.random(in: 1...9, using: &generator), reason: .shutdown,
                            possiblySent: Bool.random(using: &generator))))
            }
        }
        return batch
    }
}

struct Breach: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Result where Failure == JournalError {
    fileprivate var answer: History.Answer {
        switch self {
        case .success: .done
        case .failure(let error): .failed(error)
        }
    }
}

extension RejectionCause {
    /// Follows from a blacklisting.
    static let blacklisted = RejectionCause(
        reason: .unregistered, status: 410, timestamp: nil, rejectedAt: WallTime(milliseconds: 1_700_000_001_000))
    static let ours = RejectionCause(
        reason: .shutdown, status: nil, timestamp: nil, rejectedAt: WallTime(milliseconds: 1_700_000_001_000))
}
