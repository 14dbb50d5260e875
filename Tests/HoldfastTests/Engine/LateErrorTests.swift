import HoldfastTesting
import Testing

@testable import Holdfast

/// Errors that come after silence has confirmed what they deny.
@Suite(.timeLimit(.minutes(1))) struct LateErrorTests {
    private let badToken = PayloadError.Kind.refused(
        SendResult(.rejected(.token), reason: Reason(rawValue: "InvalidToken")))

    private func bench(
        _ journal: InMemoryJournal = InMemoryJournal(), change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        try Bench(journal, modes: [.cumulative(quietPeriod: .seconds(5))]) { configuration in
            configuration.keepsOutcomes = true
            change(&configuration)
        }
    }

    /// Ten are sent, and silence confirms them.
    private func quietBench(
        _ guarantee: Guarantee = .atLeastOnce, _ journal: InMemoryJournal = InMemoryJournal(),
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        let bench = try bench(journal, change: change)
        try bench.submit(1..<11, guarantee: guarantee)
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmedByQuiet == 10)
        return bench
    }

    private func aside(_ bench: Bench) throws -> Int { try bench.journal.status().aside }

    private func outcomes(_ bench: Bench) throws -> [TerminalOutcome] {
        try bench.journal.outcomes(after: .start, limit: 100).outcomes.map(\.terminal)
    }

    @Test("What silence has confirmed is out of the queue and the backlog at once, and its outcome is not told yet")
    func aside() async throws {
        let bench = try bench()
        let events = bench.listen()
        try bench.submit(1..<11)
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.unconfirmed == 0)
        #expect(try aside(bench) == 10)
        #expect(try outcomes(bench).isEmpty)
        #expect(try bench.journal.status().totals.confirmed == 0)
        let told = await bench.events(events)
        #expect(told.contains(.drained(producer: "default")))
        #expect(told.contains(.cleared(bench.lane(), count: 10, through: UID(10), by: .quiet)))
    }

    @Test("What a late error denies goes again in order, as possibly sent; the named one is rejected and blacklisted")
    func denied() async throws {
        let bench = try quietBench()
        let events = bench.listen()
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.connections[0].count == 2)
        #expect(bench.connection.numbers == [5, 6, 7, 8, 9, 10])
        #expect(bench.status.possibleDuplicates == 6)
        #expect(try bench.journal.status().totals.possibleDuplicates == 6)
        #expect(bench.journal.rejections.mapValues(\.reason.rawValue) == [UID(4): "InvalidToken"])
        #expect(try bench.core.producer.blacklist.isBlacklisted(Sample.notification(4).token!) != nil)
        #expect(bench.status.confirmed == 3)
        #expect(bench.status.recalled == 7)
        #expect(bench.status.wronglyConfirmed == 0)
        #expect(await bench.events(events).contains(.lateError(route: "default", recalled: 7, lost: 0)))
        bench.advance(by: .seconds(700))
        #expect(try outcomes(bench).count { $0 == .confirmed } == 9)
        #expect(try outcomes(bench).count == 10)
        #expect(bench.status.confirmed == 9)
    }

    @Test("It goes before what was never handed out, and nothing goes out meanwhile") func order() throws {
        let journal = InMemoryJournal(mode: .manual)
        let bench = try quietBench(.atLeastOnce, journal)
        try bench.submit(11..<13)
        bench.settle()
        bench.commits = false
        bench.connection.fail(at: 4, badToken)
        try bench.submit(13..<15)
        bench.settle()
        #expect(bench.status.holding == ["default": .payloadError])
        bench.commits = true
        bench.settle()
        #expect(bench.status.holding.isEmpty)
        #expect(bench.connection.numbers == Array(5..<15))
    }

    @Test("The last good one stays confirmed, and nothing is rejected") func lastGood() throws {
        let bench = try quietBench()
        bench.connection.fail(at: 4, .lastGood)
        bench.settle()
        #expect(bench.connection.numbers == [5, 6, 7, 8, 9, 10])
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.status.confirmed == 4)
        #expect(bench.status.recalled == 6)
    }

    @Test("At most once, what was discarded was never processed: it goes again, also after a kill")
    func atMostOnce() throws {
        let bench = try quietBench(.atMostOnce)
        bench.accepts = false
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.journal.rejections.keys.map(\.rawValue) == [4])
        let next = try bench.crashed()
        next.advance(by: .seconds(1))
        #expect(next.sent == [5, 6, 7, 8, 9, 10])
        #expect(next.status.unknown == 0)
        #expect(next.status.possibleDuplicates == 0)
    }

    @Test("Later than the period, what it denies is lost, and that is said") func tooLate() async throws {
        let bench = try quietBench { $0.lateErrorPeriod = .seconds(60) }
        let events = bench.listen()
        bench.advance(by: .seconds(125))
        #expect(try aside(bench) == 0)
        #expect(try outcomes(bench) == Array(repeating: .confirmed, count: 10))
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.connections[0].count == 1)
        #expect(bench.status.recalled == 0)
        #expect(bench.status.wronglyConfirmed == 7)
        #expect(await bench.events(events).contains(.lateError(route: "default", recalled: 0, lost: 7)))
    }

    @Test("Beyond the limit the oldest are confirmed first: of those denied only the youngest go again")
    func limit() throws {
        let bench = try quietBench { $0.lateErrorLimit = 4 }
        #expect(try aside(bench) == 4)
        #expect(try outcomes(bench).count == 6)
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.connection.numbers == [7, 8, 9, 10])
        #expect(bench.status.recalled == 4)
        #expect(bench.status.wronglyConfirmed == 3)
        #expect(bench.journal.rejections.isEmpty)
    }

    @Test("With a period of zero nothing is kept aside") func off() throws {
        let bench = try quietBench { $0.lateErrorPeriod = .zero }
        #expect(try aside(bench) == 0)
        #expect(try outcomes(bench).count == 10)
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.status.wronglyConfirmed == 7)
    }

    @Test("After a restart it stays aside until its time is over, and is then confirmed") func restart() throws {
        let bench = try quietBench { $0.lateErrorPeriod = .seconds(300) }
        let next = try bench.crashed { configuration in
            configuration.keepsOutcomes = true
            configuration.lateErrorPeriod = .seconds(300)
        }
        next.advance(by: .seconds(200))
        #expect(next.sent.isEmpty)
        #expect(try aside(next) == 10)
        #expect(try outcomes(next).isEmpty)
        next.advance(by: .seconds(200))
        #expect(try aside(next) == 0)
        #expect(try outcomes(next) == Array(repeating: .confirmed, count: 10))
        #expect(try next.journal.status().totals.confirmed == 10)
    }

    @Test("While the clock is distrusted nothing leaves its place aside, whenever it was put there") func clock() throws
    {
        let bench = try quietBench { $0.lateErrorPeriod = .seconds(300) }
        bench.clock.stepWall(by: .seconds(60 * 60))
        bench.advance(by: .seconds(1))
        try bench.submit(11..<13)
        bench.settle()
        bench.advance(by: .seconds(200))
        #expect(try aside(bench) == 12)
        #expect(try outcomes(bench).isEmpty)
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.connection.numbers == Array(5..<13))
    }

    @Test("A disk that refuses: nothing is recalled before it lies aside, and nothing is lost") func failingDisk()
        throws
    {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "no space left"))
        bench.advance(by: .seconds(6))
        bench.connection.fail(at: 4, badToken)
        bench.advance(by: .seconds(1))
        #expect(bench.connections[0].count == 1)
        #expect(bench.status.holding == ["default": .payloadError])
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(1))
        #expect(bench.connection.numbers == [5, 6, 7, 8, 9, 10])
        #expect(bench.status.wronglyConfirmed == 0)
        #expect(bench.journal.rejections.keys.map(\.rawValue) == [4])
    }

    @Test("While what silence has confirmed waits for another try at the disk, a late error waits for it")
    func recoveredDisk() throws {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "no space left"))
        bench.advance(by: .seconds(6))
        // There is room again, and nobody has tried yet.
        bench.journal.failWrites(with: nil)
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.connections[0].count == 1)
        #expect(try aside(bench) == 0)
        #expect(bench.status.holding == ["default": .payloadError])
        bench.advance(by: .seconds(1))
        #expect(bench.connection.numbers == [5, 6, 7, 8, 9, 10])
        #expect(bench.status.recalled == 7)
        #expect(bench.status.secondHandOuts == 0)
        #expect(try aside(bench) == 3)
    }

    @Test("An operator cannot take back what lies aside") func withdrawal() throws {
        let bench = try quietBench()
        let answer = Monitor<Withdrawal?>(nil)
        bench.core.withdraw([UID(3)], from: bench.lane()) { result in
            if case .success(let withdrawal) = result { answer.withLock { $0 = withdrawal } }
        }
        bench.settle()
        #expect(answer.withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 0, gone: 1))
        #expect(try aside(bench) == 10)
    }

    // MARK: An end

    @Test("A shutdown has a barrier prove what silence has confirmed, and ends when it is proven") func proven() throws
    {
        let bench = try quietBench()
        bench.core.shutDown()
        bench.settle()
        #expect(bench.connection.barrierCount == 1)
        #expect(bench.core.end(of: 0) == nil)
        bench.connection.answerBarrier()
        bench.settle()
        #expect(bench.core.end(of: 0) != nil)
        #expect(bench.status.confirmed == 10)
    }

    @Test("What the error denies that the barrier calls forth stays in the journal, in its place") func disproven()
        throws
    {
        let bench = try quietBench()
        bench.core.shutDown()
        bench.settle()
        bench.connection.fail(at: 4, badToken)
        bench.settle()
        #expect(bench.core.end(of: 0) != nil)
        #expect(bench.journal.entries.map(\.uid.rawValue) == [5, 6, 7, 8, 9, 10])
        let next = try bench.crashed()
        next.settle()
        #expect(next.sent == [5, 6, 7, 8, 9, 10])
        #expect(next.status.possibleDuplicates == 6)
    }

    @Test("What a barrier has proven no error can deny") func afterProof() throws {
        let bench = try quietBench()
        bench.core.shutDown()
        bench.settle()
        bench.connection.sink(.barrierAnswered(through: .position(10)))
        bench.connection.sink(.payloadError(PayloadError(position: .position(4), kind: badToken)))
        bench.settle()
        #expect(bench.status.recalled == 0)
        #expect(bench.journal.entries.isEmpty)
    }
}
