import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import Testing

@Suite("Settling")
struct SettleTests {
    @Test("Each kind of settlement does what it says, durably, and is counted once")
    func kinds() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<6, to: lane)
        let due = WallTime(milliseconds: 5000)
        let report = try journal.settle(
            SettlementBatch(
                acknowledging: [EntryKey(lane: lane, uid: UID(2)), EntryKey(lane: lane, uid: UID(1))],
                others: [
                    Settlement(EntryKey(lane: lane, uid: UID(3)), .reject(rejection)),
                    Settlement(EntryKey(lane: lane, uid: UID(4)), .expire),
                    Settlement(EntryKey(lane: lane, uid: UID(5)), .unknown),
                    Settlement(
                        EntryKey(lane: lane, uid: UID(6)),
                        .deferUntil(due, attempts: 2, reason: .tooManyRequests, possiblySent: false)),
                ], possibleDuplicates: 3))
        #expect(report == SettlementReport(settled: 6, gone: 0))
        journal.close()

        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let status = try journal.status()
        #expect(status.unconfirmed == 1)
        #expect(status.deferred == 1)
        #expect(status.rejections == 1)
        #expect(status.totals.accepted == 6)
        #expect(status.totals.confirmed == 2)
        #expect(status.totals.rejected == 1)
        #expect(status.totals.expired == 1)
        #expect(status.totals.unknown == 1)
        #expect(status.totals.possibleDuplicates == 3)
        #expect(try journal.uids(lane) == [])
        #expect(try journal.nextDue(lane) == due)
        #expect(journal.depth(lane) == 1)
    }

    @Test("A settlement of an entry that is gone is counted and changes nothing: the first durable one wins")
    func gone() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<1, to: lane)
        let key = EntryKey(lane: lane, uid: UID(1))
        #expect(
            try journal.settle(SettlementBatch(acknowledging: [key, key])) == SettlementReport(settled: 1, gone: 1))
        // The late 503 of the first attempt must not write the entry back.
        #expect(
            try journal.settle(
                UID(1), lane,
                .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .serviceUnavailable, possiblySent: false)
            ).gone == 1)
        #expect(try journal.settle(UID(1), lane, .reject(rejection)).gone == 1)
        let status = try journal.status()
        #expect(status.unconfirmed == 0)
        #expect(status.rejections == 0)
        #expect(status.totals.confirmed == 1)
        #expect(status.totals.rejected == 0)
    }

    @Test("A late final answer wins over a deferral, a late deferral does not")
    func lateAnswers() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<3, to: lane)
        for uid in uids(1...3) {
            try journal.settle(
                uid, lane,
                .deferUntil(.init(milliseconds: 10), attempts: 1, reason: .serviceUnavailable, possiblySent: false))
        }
        #expect(try journal.acknowledge([UID(1)], lane).settled == 1)
        #expect(try journal.settle(UID(2), lane, .reject(rejection)).settled == 1)
        #expect(
            try journal.settle(
                UID(3), lane, .deferUntil(.init(milliseconds: 99), attempts: 7, reason: .shutdown, possiblySent: false)
            ).gone
                == 1)
        #expect(try journal.nextDue(lane) == WallTime(milliseconds: 10))
        #expect(try journal.promote(lane, now: 10) == [UID(3)])
        #expect(try journal.all(lane).map(\.attempts) == [1])
        #expect(try journal.status().deferred == 0)
    }

    @Test("Deferred entries come back oldest due first, at most as many as asked for, with their attempts")
    func promotion() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        let other = try journal.openLane(considerate).id
        _ = try journal.append(0..<6, to: lane)
        _ = try journal.append(0..<1, to: other)
        let dues: [(UInt64, Int64)] = [(1, 300), (2, 100), (3, -5), (4, 900), (5, 100)]
        for (uid, due) in dues {
            try journal.settle(
                UID(uid), lane,
                .deferUntil(.init(milliseconds: due), attempts: UInt16(uid), reason: .shutdown, possiblySent: false))
        }
        try journal.settle(
            UID(7), other, .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .shutdown, possiblySent: false))
        #expect(try journal.promote(lane, now: -6) == [])
        #expect(try journal.promote(lane, now: 300, limit: 2) == [UID(3), UID(2)])
        #expect(try journal.promote(lane, now: 300) == [UID(5), UID(1)])
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let entries = try journal.all(lane)
        #expect(entries.map(\.uid.rawValue) == [1, 2, 3, 5, 6])
        #expect(entries.map(\.attempts) == [1, 2, 3, 5, 0])
        #expect(entries[1].notification.payload == sample(1).payload)
        #expect(try journal.nextDue(lane) == WallTime(milliseconds: 900))
        #expect(try journal.nextDue(other) == WallTime(milliseconds: 1))
        #expect(journal.depth(lane) == 6)
    }

    @Test("A settlement and a promotion of thousands take several commits, and answer once")
    func large() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<7300, to: lane)
        let commits = Monitor(0)
        try journal.observeCommits { _ in commits.withLock { $0 += 1 } }
        let others = uids(4001...7300).map { uid in
            Settlement(
                EntryKey(lane: lane, uid: uid),
                .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .shutdown, possiblySent: false))
        }
        let batch = SettlementBatch(
            acknowledging: uids(1...4500).shuffled().map { uid in EntryKey(lane: lane, uid: uid) }, others: others,
            possibleDuplicates: 1)
        // 4500 are acknowledged, and 500 of the others are gone by then.
        #expect(try journal.settle(batch) == SettlementReport(settled: 7300, gone: 500))
        // More where the time for one was over before.
        #expect(commits.withLock { $0 } >= 8)
        #expect(try journal.status().totals.possibleDuplicates == 1)
        let promoted = try journal.promote(lane, now: 1, limit: 2500)
        #expect(promoted == uids(4501...7000))
        #expect(try journal.promote(lane, now: 1, limit: .max) == uids(7001...7300))
        #expect(try journal.uids(lane) == uids(4501...7300))
    }

    @Test("Entries are found by UID unless they are settled or deferred")
    func byUID() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<10, to: lane)
        try journal.acknowledge([UID(2)], lane)
        try journal.settle(
            UID(5), lane, .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .shutdown, possiblySent: false))
        let batch = try journal.unconfirmed(lane, uids: [1, 2, 5, 9, 30].map { UID($0) })
        #expect(batch.items.map(\.uid) == [UID(1), UID(9)])
        #expect(try batch.notification(at: 1).payload == sample(8).payload)
    }

    @Test("A read goes no further than it was told, in UIDs, in entries and in bytes")
    func readBounds() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<1000, to: lane, payloadByteCount: 4000)
        #expect(
            try journal.unconfirmed(lane, after: UID(3), through: UID(7), limit: 100).items.map(\.uid) == uids(4...7))
        #expect(try journal.unconfirmed(lane, after: UID(3), through: .max, limit: 2).count == 2)
        #expect(try journal.unconfirmed(lane, after: UID(7), through: UID(7), limit: 2).isEmpty)
        #expect(try journal.unconfirmed(lane, after: .max, through: .max, limit: 2).isEmpty)
        let large = try journal.unconfirmed(lane, after: .none, through: .max, limit: 1000)
        #expect(large.bytes.count >= 1 << 20 && large.bytes.count < 1 << 20 + 5000)
        #expect(try journal.all(lane).map(\.uid) == uids(1...1000))
    }

    @Test("Removed rejections are gone, the others stay")
    func removeRejections() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<3, to: lane)
        for uid in uids(1...3) { try journal.settle(uid, lane, .reject(rejection)) }
        #expect(try journal.removeRejections([UID(1), UID(3), UID(4)]) == 2)
        #expect(try journal.status().rejections == 1)
    }
}
