import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// A journal that several hosts may own, one after the other.
@Suite(.timeLimit(.minutes(1))) struct OwnershipTests {
    @Test(
        "Behind the instant that the journal tells nothing goes out, what is in flight ends, and a later one lets all go"
    )
    func holds() async throws {
        let listener = RecordingListener()
        let bench = try Bench(listeners: [listener])
        let events = bench.listen()
        bench.journal.handOut(until: bench.clock.monotonic + .seconds(5))
        try bench.submit(1..<4)
        bench.settle()
        #expect(bench.sent == [1, 2, 3])
        bench.advance(by: .seconds(5))
        #expect(bench.status.holding == ["default": .ownershipUnproven])
        try bench.submit(4..<7)
        try bench.submit(7..<9, guarantee: .atMostOnce)
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.connection.answer(3, .notSent("GOAWAY"))
        bench.settle()
        let before = bench.turnCount
        bench.advance(by: .seconds(60))
        #expect(bench.turnCount - before < 300)
        #expect(bench.sent == [1, 2, 3])
        #expect(bench.status.confirmed == 1 && bench.status.inFlight == 0)
        bench.journal.handOut(until: bench.clock.monotonic + .seconds(5))
        bench.advance(by: .milliseconds(250))
        bench.advance(by: .seconds(1))
        #expect(Set(bench.sent[3...]) == Set(2..<9))
        #expect(bench.status.holding == [:])
        let told = await bench.events(events)
        #expect(told.contains(.holding(route: "default", .ownershipUnproven)))
        #expect(told.contains(.handingOut(route: "default")))
    }

    @Test("Looks for a later instant come at most 250 ms apart") func looks() throws {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.journal.handOut(until: .zero)
        bench.settle()
        #expect(bench.sent.isEmpty)
        let wake = try #require(bench.wakes[0])
        #expect(wake > bench.clock.monotonic && wake <= bench.clock.monotonic + .milliseconds(250))
    }

    @Test("The hold has its label and its words") func words() {
        #expect(HoldReason.ownershipUnproven.name == "ownership-unproven")
        #expect(HoldReason.ownershipUnproven.description.contains("still owns the journal"))
    }

    @Test(
        "An engine that has lost its journal ends at once, whatever tells it, and sends nothing more", arguments: 0..<3)
    func ends(_ way: Int) throws {
        let log = RecordingLog()
        let bench = try Bench(InMemoryJournal(mode: .manual), log: log) { $0.window = 10 }
        try bench.submit(1..<41)
        // A commit of nothing but marks has no answer.
        bench.commits = way > 0
        bench.settle()
        let sent = bench.sent
        bench.commits = false
        let next = bench.journal.takenOver(mode: .immediate)
        if way == 1 { bench.connection.answer(1, .confirmed) }
        if way == 2 { try bench.submit(41..<42) }
        bench.settle()
        bench.journal.commit()
        bench.settle()
        guard case .failed(let error)? = bench.core.end(of: 0) else {
            Issue.record("expected the engine to end")
            return
        }
        #expect(error.code == .ownershipLost && error.message.contains("another host"))
        // Nothing is wrong with the journal, and nobody has to come.
        #expect(log.lines(.journalLeft).map(\.level) == [.warning] && log.lines(.journalFailed).isEmpty)
        #expect(bench.connection.isClosed)
        #expect(bench.sent == sent)
        #expect(next.entries.count == 40)
    }

    @Test("What is submitted to a former owner is refused, and is not with the new one") func refuses() throws {
        let bench = try Bench()
        let next = bench.journal.takenOver()
        for _ in 0..<2 {
            guard case .refused(let refusal) = try bench.submit(1..<2)[0] else {
                Issue.record("expected a refusal")
                return
            }
            #expect(refusal.reason == .journalFailed && refusal.detail.contains("another host"))
        }
        #expect(next.entries.isEmpty)
        let error = #expect(throws: JournalError.self) { try bench.journal.openProducer("another") }
        #expect(error?.code == .ownershipLost)
    }

    @Test("While what keeps the journal is away, appends are refused and settlements wait, and later all is taken")
    func unreachable() throws {
        let bench = try Bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.unreachable, "the database does not answer"))
        guard case .refused(let refusal) = try bench.submit(4..<5)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .journalUnreachable && refusal.detail == "the database does not answer")
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(apnsStatus: 400, reason: "PayloadEmpty"))
        bench.settle()
        bench.advance(by: .seconds(3600))
        #expect(bench.core.end(of: 0) == nil)
        #expect(bench.status.inFlight == 3)
        bench.journal.failWrites(with: nil)
        #expect(try bench.submit(4..<5)[0].uid != nil)
        bench.advance(by: .seconds(2))
        #expect(bench.status.confirmed == 1 && bench.journal.rejections.count == 1)
        #expect(bench.sent.last == 4)
    }

    @Test("A route goes on reading when what keeps the journal is back") func unreachableReads() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(1..<3)
        bench.journal.failReads(with: JournalError(.unreachable, "the database does not answer"))
        bench.accepts = true
        bench.settle()
        bench.advance(by: .seconds(600))
        #expect(bench.core.end(of: 0) == nil && bench.sent.isEmpty)
        bench.journal.failReads(with: nil)
        bench.advance(by: .seconds(2))
        #expect(bench.sent == [1, 2])
    }
}
