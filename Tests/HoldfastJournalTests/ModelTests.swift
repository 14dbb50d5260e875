import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import Testing

@Suite("Against a model")
struct ModelTests {
    /// Set `HOLDFAST_SEED` to run one seed again.
    static let seeds: [UInt64] = {
        if let text = ProcessInfo.processInfo.environment["HOLDFAST_SEED"], let seed = UInt64(text) { return [seed] }
        return [1, 2, 3, UInt64.random(in: 4...UInt64.max)]
    }()

    private static let keys = [immediate, considerate, once]

    /// A journal and the model that it is to be like.
    private struct Pair {
        var model = Model()
        var journal: LMDBJournal
        var lanes: [LaneID] = []
        var producers: [ProducerID] = []
        var generator: SplitMix64
        private let path: String

        init(_ path: String, seed: UInt64) throws {
            self.path = path
            generator = SplitMix64(state: seed)
            journal = try LMDBJournal(directory: path)
            try openAll()
        }

        private mutating func openAll() throws {
            lanes = try keys.map { try journal.openLane($0).id }
            producers = try ["default", "batch", "codes"].map { try journal.openProducer($0) }
        }

        mutating func reopen(_ place: Comment) throws {
            journal.close()
            journal = try LMDBJournal(directory: path)
            #expect(journal.wallTimeAtOpen == model.wallTime, place)
            try openAll()
        }
    }

    @Test("Random operations leave the journal as they leave the model, across reopening", arguments: seeds)
    func random(seed: UInt64) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var pair = try Pair(scratch.journal, seed: seed)
        defer { pair.journal.close() }
        for step in 0..<400 {
            let place: Comment = "seed \(seed), step \(step)"
            try operate(&pair, place)
            if step % 100 == 99 { try pair.reopen(place) }
            if step % 20 == 19 { try compare(&pair, place) }
        }
        // And then it drains.
        let journal = pair.journal
        for lane in pair.lanes {
            try journal.acknowledge(try journal.uids(lane), lane)
            _ = try journal.promote(lane, now: .max)
            try journal.acknowledge(try journal.uids(lane), lane)
            #expect(journal.depth(lane) == 0, "seed \(seed)")
        }
        for producer in pair.producers { #expect(journal.backlog(of: producer) == 0, "seed \(seed)") }
        #expect(try journal.status().possiblySent == 0, "seed \(seed)")
    }

    private func operate(_ pair: inout Pair, _ place: Comment) throws {
        switch Int.random(in: 0..<14, using: &pair.generator) {
        case 0..<4:
            let (submission, items) = randomSubmission(&pair)
            #expect(try pair.journal.append(submission) == pair.model.append(items, of: submission), place)
        case 4..<9:
            let batch = randomBatch(&pair)
            #expect(try pair.journal.settle(batch) == pair.model.settle(batch), place)
        case 9:
            guard let lane = pair.lanes.randomElement(using: &pair.generator) else { return }
            let top = UID(UInt64.random(in: 0...pair.model.next, using: &pair.generator))
            pair.journal.raiseMark(of: lane, to: top)
        case 10:
            try readAndTrimOutcomes(&pair, place)
        case 11:
            var bounds = TrimBounds()
            func choose(_ range: Range<Int>) -> Int? {
                Int.random(in: 0..<3, using: &pair.generator) == 0
                    ? Int.random(in: range, using: &pair.generator) : nil
            }
            bounds.rejectionsBefore = choose(0..<60).map { WallTime(milliseconds: Int64($0)) }
            bounds.greatestRejections = choose(20..<100)
            bounds.identitiesBefore = choose(0..<60).map { WallTime(milliseconds: Int64($0)) }
            bounds.greatestIdentities = choose(100..<600)
            bounds.asideBefore = choose(0..<60).map { WallTime(milliseconds: Int64($0)) }
            bounds.asideAfter = choose(90..<100).map { WallTime(milliseconds: Int64($0)) }
            bounds.greatestAside = choose(0..<100)
            #expect(try pair.journal.trim(bounds) == pair.model.trim(bounds), place)
        default:
            guard let lane = pair.lanes.randomElement(using: &pair.generator) else { return }
            let now = Int64.random(in: -100...1000, using: &pair.generator)
            let limit = Int.random(in: 0...50, using: &pair.generator)
            let promoted = try pair.journal.promote(lane, now: now, limit: limit)
            #expect(promoted == pair.model.promote(lane, now: now, limit: limit), place)
        }
    }

    /// Readers move, and the oldest outcomes go, but none that a reader is waited for.
    private func readAndTrimOutcomes(_ pair: inout Pair, _ place: Comment) throws {
        let journal = pair.journal
        let names = ["app", "hook"]
        for name in names where Bool.random(using: &pair.generator) {
            _ = try journal.openReader(name, isWaitedFor: name == "app")
            let newest = journal.outcomeLog.newest.rawValue
            let known = journal.outcomeReaders.first { $0.name == name }?.cursor.rawValue ?? 0
            let cursor = UInt64.random(in: min(known, newest)...newest, using: &pair.generator)
            try journal.setReader(name, to: OutcomeCursor(cursor))
            #expect(try journal.openReader(name, isWaitedFor: name == "app") == OutcomeCursor(cursor), place)
        }
        let before = try journal.allOutcomes()
        let bounds =
            Bool.random(using: &pair.generator)
            ? TrimBounds(outcomesBefore: WallTime(milliseconds: Int64.random(in: 0..<120, using: &pair.generator)))
            : TrimBounds(greatestOutcomeBytes: Int.random(in: 0...20_000, using: &pair.generator))
        let trimmed = try journal.trim(bounds)
        let gone = before.prefix(trimmed.outcomes)
        #expect(try journal.allOutcomes() == Array(before.dropFirst(trimmed.outcomes)), place)
        let lastRead = journal.outcomeReaders.filter(\.isWaitedFor).map(\.cursor).min()
        #expect(gone.allSatisfy { outcome in lastRead.map { outcome.cursor <= $0 } ?? true }, place)
        if let time = bounds.outcomesBefore { #expect(gone.allSatisfy { $0.settledAt < time }, place) }
        for outcome in gone { pair.model.outcomes[outcome.uid.rawValue] = nil }
    }

    private func randomSubmission(_ pair: inout Pair) -> (Submission, [(LaneID, Int)]) {
        var items: [(LaneID, Int)] = []
        var submission = Submission(
            producer: pair.producers[Int.random(in: 0..<3, using: &pair.generator)],
            acceptedAt: WallTime(milliseconds: Int64.random(in: 0..<100, using: &pair.generator)))
        let onlyLane = Bool.random(using: &pair.generator) ? pair.lanes.randomElement(using: &pair.generator) : nil
        let areNamed = Bool.random(using: &pair.generator)
        for index in 0..<Int.random(in: 0...60, using: &pair.generator) {
            let lane = onlyLane ?? pair.lanes[Int.random(in: 0..<3, using: &pair.generator)]
            let number = Int.random(in: 0..<1000, using: &pair.generator)
            // Some lie in overflow pages.
            let payload = Int.random(in: 0..<8, using: &pair.generator) == 0 ? 4000 : 100
            submission.add(sample(number, payloadByteCount: payload), lane)
            items.append((lane, number * 10_000 + payload))
            if areNamed, Bool.random(using: &pair.generator) {
                // Few enough that there are repeats, and that halves are shared.
                let identity = Identity(high: UInt64(number % 10), low: UInt64(number % 90) << 40)
                submission.identities.append((index, identity))
            }
        }
        return (submission, items)
    }

    private func randomBatch(_ pair: inout Pair) -> SettlementBatch {
        let model = pair.model
        var batch = SettlementBatch(
            possibleDuplicates: Int.random(in: 0..<3, using: &pair.generator),
            settledAt: WallTime(milliseconds: Int64.random(in: 0..<100, using: &pair.generator)),
            keepsOutcomes: Bool.random(using: &pair.generator))
        if Bool.random(using: &pair.generator) {
            batch.earliestTime = WallTime(milliseconds: Int64.random(in: 0..<100, using: &pair.generator))
        }
        for _ in 0..<Int.random(in: 0...70, using: &pair.generator) {
            let uid = UID(UInt64.random(in: 1...max(model.next, 2), using: &pair.generator))
            let lane =
                pair.lanes.first { model.entries[$0]?[uid.rawValue] != nil }
                ?? pair.lanes[Int.random(in: 0..<3, using: &pair.generator)]
            let key = EntryKey(lane: lane, uid: uid)
            switch Int.random(in: 0..<10, using: &pair.generator) {
            case 0..<4: batch.acknowledged.append(Acknowledgement(key))
            case 4: batch.quieted.append(key)
            case 5:
                guard let uid = model.aside.keys.sorted().randomElement(using: &pair.generator),
                    let entry = model.aside[uid]
                else { continue }
                let due = Int64.random(in: -100...1000, using: &pair.generator)
                let isWaiting = Bool.random(using: &pair.generator)
                let kind = Settlement.Kind.recall(
                    due: isWaiting ? nil : WallTime(milliseconds: due),
                    possiblySent: Bool.random(using: &pair.generator))
                batch.others.append(Settlement(EntryKey(lane: entry.lane, uid: UID(uid)), kind))
            case 6:
                let time = WallTime(milliseconds: Int64.random(in: 0..<100, using: &pair.generator))
                let cause = RejectionCause(
                    reason: uid.rawValue % 2 == 0 ? .unregistered : .badTopic, status: 410, rejectedAt: time)
                batch.others.append(Settlement(key, .reject(cause)))
            case 7: batch.others.append(Settlement(key, Bool.random(using: &pair.generator) ? .expire : .withdraw))
            case 8: batch.others.append(Settlement(key, .unknown))
            default:
                let due = WallTime(milliseconds: Int64.random(in: -100...1000, using: &pair.generator))
                let kind = Settlement.Kind.deferUntil(
                    due, attempts: UInt16.random(in: 1...9, using: &pair.generator), reason: .serviceUnavailable,
                    possiblySent: Bool.random(using: &pair.generator))
                batch.others.append(Settlement(key, kind))
            }
        }
        return batch
    }

    // MARK: Comparing

    private func compare(_ pair: inout Pair, _ place: Comment) throws {
        let (model, journal) = (pair.model, pair.journal)
        // A commit, so that marks raised before are where they will be.
        try journal.setNote("compare", to: [1])
        let status = try journal.status()
        let marks = Dictionary(uniqueKeysWithValues: status.lanes.map { ($0.id, $0.mark) })
        var unconfirmed = 0
        var possiblySent = 0
        for lane in pair.lanes {
            try compare(lane, model, journal, place)
            let mark = marks[lane]?.rawValue ?? 0
            unconfirmed += journal.depth(lane)
            possiblySent += (model.entries[lane] ?? [:]).count { $0.key <= mark || $0.value.isPossiblySent }
            possiblySent += (model.deferred[lane] ?? [:]).count { $0.value.entry.isPossiblySent }
        }
        #expect(status.unconfirmed == unconfirmed, place)
        #expect(status.possiblySent == possiblySent, place)
        #expect(status.rejections == model.rejections.count, place)
        #expect(status.outcomes == model.outcomes.count && journal.outcomeCount == model.outcomes.count, place)
        #expect(status.identities == model.identities.count, place)
        #expect(status.aside == model.aside.count, place)
        #expect(status.totals == model.totals, place)
        #expect(status.nextUID == UID(model.next), place)
        try compareRecords(pair, place)
        let keys = Dictionary(uniqueKeysWithValues: zip(pair.lanes, Self.keys))
        for _ in 0..<100 {
            let uid = UInt64.random(in: 1...model.next, using: &pair.generator)
            #expect(try journal.fate(of: UID(uid)) == model.fate(uid, keys, marks: marks), place)
        }
    }

    private func compare(_ lane: LaneID, _ model: Model, _ journal: LMDBJournal, _ place: Comment) throws {
        let entries = model.entries[lane] ?? [:]
        let deferred = model.deferred[lane] ?? [:]
        let found = try journal.all(lane, limit: 37)
        #expect(found.map(\.uid.rawValue) == entries.keys.sorted(), place)
        for entry in found {
            guard let expected = entries[entry.uid.rawValue] else { continue }
            let wanted = sample(expected.number / 10_000, payloadByteCount: expected.number % 10_000)
            #expect(entry.attempts == expected.attempts && entry.notification.payload == wanted.payload, place)
        }
        let flags = try journal.unconfirmed(lane, uids: entries.keys.sorted().prefix(50).map { UID($0) })
        for item in flags.items {
            #expect(item.isPossiblySent == entries[item.uid.rawValue]?.isPossiblySent, place)
        }
        #expect(journal.depth(lane) == entries.count + deferred.count, place)
        #expect(try journal.nextDue(lane)?.milliseconds == deferred.values.map(\.due).min(), place)
    }

    private func compareRecords(_ pair: Pair, _ place: Comment) throws {
        let (model, journal) = (pair.model, pair.journal)
        let producers = try journal.producers()
        #expect(producers.map(\.unconfirmed) == pair.producers.map { model.unconfirmed($0) }, place)
        #expect(producers.map(\.unconfirmed) == pair.producers.map { journal.backlog(of: $0) }, place)
        #expect(producers.map(\.totals) == pair.producers.map { model.producerTotals[$0] ?? JournalTotals() }, place)
        let names = Dictionary(uniqueKeysWithValues: producers.map { ($0.id, $0.name) })
        let outcomes = try journal.allOutcomes()
        #expect(outcomes.map(\.uid.rawValue).sorted() == model.outcomes.keys.sorted(), place)
        let log = journal.outcomeLog
        #expect(
            outcomes.map(\.cursor.rawValue) == Array(log.deleted.rawValue..<log.newest.rawValue).map { $0 + 1 }, place)
        let found = try journal.findOutcomes(OutcomeQuery(), before: nil, limit: .max, mostBytes: .max)
        #expect(found.outcomes == outcomes.reversed() && found.end == .start, place)
        for outcome in outcomes {
            let expected = model.outcomes[outcome.uid.rawValue]
            #expect(outcome.terminal == expected?.terminal && outcome.settledAt == expected?.settledAt, place)
            #expect(outcome.producer == expected.flatMap { names[$0.producer] }, place)
        }
        let rejections = try journal.rejections(after: .none, limit: .max)
        #expect(rejections.map(\.uid.rawValue) == model.rejections.keys.sorted(), place)
        for rejection in rejections {
            let expected = model.rejections[rejection.uid.rawValue]
            #expect(rejection.cause == expected?.cause, place)
            #expect(rejection.attempts == expected.map { Int($0.entry.attempts) }, place)
            #expect(rejection.producer == expected.flatMap { names[$0.entry.producer] }, place)
        }
    }
}
