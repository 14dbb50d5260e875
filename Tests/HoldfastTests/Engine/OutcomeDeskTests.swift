import HoldfastTesting
import Testing

@testable import Holdfast

/// The log of outcomes as operators read it.
@Suite(.timeLimit(.minutes(1))) struct OutcomeDeskTests {
    private func submit(_ numbers: ClosedRange<Int>, to engine: PushEngine) async throws {
        for receipt in await engine.producer.submit(numbers.map { Sample.notification($0) }) { _ = try receipt.get() }
    }

    @Test("A listing goes on after a cursor, to the end, and says where that is") func listed() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        try await running(engine) {
            try await submit(1...25, to: engine)
            try await untilEnded(25, engine)
            let desk = engine.desk
            var (cursor, seen, pages) = (OutcomeCursor.start, [OutcomeCursor](), 0)
            while true {
                let page = try await desk.outcomes(after: cursor, limit: 10, of: nil, waitingAtMost: .zero)
                #expect(page.newest == OutcomeCursor(25) && page.missed == 0)
                guard page.end > cursor else { break }
                seen += page.outcomes.map(\.cursor)
                (cursor, pages) = (page.end, pages + 1)
            }
            #expect(seen == (1...25).map { OutcomeCursor(UInt64($0)) } && pages == 3)
            let others = try await desk.outcomes(after: .start, limit: 10, of: ["nobody"], waitingAtMost: .zero)
            #expect(others.outcomes.isEmpty && others.end == OutcomeCursor(25))
        }
    }

    @Test("A cursor beyond the newest outcome is an error that names both") func beyond() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        try await running(engine) {
            try await submit(1...3, to: engine)
            try await untilEnded(3, engine)
            let error = await #expect(throws: JournalError.self) {
                try await engine.desk.outcomes(after: OutcomeCursor(4), limit: 1, of: nil, waitingAtMost: .seconds(9))
            }
            #expect(error?.code == .invalidEntry && error?.message.contains("4") == true)
            #expect(error?.message.contains("newest is 3") == true)
        }
    }

    @Test("Whoever waits is answered as soon as something ends, or when the time is over, or with the engine")
    func waited() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        let desk = engine.desk
        var last: Task<OutcomeListing, any Error>?
        try await running(engine) {
            let start = ContinuousClock.now
            let none = try await desk.outcomes(after: .start, limit: 9, of: nil, waitingAtMost: .milliseconds(60))
            #expect(none.outcomes.isEmpty && ContinuousClock.now - start >= .milliseconds(60))
            let waiting = Task {
                try await desk.outcomes(after: .start, limit: 9, of: nil, waitingAtMost: .seconds(50))
            }
            try await submit(1...1, to: engine)
            #expect(try await waiting.value.outcomes.map(\.uid) == [UID(1)])
            #expect(ContinuousClock.now - start < .seconds(40))
            last = Task {
                try await desk.outcomes(after: OutcomeCursor(1), limit: 9, of: nil, waitingAtMost: .seconds(50))
            }
        }
        let listing = try #require(try await last?.value)
        #expect(listing.outcomes.isEmpty && listing.end == OutcomeCursor(1))
    }

    @Test("Where outcomes are missing, because the log was off, is told right before the next, also after restarts")
    func wasOff() async throws {
        let disk = InMemoryJournal()
        var journal = disk
        for isKept in [false, true, false, false, true] {
            let engine = try testEngine(journal, InMemoryConnector()) { $0.history.isKept = isKept }
            try await running(engine) {
                try await submit(1...3, to: engine)
                try await untilEnded(3, engine)
            }
            journal = journal.crashed()
        }
        let reading = OutcomeLogReading(journal)
        func listing(_ after: UInt64?) throws -> OutcomeListing {
            try reading.listing(after: after.map { OutcomeCursor($0) }, limit: 100, of: nil)
        }
        // What ended first is missing as well, for whoever gives a cursor.
        let first = try listing(0)
        #expect(first.wasOff && first.outcomes.count == 3 && first.end == OutcomeCursor(3) && first.missed == 0)
        let second = try listing(3)
        #expect(second.wasOff && second.outcomes.count == 3 && second.end == OutcomeCursor(6) && second.isKept)
        #expect(try !listing(nil).wasOff && !listing(1).wasOff && listing(1).outcomes.count == 2)
        #expect(try !listing(6).wasOff && !listing(4).wasOff)
        let passed = try reading.listing(after: .start, limit: 100, of: ["nobody"])
        #expect(passed.wasOff && passed.end == OutcomeCursor(3))
        let off = try testEngine(journal, InMemoryConnector()) { $0.history = .none }
        try await running(off) {
            let desk = off.desk
            let listing = try await desk.outcomes(after: .start, limit: 9, of: nil, waitingAtMost: .zero)
            #expect(!listing.isKept)
        }
    }

    @Test("What was deleted before it was read is counted, once, and not at the beginning") func missed() async throws {
        let deleted = OutcomeCursor(7)
        let reading = OutcomeLogReading(
            log: { () throws(JournalError) in OutcomeLogFigures(deleted: deleted, newest: OutcomeCursor(9)) },
            page: { (after, limit) throws(JournalError) in
                let numbers = (8...9).filter { UInt64($0) > after.rawValue }.prefix(limit)
                let outcomes = numbers.map { number in
                    Outcome(
                        cursor: OutcomeCursor(UInt64(number)), uid: UID(UInt64(number)), terminal: .confirmed,
                        history: DeliveryHistory(
                            acceptedAt: .init(seconds: 1), settledAt: .init(seconds: 2), attempts: 1),
                        id: NotificationID(high: 1, low: 2), recipient: .device(Sample.notification(number).token!),
                        topic: "t")
                }
                return OutcomePage(outcomes: outcomes, end: outcomes.last?.cursor ?? after)
            },
            keeping: { () throws(JournalError) in .init() })
        let gap = try reading.listing(after: OutcomeCursor(3), limit: 1, of: nil)
        #expect(gap.missed == 4 && gap.outcomes.map(\.cursor) == [OutcomeCursor(8)] && gap.end == OutcomeCursor(8))
        #expect(try reading.listing(after: gap.end, limit: 9, of: nil).missed == 0)
        #expect(try reading.listing(after: OutcomeCursor(7), limit: 9, of: nil).missed == 0)
        // A cursor of 0 was given to somebody, too; who has none misses nothing.
        #expect(try reading.listing(after: .start, limit: 9, of: nil).missed == 7)
        let oldest = try reading.listing(after: nil, limit: 9, of: nil)
        #expect(oldest.missed == 0 && oldest.outcomes.count == 2)
        #expect(try reading.listing(after: nil, limit: 9, of: ["nobody"]).end == OutcomeCursor(9))
        let status = try reading.status(
            isKept: true,
            readers: [
                OutcomeReader(name: "b", cursor: OutcomeCursor(3), isWaitedFor: false),
                OutcomeReader(name: "a", cursor: OutcomeCursor(8), isWaitedFor: false),
            ])
        #expect(status.readers.map(\.name) == ["a", "b"] && status.count == 2)
        #expect(status.readers.map { status.unread(by: $0) } == [1, 2])
        #expect(status.readers.map { status.missed(by: $0) } == [0, 4])
    }

    @Test("Readers are opened once, moved and forgotten, and the engine's own is not forgotten") func readers()
        async throws
    {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector()) { $0.keepsOutcomes = true }
        try await running(engine) {
            try await submit(1...5, to: engine)
            try await untilEnded(5, engine)
            let desk = engine.desk
            #expect(try await desk.openOutcomeReader("b") == OutcomeCursor(5))
            try await desk.moveOutcomeReader("b", to: OutcomeCursor(2))
            #expect(try await desk.openOutcomeReader("b") == OutcomeCursor(2))
            #expect(try await desk.openOutcomeReader(OutcomeReader.engineName) == .start)
            let log = try await desk.outcomeLog()
            #expect(log.readers.map(\.name) == ["b", "engine"] && log.readers.map(\.isWaitedFor) == [false, true])
            #expect(log.count == 5 && log.isKept && log.oldestAt != nil)
            #expect(try await desk.status().history == log)
            for attempt in 1...2 {
                let error = await #expect(throws: JournalError.self) {
                    if attempt == 1 {
                        try await desk.moveOutcomeReader("b", to: OutcomeCursor(6))
                    } else {
                        try await desk.forgetOutcomeReader(OutcomeReader.engineName)
                    }
                }
                #expect(error?.code == (attempt == 1 ? .invalidEntry : .inUse))
            }
            try await desk.forgetOutcomeReader("b")
            let error = await #expect(throws: JournalError.self) { try await desk.moveOutcomeReader("b", to: .start) }
            #expect(error?.code == .notFound && error?.message.contains("it has engine") == true)
        }
        // The same desk of a journal at rest.
        let desk = JournalDesk(journal: journal)
        #expect(try await desk.openOutcomeReader("c") == OutcomeCursor(5))
        var query = OutcomeQuery()
        query.uid = UID(3)
        #expect(try await desk.findOutcomes(query, before: nil, limit: 1).outcomes.map(\.uid) == [UID(3)])
    }

    private func untilEnded(_ count: Int, _ engine: PushEngine) async throws {
        // That a notification has ended is counted before it is on disk, where the log is.
        while engine.status().settled < count || engine.status().unconfirmed > 0 {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Runs the engine during `body`.
    private func running(_ engine: PushEngine, _ body: () async throws -> Void) async throws {
        let run = Task { try await engine.run() }
        do { try await body() } catch {
            run.cancel()
            try? await run.value
            throw error
        }
        run.cancel()
        try await run.value
    }
}
