import Foundation
import Holdfast
import HoldfastJournal
import Testing

/// A journal as simple as can be: dictionaries.
private struct Model {
    struct Entry: Equatable {
        var number: Int
        var attempts: UInt16 = 0
    }

    var next: UInt64 = 1
    var entries: [LaneID: [UInt64: Entry]] = [:]
    var deferred: [LaneID: [UInt64: (due: Int64, entry: Entry)]] = [:]
    var rejections: Set<UInt64> = []
    var totals = JournalTotals()

    mutating func append(_ items: [(LaneID, Int)]) -> UID {
        defer { next += UInt64(items.count) }
        for (index, (lane, number)) in items.enumerated() {
            entries[lane, default: [:]][next + UInt64(index)] = Entry(number: number)
        }
        totals.accepted += UInt64(items.count)
        return UID(next)
    }

    mutating func take(_ key: EntryKey) -> Bool {
        if entries[key.lane]?.removeValue(forKey: key.uid.rawValue) != nil { return true }
        return deferred[key.lane]?.removeValue(forKey: key.uid.rawValue) != nil
    }

    mutating func settle(_ batch: SettlementBatch) -> SettlementReport {
        var report = SettlementReport(settled: 0, gone: 0)
        for key in batch.acknowledged {
            let settled = take(key)
            if settled { totals.confirmed += 1 }
            report.settled += settled ? 1 : 0
            report.gone += settled ? 0 : 1
        }
        for settlement in batch.others {
            let settled = settle(settlement)
            report.settled += settled ? 1 : 0
            report.gone += settled ? 0 : 1
        }
        return report
    }

    private mutating func settle(_ settlement: Settlement) -> Bool {
        let key = settlement.key
        switch settlement.kind {
        case .deferUntil(let due, let attempts, _):
            guard var entry = entries[key.lane]?.removeValue(forKey: key.uid.rawValue) else { return false }
            entry.attempts = attempts
            deferred[key.lane, default: [:]][key.uid.rawValue] = (due.milliseconds, entry)
            return true
        case .reject:
            guard take(key) else { return false }
            rejections.insert(key.uid.rawValue)
            totals.rejected += 1
        case .expire:
            guard take(key) else { return false }
            totals.expired += 1
        case .unknown:
            guard take(key) else { return false }
            totals.unknown += 1
        }
        return true
    }

    mutating func promote(_ lane: LaneID, now: Int64, limit: Int) -> [UID] {
        let due = (deferred[lane] ?? [:]).filter { $0.value.due <= now }
            .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.prefix(limit)
        for (uid, value) in due {
            deferred[lane]?[uid] = nil
            entries[lane, default: [:]][uid] = value.entry
        }
        return due.map { UID($0.key) }
    }
}

/// A generator that can be started again from a number.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite("Against a model")
struct ModelTests {
    /// Set `HOLDFAST_SEED` to run one seed again.
    static let seeds: [UInt64] = {
        if let text = ProcessInfo.processInfo.environment["HOLDFAST_SEED"], let seed = UInt64(text) { return [seed] }
        return [1, 2, 3, UInt64.random(in: 4...UInt64.max)]
    }()

    @Test("Random operations leave the journal as they leave the model, across reopening", arguments: seeds)
    func random(seed: UInt64) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var generator = SplitMix64(state: seed)
        var model = Model()
        var journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let keys = [immediate, considerate, once]
        var lanes = try keys.map { try journal.openLane($0).id }
        for step in 0..<400 {
            try operate(&model, journal, lanes, &generator, "seed \(seed), step \(step)")
            if step % 100 == 99 {
                journal.close()
                journal = try LMDBJournal(directory: scratch.journal)
                lanes = try keys.map { try journal.openLane($0).id }
            }
            if step % 20 == 19 { try compare(model, journal, lanes, "seed \(seed), step \(step)") }
        }
        // And then it drains.
        for lane in lanes {
            try journal.acknowledge(try journal.uids(lane), lane)
            _ = try journal.promote(lane, now: .max)
            try journal.acknowledge(try journal.uids(lane), lane)
            #expect(journal.depth(lane) == 0, "seed \(seed)")
        }
    }

    private func operate(
        _ model: inout Model, _ journal: LMDBJournal, _ lanes: [LaneID], _ generator: inout SplitMix64, _ place: Comment
    ) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4:
            var submission = Submission()
            var items: [(LaneID, Int)] = []
            let onlyLane = Bool.random(using: &generator) ? lanes.randomElement(using: &generator) : nil
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                let lane = onlyLane ?? lanes[Int.random(in: 0..<3, using: &generator)]
                let number = Int.random(in: 0..<1000, using: &generator)
                // Some lie in overflow pages.
                let payload = Int.random(in: 0..<8, using: &generator) == 0 ? 4000 : 100
                submission.add(sample(number, payloadByteCount: payload), lane)
                items.append((lane, number * 10_000 + payload))
            }
            #expect(try journal.append(submission) == model.append(items), place)
        case 4..<9:
            let batch = randomBatch(model, lanes, &generator)
            #expect(try journal.settle(batch) == model.settle(batch), place)
        default:
            guard let lane = lanes.randomElement(using: &generator) else { return }
            let now = Int64.random(in: -100...1000, using: &generator)
            let limit = Int.random(in: 0...50, using: &generator)
            let promoted = try journal.promote(lane, now: now, limit: limit)
            #expect(promoted == model.promote(lane, now: now, limit: limit), place)
        }
    }

    private func randomBatch(_ model: Model, _ lanes: [LaneID], _ generator: inout SplitMix64) -> SettlementBatch {
        var batch = SettlementBatch()
        for _ in 0..<Int.random(in: 0...70, using: &generator) {
            let uid = UID(UInt64.random(in: 1...max(model.next, 2), using: &generator))
            let lane =
                lanes.first { model.entries[$0]?[uid.rawValue] != nil }
                ?? lanes[Int.random(in: 0..<3, using: &generator)]
            let key = EntryKey(lane: lane, uid: uid)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6: batch.acknowledged.append(key)
            case 6: batch.others.append(Settlement(key, .reject(rejection)))
            case 7: batch.others.append(Settlement(key, .expire))
            case 8: batch.others.append(Settlement(key, .unknown))
            default:
                let due = WallTime(milliseconds: Int64.random(in: -100...1000, using: &generator))
                let attempts = UInt16.random(in: 1...9, using: &generator)
                batch.others.append(
                    Settlement(
                        key, .deferUntil(due, attempts: attempts, reason: .serviceUnavailable, possiblySent: false)))
            }
        }
        return batch
    }

    private func compare(_ model: Model, _ journal: LMDBJournal, _ lanes: [LaneID], _ place: Comment) throws {
        var unconfirmed = 0
        for lane in lanes {
            let entries = model.entries[lane] ?? [:]
            let deferred = model.deferred[lane] ?? [:]
            let found = try journal.all(lane, limit: 37)
            #expect(found.map(\.uid.rawValue) == entries.keys.sorted(), place)
            for entry in found {
                guard let expected = entries[entry.uid.rawValue] else { continue }
                let wanted = sample(expected.number / 10_000, payloadByteCount: expected.number % 10_000)
                #expect(entry.attempts == expected.attempts && entry.notification.payload == wanted.payload, place)
            }
            #expect(journal.depth(lane) == entries.count + deferred.count, place)
            #expect(try journal.nextDue(lane)?.milliseconds == deferred.values.map(\.due).min(), place)
            unconfirmed += entries.count + deferred.count
        }
        let status = try journal.status()
        #expect(status.unconfirmed == unconfirmed, place)
        #expect(status.rejections == model.rejections.count, place)
        #expect(status.totals == model.totals, place)
        #expect(status.nextUID == UID(model.next), place)
    }
}
