import HoldfastTesting
import Testing

@testable import Holdfast

/// Connections on which only errors are answered: what barriers prove, and how such a route ends.
@Suite(.timeLimit(.minutes(1))) struct BarrierTests {
    private func bench(
        quiet: Duration? = .seconds(5), log: RecordingLog? = nil,
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench { try Bench(modes: [.cumulative(quietPeriod: quiet)], log: log, change: change) }

    @Test("At half a window new traffic moves to a fresh connection, and then the barrier proves what is before it")
    func halfAWindow() async throws {
        let bench = try bench(quiet: nil) { $0.cumulativeWindow = 20 }
        let events = bench.listen()
        bench.accepts = false
        try bench.submit(1..<41)
        bench.settle()
        bench.connect()
        bench.settle()
        let first = bench.connection
        #expect(first.sent.count >= 10)
        #expect(first.sent.count <= 20)
        #expect(bench.isConnectionRequested)
        #expect(first.barrierCount == 0)
        bench.connect()
        bench.settle()
        #expect(first.barrierCount == 1)
        #expect(first.calls.last == .barrier)
        // Those of both connections are the window.
        #expect(bench.status.inFlight <= 20)
        let count = first.sent.count
        first.answerBarrier()
        bench.settle()
        #expect(bench.status.confirmedByBarrier == count)
        let cleared = EngineEvent.cleared(bench.lane(), count: count, through: UID(UInt64(count)), by: .barrier)
        #expect(await bench.events(events).contains(cleared))
        #expect(bench.connection.sent.count > 0)
        #expect(bench.status.possibleDuplicates == 0)
    }

    @Test("Leaving a connection for a barrier is no failure: the next one comes at once, however often")
    func noBackoff()
        throws
    {
        let bench = try bench(quiet: nil) {
            $0.cumulativeWindow = 20
            $0.reconnectMinimum = .seconds(1)
            $0.reconnectMaximum = .seconds(60)
        }
        try bench.submit(1..<401)
        bench.settle()
        for _ in 0..<100 where bench.status.confirmed < 400 {
            bench.core.writeBarriers()
            bench.settle()
            for connection in bench.connections[0] where connection.barrierCount == 1 && !connection.hasEnded {
                connection.answerBarrier()
            }
            bench.settle()
        }
        #expect(bench.status.confirmed == 400)
        #expect(bench.sent == Array(1..<401))
    }

    @Test("A full window stops the sending and evicts nothing") func fullWindow() throws {
        let bench = try bench(quiet: nil) { $0.cumulativeWindow = 20 }
        bench.canWriteBarrier = false
        try bench.submit(1..<101)
        bench.settle()
        bench.advance(by: .seconds(100))
        #expect(bench.sent.count == 20)
        #expect(bench.status.confirmed == 0)
        bench.connection.fail(at: 20, .lastGood)
        bench.settle()
        #expect(bench.status.confirmed == 20)
        #expect(bench.connection.numbers == Array(21..<41))
    }

    @Test("On request a barrier is written, once, and costs its connection") func onRequest() throws {
        let bench = try bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.core.writeBarriers()
        bench.core.writeBarriers()
        bench.settle()
        #expect(bench.connection.barrierCount == 1)
        let old = bench.connection
        try bench.submit(4..<5)
        bench.settle()
        #expect(old.sent.count == 3)
        #expect(bench.connection.numbers == [4])
        old.answerBarrier()
        bench.settle()
        #expect(bench.status.confirmedByBarrier == 3)
        #expect(bench.sent == [1, 2, 3, 4])
    }

    @Test("A barrier's answer confirms no more than what was before it") func partial() throws {
        let bench = try bench(quiet: nil)
        try bench.submit(1..<6)
        bench.settle()
        bench.core.writeBarriers()
        bench.settle()
        bench.connection.answerBarrier(through: 3)
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmedByBarrier == 3)
        #expect(bench.connection.numbers == [4, 5])
        #expect(bench.status.possibleDuplicates == 2)
    }

    @Test("An error instead of the barrier's answer is that error, and a new barrier is owed") func errorInstead()
        throws
    {
        let bench = try bench(quiet: nil) { $0.barrierIdle = .seconds(5) }
        try bench.submit(1..<6)
        bench.settle()
        bench.core.writeBarriers()
        bench.settle()
        bench.connection.fail(at: 2, .refused(SendResult(.rejected(.notification), reason: .payloadEmpty)))
        bench.settle()
        #expect(bench.status.confirmed == 1)
        #expect(bench.connection.numbers == [3, 4, 5])
        bench.advance(by: .seconds(6))
        #expect(bench.connection.barrierCount == 1)
    }

    @Test("A close without an answer to the barrier proves nothing") func closedBarrier() throws {
        let bench = try bench(quiet: nil)
        try bench.submit(1..<4)
        bench.settle()
        bench.core.writeBarriers()
        bench.settle()
        bench.connection.end()
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 0)
        #expect(bench.connection.numbers == [1, 2, 3])
        #expect(bench.status.possibleDuplicates == 3)
    }

    @Test("A barrier that is not answered within its limit ends the connection, and what it was to prove is unknown")
    func barrierLimit() throws {
        let bench = try bench(quiet: nil) { $0.barrierLimit = .seconds(30) }
        try bench.submit(1..<4)
        bench.settle()
        bench.core.writeBarriers()
        bench.settle()
        let old = bench.connection
        bench.advance(by: .seconds(29))
        #expect(!old.isClosed)
        bench.advance(by: .seconds(2))
        #expect(old.isClosed)
        #expect(bench.status.confirmed == 0)
        #expect(bench.connection.numbers == [1, 2, 3])
    }

    @Test("While a barrier's answer is awaited silence confirms nothing: it is that of a dead connection")
    func silenceBehindBarrier() throws {
        let bench = try bench(quiet: .seconds(5)) { $0.barrierLimit = .seconds(30) }
        try bench.submit(1..<4)
        bench.settle()
        bench.core.writeBarriers()
        bench.settle()
        let old = bench.connection
        #expect(old.barrierCount == 1)
        bench.advance(by: .seconds(29))
        #expect(bench.status.confirmed == 0)
        bench.advance(by: .seconds(2))
        #expect(old.isClosed)
        #expect(bench.connection.numbers == [1, 2, 3])
        #expect(bench.status.possibleDuplicates == 3)
    }

    @Test("Where silence counts for nothing, nothing is confirmed by it, and a barrier follows when all is idle")
    func barrierOnly() throws {
        let bench = try bench(quiet: nil) { $0.barrierIdle = .seconds(5) }
        try bench.submit(1..<4)
        bench.settle()
        bench.advance(by: .milliseconds(4900))
        #expect(bench.connection.barrierCount == 0)
        bench.advance(by: .milliseconds(200))
        #expect(bench.connection.barrierCount == 1)
        bench.advance(by: .seconds(20))
        #expect(bench.status.confirmed == 0)
        #expect(bench.connection.barrierCount == 1)
        bench.connection.answerBarrier()
        bench.settle()
        #expect(bench.status.confirmedByBarrier == 3)
    }

    @Test("Where silence counts for nothing, steady traffic does not make the engine spin") func barrierOnlyLoad()
        throws
    {
        let bench = try bench(quiet: nil) { $0.barrierIdle = .seconds(1) }
        for number in 1...100 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .milliseconds(100))
        }
        let turns = bench.turnCount
        #expect(turns < 1000)
        #expect(bench.connection.barrierCount == 0)
    }

    // MARK: Shutdown

    @Test("At shutdown a barrier proves what is unconfirmed") func shutdownBarrier() throws {
        let bench = try bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.core.shutDown()
        bench.settle()
        #expect(bench.connection.barrierCount == 1)
        #expect(bench.core.end(of: 0) == nil)
        bench.connection.answerBarrier()
        bench.settle()
        guard case .shutDown? = bench.core.end(of: 0) else {
            Issue.record("expected the end")
            return
        }
        #expect(bench.status.confirmedByBarrier == 3)
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.journal.marks[bench.lane()] == UID.none)
    }

    @Test("At shutdown silence is waited for where no barrier can be had") func shutdownQuiet() throws {
        let bench = try bench { $0.shutdownLimit = .seconds(10) }
        bench.canWriteBarrier = false
        try bench.submit(1..<4)
        bench.settle()
        bench.core.shutDown()
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmedByQuiet == 3)
        #expect(bench.core.end(of: 0) != nil)
    }

    @Test("At shutdown what silence has confirmed, and no barrier proves within the limit, is said once")
    func shutdownUnproven() throws {
        for isAnswered in [true, false] {
            let log = RecordingLog()
            let bench = try bench(quiet: .seconds(1), log: log) { $0.shutdownLimit = .seconds(2) }
            try bench.submit(1..<4)
            bench.advance(by: .seconds(3))
            #expect(bench.status.confirmedByQuiet == 3)
            bench.core.shutDown()
            bench.settle()
            if isAnswered { bench.connection.answerBarrier() }
            bench.advance(by: .seconds(4))
            #expect(bench.core.end(of: 0) != nil)
            let said = log.lines.filter { $0.event == "end-unproven" }
            #expect(said.count == (isAnswered ? 0 : 1))
            #expect(isAnswered || said.first?.message.contains("the last 3 may not have been taken") == true)
        }
    }

    @Test(
        "A service that answers nothing: the shutdown ends by its limit, and what is unconfirmed stays, possibly sent",
        arguments: [true, false])
    func shutdownLimit(_ endsWhenClosed: Bool) throws {
        let bench = try bench(quiet: .seconds(60)) { $0.shutdownLimit = .seconds(1) }
        bench.prepare = { $0.state.withLock { $0.endsWhenClosed = endsWhenClosed } }
        try bench.submit(1..<4)
        bench.settle()
        bench.core.shutDown()
        bench.advance(by: .milliseconds(2100))
        #expect(bench.core.end(of: 0) != nil)
        #expect(bench.connection.isClosed)
        #expect(bench.journal.entries.count == 3)
        let next = try bench.crashed()
        next.settle()
        #expect(next.status.possibleDuplicates == 3)
    }
}
