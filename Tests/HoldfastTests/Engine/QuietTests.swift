import HoldfastTesting
import Testing

@testable import Holdfast

/// Connections on which only errors are answered: what silence proves.
@Suite(.timeLimit(.minutes(1))) struct QuietTests {
    private func bench(
        quiet: Duration? = .seconds(5), change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench { try Bench(modes: [.cumulative(quietPeriod: quiet)], change: change) }

    @Test("When it was quiet for the period, what is unconfirmed is acknowledged and the journal is clear")
    func quietClears() async throws {
        let bench = try bench()
        let events = bench.listen()
        try bench.submit(1..<101)
        bench.settle()
        bench.advance(by: .milliseconds(4900))
        #expect(bench.status.confirmed == 0)
        bench.advance(by: .milliseconds(200))
        #expect(bench.status.confirmedByQuiet == 100)
        #expect(bench.journal.entries.isEmpty)
        let cleared = EngineEvent.cleared(bench.lane(), count: 100, through: UID(100), by: .quiet)
        #expect(await bench.events(events).contains(cleared))
    }

    @Test("An entry that was taken back is not counted as confirmed with its neighbours") func withdrawnMeanwhile()
        async throws
    {
        let bench = try bench()
        let events = bench.listen()
        try bench.submit(1..<11)
        bench.settle()
        bench.core.withdraw([UID(4)], from: bench.lane()) { _ in }
        bench.settle()
        #expect(bench.status.unknown == 1)
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmedByQuiet == 9)
        #expect(bench.status.confirmed == 9)
        #expect(bench.status.settled == 10)
        #expect(bench.status.inFlight == 0)
        let cleared = EngineEvent.cleared(bench.lane(), count: 9, through: UID(10), by: .quiet)
        #expect(await bench.events(events).contains(cleared))
    }

    @Test("It is told cleared when that is on disk, and not before") func clearedIsDurable() async throws {
        let bench = try Bench(InMemoryJournal(mode: .manual), modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<11)
        bench.settle()
        let events = bench.listen()
        bench.commits = false
        bench.advance(by: .seconds(6))
        #expect(await !bench.events(events).contains { if case .cleared = $0 { true } else { false } })
        #expect(bench.status.inFlight == 10)
        bench.commits = true
        let more = bench.listen()
        bench.settle()
        #expect(await bench.events(more).contains(.cleared(bench.lane(), count: 10, through: UID(10), by: .quiet)))
        #expect(bench.status.inFlight == 0)
    }

    @Test("Under constant load each entry is acknowledged soon after its own quiet period, and the journal stays small")
    func rolling() throws {
        let bench = try bench(quiet: .seconds(1))
        var most = 0
        for number in 1...2000 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .milliseconds(5))
            most = max(most, bench.journal.entries.count)
        }
        #expect(bench.status.confirmed > 1700)
        #expect(most < 250)
        #expect(bench.connections[0].count == 1)
        #expect(bench.sent == Array(1..<2001))
    }

    @Test("What has not left the machine is not quiet") func notLeft() throws {
        let bench = try bench()
        bench.prepare = { $0.state.withLock { $0.isPrompt = false } }
        try bench.submit(1..<4)
        bench.settle()
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 0)
        bench.connection.sink(.sent(through: .position(2)))
        bench.connection.state.withLock { $0.isPrompt = true }
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmed == 2)
    }

    @Test("Nothing is quiet before the connection has been listened to, and an error that lay there counts")
    func listens() throws {
        let bench = try bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.connection.state.withLock { $0.isPrompt = false }
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 0)
        guard case .listen(let stamp)? = bench.connection.calls.last else {
            Issue.record("expected to be listened to, and not \(bench.connection.calls)")
            return
        }
        bench.connection.fail(
            at: 1, .refused(SendResult(.rejected(.notification), reason: .payloadEmpty)), thenEnds: false)
        bench.connection.sink(.listened(stamp: stamp))
        bench.settle()
        #expect(bench.status.confirmed == 0)
        #expect(bench.journal.rejections.count == 1)
    }

    @Test("A machine that was paused has not listened meanwhile") func paused() throws {
        let bench = try bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.clock.advance(by: .seconds(3600))
        bench.turn()
        bench.settle()
        #expect(bench.status.confirmed == 0)
    }

    @Test("A connector that says more has left than it was given confirms nothing that it was given later")
    func overstated() throws {
        let bench = try bench()
        bench.prepare = { $0.state.withLock { $0.isPrompt = false } }
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.sink(.sent(through: .position(1000)))
        bench.settle()
        bench.advance(by: .seconds(4))
        try bench.submit(2..<3)
        bench.connection.state.withLock { $0.isPrompt = true }
        bench.settle()
        bench.advance(by: .milliseconds(1500))
        #expect(bench.status.confirmed == 1)
    }

    @Test("After a restart nothing is confirmed by silence that this process did not send") func restart() throws {
        let bench = try bench()
        try bench.submit(1..<4)
        bench.settle()
        let next = try bench.crashed()
        next.accepts = false
        next.advance(by: .seconds(60))
        #expect(next.status.confirmed == 0)
        next.accepts = true
        next.settle()
        #expect(next.sent == [1, 2, 3])
        #expect(next.status.possibleDuplicates == 3)
    }
}
