import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("The blacklist's storage")
struct BlacklistTests {
    private func entry(_ number: Int, since: Int64 = 1_700_000_000_000, addition: UInt64 = 0) -> BlacklistEntry {
        BlacklistEntry(
            token: sample(number).token!, reason: .unregistered, since: WallTime(milliseconds: since),
            learntAt: WallTime(milliseconds: 1_700_000_000_999), route: "default", number: addition)
    }

    @Test("What is added is found, counted and listed, across reopening, until it is removed")
    func lifeCycle() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        #expect(journal.blacklist.count == 0)
        try journal.blacklist.add([entry(1), entry(2), entry(300)])
        try journal.blacklist.add([entry(2, since: 1_700_000_000_005)])
        #expect(journal.blacklist.count == 3)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.blacklist.count == 3)
        #expect(
            try journal.blacklist.entries(for: sample(2).recipient).first
                == entry(2, since: 1_700_000_000_005, addition: 4))
        #expect(try journal.blacklist.entries(for: sample(3).recipient).first == nil)
        let listed = try journal.blacklist.list(after: nil, limit: 10)
        #expect(
            Set(listed) == [
                entry(1, addition: 1), entry(2, since: 1_700_000_000_005, addition: 4), entry(300, addition: 3),
            ])
        #expect(listed.map(\.recipient.text) == listed.map(\.recipient.text).sorted())
        #expect(try journal.blacklist.list(after: listed[0].recipient, limit: 1) == [listed[1]])
        #expect(try journal.status().blacklist == 3)
        #expect(try journal.blacklist.remove([sample(1).recipient, sample(9).recipient]) == 1)
        #expect(journal.blacklist.count == 2)
        #expect(try journal.blacklist.entries(for: sample(1).recipient).first == nil)
    }

    @Test("Of two entries of one token the one with the later since stays, in whatever order they come")
    func laterSince() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try journal.blacklist.add([entry(1, since: 20), entry(2, since: 10), entry(2, since: 20)])
        try journal.blacklist.add([entry(1, since: 10)])
        #expect(try journal.blacklist.entries(for: sample(1).recipient).first == entry(1, since: 20, addition: 1))
        #expect(try journal.blacklist.entries(for: sample(2).recipient).first == entry(2, since: 20, addition: 3))
        #expect(journal.blacklist.count == 2)
    }

    @Test("A registration lifts the entry only when it is strictly newer than its since")
    func lift() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1, since: 10), entry(2, since: 10), entry(3, since: 10)])
        try journal.blacklist.lift(
            [(1, 9), (2, 10), (3, 11), (4, 11)].map { number, time in
                TokenRegistration(
                    recipient: sample(number).recipient, topic: "com.example.app", endpoint: "service",
                    registeredAt: WallTime(milliseconds: time))
            })
        #expect(journal.blacklist.count == 2)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(
            try journal.blacklist.list(after: nil, limit: 9)
                == [1, 2].map { entry($0, since: 10, addition: UInt64($0)) })
    }

    /// Waits until the filter is built.
    private func ready(_ journal: LMDBJournal) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !journal.tokens.filter.isReady {
            guard ContinuousClock.now < end else { throw TimedOut() }
            await Task.yield()
        }
    }

    @Test("From the threshold on tokens that are not on the list are not looked for in the store; after reopening too")
    func filter() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.blacklistFilterThreshold = 1000
        var journal = try LMDBJournal(directory: scratch.journal, options: options)
        try journal.blacklist.add((0..<999).map { entry($0) })
        #expect(!journal.tokens.filter.isReady)
        try journal.blacklist.add([entry(999)])
        try await ready(journal)
        let lane = try journal.openLane(immediate).id
        try journal.append(995..<1195, to: lane)
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 500)
        for _ in 0..<2 {
            #expect(try journal.blacklist.lookUp(batch).entries.map(\.index) == [0, 1, 2, 3, 4])
            let before = journal.tokens.readCount
            for number in 2000..<4000 {
                #expect(try journal.blacklist.entries(for: sample(number).recipient).first == nil)
            }
            #expect(journal.tokens.readCount - before < 60)
            let others = try journal.unconfirmed(lane, after: UID(5), through: .max, limit: 20)
            let misses = journal.tokens.readCount
            for _ in 0..<100 { _ = try journal.blacklist.lookUp(others) }
            #expect([0, 100].contains(journal.tokens.readCount - misses))
            journal.close()
            journal = try LMDBJournal(directory: scratch.journal, options: options)
            try await ready(journal)
        }
        #expect(try journal.blacklist.remove([sample(3).recipient]) == 1)
        #expect(try journal.blacklist.entries(for: sample(3).recipient).first == nil)
        journal.close()
    }

    @Test(
        "The filter never hides an entry that was added before, while it is being built, or while it is built anew",
        arguments: [1, 2, UInt64.random(in: 3...UInt64.max)])
    func filterUnderAdditions(seed: UInt64) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        // Built early, and several times while the others add.
        options.blacklistFilterThreshold = 500
        options.greatestBlacklistFilter = 8 << 10
        // So that a building takes a while.
        options.blacklistFilterStretch = 7
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        try journal.blacklist.add((1_000_000..<1_000_450).map { entry($0) })
        let (threads, rounds) = (3, 150)
        let hidden = Monitor<[Int]>([])
        let done = Monitor(0)
        for thread in 0..<threads {
            Thread.detachNewThread { [self] in
                var generator = SplitMix64(state: seed &+ UInt64(thread))
                var mine: [Int] = []
                for round in 0..<rounds {
                    let more = (0..<Int.random(in: 1...40, using: &generator)).map {
                        thread * 100_000 + round * 50 + $0
                    }
                    do {
                        try journal.blacklist.add(more.map { entry($0) })
                        mine += more
                        let old = (0..<10).compactMap { _ in mine.randomElement(using: &generator) }
                        for number in more + old
                        where try journal.blacklist.entries(for: sample(number).recipient).first == nil {
                            hidden.withLock { hidden in hidden.append(number) }
                        }
                    } catch {
                        hidden.withLock { hidden in hidden.append(-1) }
                    }
                }
                done.withLock { done in done += 1 }
                done.broadcast()
            }
        }
        let finished = done.wait(atMost: .seconds(120)) { done in done == threads ? true : nil }
        #expect(finished == true, "seed \(seed)")
        #expect(hidden.withLock { $0 } == [], "seed \(seed)")
        #expect(journal.tokens.filter.isReady, "seed \(seed)")
    }

    @Test("A batch is looked up as a whole, and only the tokens that are on the list come back")
    func batch() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<500, to: lane)
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 500)
        #expect(try journal.blacklist.lookUp(batch).entries.isEmpty)
        try journal.blacklist.add([entry(7), entry(499), entry(1000)])
        let found = try journal.blacklist.lookUp(batch).entries
        #expect(found.map(\.index) == [7, 499])
        #expect(found.map(\.entry) == [entry(7, addition: 1), entry(499, addition: 2)])
    }

    @Test("More than one snapshot's worth is listed whole")
    func long() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try journal.blacklist.add((0..<12_000).map { entry($0) })
        #expect(try journal.blacklist.list(after: nil, limit: .max).count == 12_000)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.blacklistEntries(limit: 11_000).count == 11_000)
        #expect(try reader.blacklistEntries(for: sample(11_999).recipient).first == entry(11_999, addition: 12_000))
        #expect(try reader.status().blacklist == 12_000)
    }

    @Test("An entry that lies under another token's key is damage")
    func misplaced() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1)])
        journal.close()
        let environment = try Environment.open(
            scratch.journal + "/blacklist", .readWrite, mapByteCount: nil, tables: 8)
        do {
            let transaction = try WriteTransaction(environment)
            let tokens = try transaction.table("tokens")
            let (first, second) = (sample(1).recipient.address, sample(2).recipient.address)
            let value = try transaction.get(first.span, in: tokens) ?? []
            try transaction.put(second.span, value.span, in: tokens)
            try transaction.commit()
        }
        environment.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.blacklistEntries(for: sample(1).recipient).first == entry(1, addition: 1))
        let error = #expect(throws: JournalError.self) { try reader.blacklistEntries(for: sample(2).recipient) }
        #expect(error?.code == .damaged)
        // No token reaches a message whole.
        #expect(error?.message.contains(sample(2).recipient.text) == false)
    }

    @Test("A record that cannot be read hides no other: a look-up names it, and a listing leaves it out")
    func unreadable() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(1..<5, to: lane)
        try journal.blacklist.add([entry(1), entry(2), entry(3)])
        journal.close()
        let damaged = try #require(sample(2).token)
        try change(scratch) { transaction, tokens, _ in
            var value = try transaction.get(damaged.bytes.span, in: tokens) ?? []
            value[20] ^= 1
            try transaction.put(damaged.bytes.span, value.span, in: tokens)
        }
        journal = try LMDBJournal(directory: scratch.journal)
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 10)
        let found = try journal.blacklist.lookUp(batch)
        #expect(found.entries.map(\.index) == [0, 2])
        #expect(found.unreadable.map(\.index) == [1])
        #expect(found.unreadable.first?.fault == .damaged("its checksum is wrong"))
        #expect(try journal.blacklist.list(after: nil, limit: 10).count == 2)
        // Page by page nothing is lost, whatever lies at the edge.
        let reader = try JournalReader(directory: scratch.journal)
        var (tokens, unreadable, last): ([Recipient], Int, Recipient?) = ([], 0, nil)
        while true {
            let page = try reader.blacklistPage(after: last, limit: 1)
            unreadable += page.unreadableCount
            if let recipient = page.firstUnreadable?.recipient { #expect(recipient == .device(damaged)) }
            guard let next = page.entries.last?.recipient else { break }
            (tokens, last) = (tokens + [next], next)
        }
        reader.close()
        #expect(tokens.count == 2 && unreadable == 1)
        #expect(try journal.blacklist.remove([.device(damaged)]) == 1)
        #expect(try journal.blacklist.lookUp(batch).unreadable.isEmpty)
        journal.close()
    }

    /// Changes the store as something else than this journal would.
    private func change(
        _ scratch: Scratch, _ body: (borrowing WriteTransaction, _ tokens: Table, _ facts: Table) throws -> Void
    ) throws {
        let environment = try Environment.open(
            scratch.journal + "/blacklist", .readWrite, mapByteCount: nil, tables: 8)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        try body(transaction, try transaction.table("tokens"), try transaction.table("facts"))
        try transaction.commit()
    }

    @Test("A blacklist of the older format is read; what is added to it is numbered from 1")
    func older() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let token = try DeviceToken("deadbeef")
        let golden: [UInt8] = [
            0x21, 0xcd, 0x36, 0xa0, 0xa3, 0xd1, 0xf2, 0xaf, 0x48, 0x46, 0x74, 0x6b, 0x01, 0x07, 0x0c, 0x00, 0x00, 0x68,
            0xe5, 0xcf, 0x8b, 0x01, 0x00, 0x00, 0xe7, 0x6b, 0xe5, 0xcf, 0x8b, 0x01, 0x00, 0x00, 0x55, 0x6e, 0x72, 0x65,
            0x67, 0x69, 0x73, 0x74, 0x65, 0x72, 0x65, 0x64, 0x64, 0x65, 0x66, 0x61, 0x75, 0x6c, 0x74,
        ]
        try change(scratch) { transaction, tokens, facts in
            try transaction.put(token.bytes.span, golden.span, in: tokens)
            let key = LastNumber.key
            _ = try transaction.delete(key.span, in: facts)
        }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.blacklist.lastNumber == 0)
        let old = try #require(try journal.blacklist.entries(for: .device(token)).first)
        #expect((old.reason, old.topic, old.number) == (.unregistered, nil, 0))
        try journal.blacklist.add([entry(1)])
        #expect(try journal.blacklist.entries(for: sample(1).recipient).first?.number == 1)
    }

    @Test("Where the last number was lost, numbers go on far beyond those that somebody may have noted")
    func lostNumber() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1), entry(2), entry(3)])
        _ = try journal.blacklist.remove([sample(3).recipient])
        journal.close()
        for damage in [nil, [UInt8](repeating: 7, count: 16)] {
            try change(scratch) { transaction, _, facts in
                let key = LastNumber.key
                if let damage {
                    try transaction.put(key.span, damage.span, in: facts)
                } else {
                    _ = try transaction.delete(key.span, in: facts)
                }
            }
            journal = try LMDBJournal(directory: scratch.journal)
            let last = journal.blacklist.lastNumber
            #expect(last >= 2 + CopyRule.jump)
            try journal.blacklist.add([entry(4, since: Int64(last))])
            #expect(try journal.blacklist.entries(for: sample(4).recipient).first?.number == last + 1)
            journal.close()
            journal = try LMDBJournal(directory: scratch.journal)
            #expect(journal.blacklist.lastNumber == last + 1)
            journal.close()
        }
    }
}
