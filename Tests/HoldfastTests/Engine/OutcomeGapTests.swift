import HoldfastTesting
import Testing

@testable import Holdfast

/// Outcomes that a library's reader is not given, since they can't be read.
@Suite(.timeLimit(.minutes(1))) struct OutcomeGapTests {
    /// A journal of whose outcomes some can't be read.
    private final class DamagedJournal: ForwardingJournal, @unchecked Sendable {  // Confined to the test's thread.
        override func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
            var page = try super.outcomes(after: cursor, limit: limit)
            page.outcomes.removeAll { (4...6).contains($0.cursor.rawValue) }
            return page
        }
    }

    @Test("A reader is told of outcomes that can't be read with those behind them, until it has taken those")
    func told() async throws {
        let base = InMemoryJournal()
        let engine = try testEngine(base, InMemoryConnector())
        for (name, producers) in [("all", Set<String>?.none), ("crm", ["crm"])] {
            _ = try engine.outcomes(reader: name, of: producers)
        }
        for number in 1...10 {
            let producer = try engine.producer(named: number == 8 ? "crm" : "mails")
            _ = await producer.submit([Sample.notification(number)])
        }
        #expect(try await runUntilIdle(engine) == .drained)
        let source = OutcomeSource(journal: DamagedJournal(base))
        var passed = OutcomeSource.Passed()
        let reader = OutcomeSource.Reader(name: "all", producers: nil)
        let first = try #require(try await source.next(for: reader, &passed))
        #expect(first.outcomes.map(\.cursor.rawValue) == [1, 2, 3] && first.missed == 0)
        try await first.taken()
        for _ in 1...2 {
            let second = try #require(try await source.next(for: reader, &passed))
            #expect(second.outcomes.map(\.cursor.rawValue) == [7, 8, 9, 10] && second.missed == 3)
        }
        // It passes others' outcomes, and what is missing among them.
        var other = OutcomeSource.Passed()
        let crm = OutcomeSource.Reader(name: "crm", producers: ["crm"])
        let batch = try #require(try await source.next(for: crm, &other))
        #expect(batch.outcomes.count == 1 && batch.missed == 3 && batch.end == OutcomeCursor(10))
    }

    @Test("A page ends before its first gap") func pages() async throws {
        let base = InMemoryJournal()
        let engine = try testEngine(base, InMemoryConnector())
        _ = await engine.producer.submit((1...10).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        let whole = try base.outcomes(after: .start, limit: 100)
        #expect(whole.upToGap() == whole && whole.missing(after: .start, deleted: .start) == (0, 0))
        let page = try DamagedJournal(base).outcomes(after: .start, limit: 100)
        #expect(page.upToGap().end == OutcomeCursor(3) && page.upToGap().outcomes.count == 3)
        let tail = try DamagedJournal(base).outcomes(after: .start, limit: 6)
        #expect(tail.upToGap().end == OutcomeCursor(3))
        let gap = try DamagedJournal(base).outcomes(after: OutcomeCursor(3), limit: 9)
        #expect(gap.missing(after: OutcomeCursor(3), deleted: .start) == (0, 3))
        #expect(gap.missing(after: OutcomeCursor(1), deleted: OutcomeCursor(4)) == (3, 2))
    }
}
