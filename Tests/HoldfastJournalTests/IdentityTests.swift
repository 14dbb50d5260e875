import Foundation
import Holdfast
import HoldfastAPNsAnswers
import Testing

@testable import HoldfastJournal

@Suite("Identities")
struct IdentityTests {
    private func identity(_ number: UInt64) -> Identity {
        var generator = SplitMix64(state: number)
        return Identity(high: generator.next(), low: generator.next())
    }

    /// Notifications each with the identity of its number; 0 has none.
    private func named(_ numbers: [UInt64], _ lane: LaneID, at time: WallTime = acceptance) -> Submission {
        var named = submission(numbers.map(Int.init), lane)
        named.acceptedAt = time
        named.identities = numbers.enumerated().filter { $0.element != 0 }.map { ($0.offset, identity($0.element)) }
        return named
    }

    private func open(_ scratch: Scratch, limit: Int = 16 << 30) throws -> (LMDBJournal, LaneID) {
        var options = LMDBJournal.Options()
        options.limit = limit
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        _ = try journal.openProducer("default")
        return (journal, try journal.openLane(immediate).id)
    }

    @Test("A repeat is not appended again, and hears what became of the first; the others have UIDs one by one")
    func repeats() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try open(scratch)
        #expect(try journal.append(named([1, 0, 2, 3, 4, 5], lane)) == Appended(first: UID(1)))
        try journal.acknowledge([UID(1), UID(2)], lane)
        try journal.settle(UID(3), lane, .reject(rejection))
        try journal.settle(UID(4), lane, .expire)
        try journal.settle(
            UID(5), lane, .deferUntil(acceptance, attempts: 1, reason: .shutdown, possiblySent: true))
        try journal.settle(UID(5), lane, .unknown)
        let expected: [(UInt64, UInt64, TerminalOutcome?)] = [
            (1, 1, .confirmed), (2, 3, .rejected(.badDeviceToken)), (3, 4, .expired), (4, 5, .unknown), (5, 6, nil),
        ]
        // Once by the index that was filled by appending, once by the one that is read from the table.
        for round in 0..<2 as Range<UInt64> {
            let appended = try journal.append(named([1, 0, 2, 3, 6 + round, 4, 5, 0], lane))
            #expect(appended.first == UID(7 + 3 * round))
            #expect(appended.repeats.map(\.index) == [0, 2, 3, 5, 6])
            #expect(appended.repeats.map(\.uid.rawValue) == expected.map(\.1))
            #expect(appended.repeats.map(\.outcome) == expected.map(\.2))
            #expect(try journal.uids(lane).suffix(3) == uids(7 + 3 * round...9 + 3 * round)[...])
            journal.close()
            (journal, lane) = try open(scratch)
        }
        #expect(try journal.status().identities == 7)
        #expect(try journal.fate(of: UID(4)) == .settled(.expired))
        journal.close()
    }

    @Test("Of two equal ones in one submission, and of two in one commit, the second is a repeat of the first")
    func withinOneCommit() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try open(scratch)
        defer { journal.close() }
        let appended = try journal.append(named([1, 2, 1, 3, 2], lane))
        #expect(appended.first == UID(1))
        #expect(
            appended.repeats == [
                .init(index: 2, uid: UID(1), outcome: nil), .init(index: 4, uid: UID(2), outcome: nil),
            ])
        // The writer is held in a completion until both wait for it, and so share a commit.
        let (hold, held) = (Box<Bool>(), Box<Bool>())
        journal.settle(SettlementBatch()) { _ in
            held.put(true)
            _ = try? hold.get()
        }
        _ = try held.get()
        let (one, two) = (Box<Result<Appended, JournalError>>(), Box<Result<Appended, JournalError>>())
        journal.append(named([7, 8], lane)) { one.put($0) }
        journal.append(named([9, 8], lane)) { two.put($0) }
        hold.put(true)
        #expect(try one.get().get() == Appended(first: UID(4)))
        let second = try two.get().get()
        #expect(second == Appended(first: UID(6), repeats: [.init(index: 1, uid: UID(5), outcome: nil)]))
        #expect(try journal.append(named([1, 2, 3], lane)).repeats.count == 3)
        #expect(try journal.uids(lane) == uids(1...6))
    }

    @Test("What was refused is not remembered: it is accepted when there is room")
    func refused() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try open(scratch, limit: 2 << 20)
        defer { journal.close() }
        var next: UInt64 = 1
        while true {
            do {
                _ = try journal.append(named((next..<next + 100).map(\.self), lane))
                next += 100
            } catch { break }
        }
        try journal.acknowledge(try journal.uids(lane), lane)
        try journal.trim(TrimBounds(greatestIdentities: 0))
        let again = try journal.append(named((next..<next + 100).map(\.self), lane))
        #expect(again.repeats.isEmpty)
        #expect(try journal.append(named((next..<next + 100).map(\.self), lane)).repeats.count == 100)
    }

    /// Has `count` notifications accepted and confirmed, 500 at a time.
    private func deliver(_ count: UInt64, _ journal: LMDBJournal, _ lane: LaneID) throws {
        for start in stride(from: 1, through: count, by: 500) {
            let first = try journal.append(named(Array(start..<start + 500), lane)).first.rawValue
            try journal.acknowledge(uids(first...first + 499), lane)
        }
    }

    @Test("Remembered ids never fill a journal: the oldest give way to what comes, and the newest are known")
    func giveWay() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try open(scratch, limit: 1 << 20)
        defer { journal.close() }
        // Nearly twice as many as would fill it.
        try deliver(30_000, journal, lane)
        let status = try journal.status()
        #expect(status.unconfirmed == 0 && status.usedBytes < 600_000, "\(status.usedBytes)")
        #expect(status.identities > 2000 && status.identities < 5000, "\(status.identities)")
        #expect(try journal.append(named(Array(29_001...30_000), lane)).repeats.count == 1000)
        #expect(try journal.append(named([1, 2, 3], lane)).repeats.isEmpty)
        #expect(journal.wantOfRoom == nil)
    }

    @Test("A journal that is full of remembered ids when it is opened, as by a lower limit, forgets the oldest")
    func lowerLimit() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try open(scratch)
        try deliver(20_000, journal, lane)
        #expect(try journal.status().identities == 20_000)
        journal.close()
        (journal, lane) = try open(scratch, limit: 1 << 20)
        for _ in 0..<2000 {
            if try journal.status().identities < 5000 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try journal.status().identities < 5000)
        let appended = try journal.append(named([1, 20_000], lane))
        #expect(appended.repeats.map(\.index) == [1])
        journal.close()
    }

    @Test("One half in common is not enough")
    func halves() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try open(scratch)
        defer { journal.close() }
        for high in 0..<5 as Range<UInt64> {
            var one = submission([1, 2], lane)
            one.identities = [
                (0, Identity(high: high, low: 0xABCD)), (1, Identity(high: 0xABCD, low: high)),
            ]
            #expect(try journal.append(one).repeats.isEmpty)
            #expect(try journal.append(one).repeats.map(\.index) == [0, 1])
        }
    }

    @Test("Trimming by age and by number forgets the oldest, from the index too, and others stay; across reopening")
    func trim() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try open(scratch)
        for day in 0..<30 as Range<UInt64> {
            _ = try journal.append(
                named((day * 100 + 1...day * 100 + 100).map(\.self), lane, at: WallTime(milliseconds: Int64(day))))
        }
        #expect(try journal.trim(TrimBounds(identitiesBefore: .init(milliseconds: 12))) == Trimmed(identities: 1200))
        #expect(try journal.trim(TrimBounds(greatestIdentities: 1500)) == Trimmed(identities: 300))
        // One is still unconfirmed whose identity is forgotten; it ends as any other.
        try journal.acknowledge([UID(1), UID(1501)], lane)
        for _ in 0..<2 {
            let repeats = try journal.append(named([1501, 1502, 3000], lane)).repeats
            #expect(repeats.map(\.outcome) == [.confirmed, nil, nil])
            #expect(try journal.status().identities == 1500)
            journal.close()
            (journal, lane) = try open(scratch)
        }
        #expect(try journal.append(named([1, 1500], lane)).repeats.isEmpty)
        journal.close()
    }

    @Test("The key is made with the journal, stays with it, and is another's in another")
    func key() throws {
        let (one, two) = (Scratch(), Scratch())
        defer {
            one.remove()
            two.remove()
        }
        var journal = try LMDBJournal(directory: one.journal)
        let key = journal.identityKey
        journal.close()
        journal = try LMDBJournal(directory: one.journal)
        #expect(journal.identityKey == key)
        journal.close()
        journal = try LMDBJournal(directory: two.journal)
        #expect(journal.identityKey != key)
        journal.close()
    }
}
