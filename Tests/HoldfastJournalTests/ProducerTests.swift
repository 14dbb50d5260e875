import Holdfast
import HoldfastAPNsAnswers
import Testing

@testable import HoldfastJournal

@Suite("Producers")
struct ProducerTests {
    @Test("A name keeps its number, across reopening; names are told apart as Swift's strings are")
    func numbers() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let names = ["default", "batch", "Batch", "\u{E9}", String(repeating: "x", count: 64)]
        let numbers = try names.map { try journal.openProducer($0) }
        #expect(numbers == (1...5).map { ProducerID(rawValue: $0) })
        #expect(try journal.openProducer("batch") == numbers[1])
        // The same text in other code points.
        #expect(try journal.openProducer("e\u{301}") == numbers[3])
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(try names.reversed().map { try journal.openProducer($0) } == numbers.reversed())
        #expect(try journal.producers().map(\.name) == names)
        for name in ["", String(repeating: "x", count: 65)] {
            #expect(throws: JournalError.self) { try journal.openProducer(name) }
        }
    }

    @Test("The thousand-and-first name is refused with its own code, and the others go on")
    func tooMany() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        for number in 1...ProducerID.greatestCount { _ = try journal.openProducer("p\(number)") }
        let error = #expect(throws: JournalError.self) { try journal.openProducer("one more") }
        #expect(error?.code == .tooManyProducers)
        #expect(try journal.openProducer("p1000") == ProducerID(rawValue: 1000))
    }

    @Test("An append of a Producer that was never opened is refused, and takes nothing with it")
    func unknown() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let error = #expect(throws: JournalError.self) { try journal.append(submission(0..<3, lane)) }
        #expect(error?.code == .notFound)
        #expect(try journal.append(0..<1, to: lane) == UID(1))
    }

    @Test("Backlogs and totals are each Producer's own, in all lanes and wherever an entry lies, across reopening")
    func figures() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lanes = [try journal.openLane(immediate).id, try journal.openLane(considerate).id]
        let (one, two) = (try journal.openProducer("one"), try journal.openProducer("two"))
        for lane in lanes {
            _ = try journal.append(submission(0..<10, lane, producer: one))
            _ = try journal.append(submission(0..<3, lane, producer: two))
        }
        // UIDs 1 to 10 one, 11 to 13 two; in the other lane 14 to 23 one, 24 to 26 two.
        try journal.settle(
            UID(1), lanes[0],
            .deferUntil(.init(milliseconds: 5), attempts: 1, reason: .shutdown, possiblySent: false))
        #expect(journal.backlog(of: one) == 20 && journal.backlog(of: two) == 6)
        try journal.acknowledge(uids(1...3) + uids(11...12), lanes[0])
        try journal.settle(UID(24), lanes[1], .reject(rejection))
        try journal.settle(UID(25), lanes[1], .expire)
        try journal.settle(UID(26), lanes[1], .unknown)
        func check(_ journal: LMDBJournal) throws {
            #expect(journal.backlog(of: one) == 17 && journal.backlog(of: two) == 1)
            #expect(journal.backlog(of: ProducerID(rawValue: 3)) == 0)
            let found = try journal.producers()
            #expect(found.map(\.unconfirmed) == [17, 1])
            #expect(found.map(\.totals.accepted) == [20, 6])
            #expect(found.map(\.totals.confirmed) == [3, 2])
            #expect(found.map(\.totals.rejected) == [0, 1])
            #expect(found.map(\.totals.expired) == [0, 1])
            #expect(found.map(\.totals.unknown) == [0, 1])
        }
        try check(journal)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        try check(journal)
        let reader = try JournalReader(directory: scratch.journal)
        #expect(try reader.producers() == (try journal.producers()))
        reader.close()
        journal.close()
    }

    @Test("A commit that settles the last entry of a Producer says so, once, and of no other")
    func drained() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let (one, two) = (try journal.openProducer("one"), try journal.openProducer("two"))
        _ = try journal.append(submission(0..<2, lane, producer: one))
        _ = try journal.append(submission(0..<2, lane, producer: two))
        let seen = Monitor<[[ProducerID]]>([])
        try journal.observeCommits { report in seen.withLock { seen in seen.append(report.drained) } }
        try journal.acknowledge([UID(1), UID(3)], lane)
        #expect(seen.withLock { $0 }.allSatisfy { $0.isEmpty })
        try journal.settle(UID(2), lane, .expire)
        #expect(seen.withLock { $0 }.last == [one])
        try journal.settle(UID(2), lane, .expire)
        #expect(seen.withLock { $0 }.last == [])
        try journal.acknowledge([UID(4)], lane)
        #expect(seen.withLock { $0 }.last == [two])
    }
}
