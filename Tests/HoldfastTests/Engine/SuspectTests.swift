import HoldfastTesting
import Testing

@testable import Holdfast

/// Tokens that the service calls bad, and the environment that may be.
@Suite(.timeLimit(.minutes(1))) struct SuspectTests {
    private let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")

    @Test("A suspect is neither settled nor blacklisted, and other entries to its token are held, until it is judged")
    func held() throws {
        let bench = try Bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.connection.answer(1, bad)
        bench.settle()
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(bench.status.suspects == 1)
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.core.producer.blacklist.count == 0)
        try bench.submit([Sample.notification(1), Sample.notification(4)])
        bench.settle()
        #expect(bench.sent == [1, 2, 3, 4])
        bench.advance(by: .seconds(4))
        #expect(bench.status.suspects == 1)
        bench.advance(by: .seconds(7))
        #expect(bench.status.suspects == 0)
        #expect(bench.journal.rejections[UID(1)]?.reason == .badDeviceToken)
        #expect(bench.journal.rejections[UID(4)]?.reason == .blacklisted)
        #expect(bench.sent == [1, 2, 3, 4])
    }

    @Test("A conviction is on the blacklist before its entry is settled, with the answer's time") func blacklistFirst()
        async throws
    {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        let events = bench.listen()
        try bench.submit(1..<3)
        bench.settle()
        let answeredAt = bench.clock.wall
        bench.connection.answer(1, bad)
        bench.settle()
        bench.commits = false
        bench.advance(by: .seconds(6))
        bench.journal.commit()
        bench.settle()
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.journal.waitingBlacklistCount == 1)
        bench.journal.commitBlacklist()
        bench.journal.commit()
        bench.settle()
        #expect(bench.journal.rejections.count == 1)
        #expect(try bench.core.producer.blacklist.isBlacklisted(Sample.notification(1).token!)?.since == answeredAt)
        #expect(await bench.events(events).contains(.convicted(bench.lane(), count: 1)))
    }

    @Test(
        "A wrong environment stops the lane, blacklists nobody, and everything goes when it is mended",
        arguments: Guarantee.allCases)
    func wrongEnvironment(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        try bench.submit(1..<301, guarantee: guarantee)
        bench.settle()
        #expect(
            bench.status.lanes.first { $0.key == bench.lane(guarantee) }?.stoppedBecause?.contains("environment")
                == true)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.status.suspects == 0)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.resume(bench.lane(guarantee))
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 300)
        #expect(bench.status.unknown == 0)
        #expect(bench.status.possibleDuplicates == 0)
    }

    @Test("A wrong environment with thin traffic blacklists no more than the allowance") func thinTraffic() throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        for number in 1..<20 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(60))
        }
        #expect(bench.core.producer.blacklist.count == 2)
        #expect(bench.status.lanes.first { $0.key == bench.lane() }?.stoppedBecause != nil)
        #expect(bench.journal.entries.count == 17)
    }

    @Test("A list with a third of old tokens is cleaned, in one turn or in many, and the lane runs on")
    func listCleaning() throws {
        let bench = try Bench { $0.window = 2000 }
        let bad = bad
        bench.answer = { Sample.number(of: $0).isMultiple(of: 3) ? bad : .confirmed }
        try bench.submit(1..<1501)
        bench.advance(by: .seconds(10))
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        #expect(bench.core.producer.blacklist.count == 500)
        #expect(bench.status.confirmed == 1000)
    }

    @Test(
        "A service that calls every token bad from the middle of a burst on makes nobody bad",
        arguments: [150, 300, 700, 1000, 1300])
    func midBurst(_ taken: Int) throws {
        let bench = try Bench { $0.window = 1000 }
        let bad = bad
        bench.answer = { Sample.number(of: $0) <= taken ? .confirmed : bad }
        try bench.submit(1..<3001)
        bench.advance(by: .seconds(12))
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.count == 0)
        #expect(bench.status.confirmed == taken)
        #expect(bench.status.lanes.first { $0.key == bench.lane() }?.stoppedBecause != nil)
    }

    @Test("A window full of suspects leaves room for what shows that the environment is bad, and not the tokens")
    func fullWindow() throws {
        let bench = try Bench { $0.window = 1000 }
        let bad = bad
        // Two are bad. Behind 4000, when what was confirmed meanwhile speaks for the lane, all are called so.
        bench.answer = {
            [50, 3000].contains(Sample.number(of: $0)) || Sample.number(of: $0) > 4000 ? bad : .confirmed
        }
        try bench.submit(1..<8001)
        bench.advance(by: .seconds(12))
        #expect(bench.core.producer.blacklist.count == 1)
        #expect(bench.status.confirmed == 3998)
        #expect(bench.status.lanes.first { $0.key == bench.lane() }?.stoppedBecause != nil)
    }

    @Test("A shutdown lets suspects go unharmed: nobody is judged in a hurry", arguments: Guarantee.allCases)
    func shutdown(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        try bench.submit(1..<3, guarantee: guarantee)
        bench.settle()
        bench.connection.answer(1, bad)
        bench.connection.answer(2, .confirmed)
        bench.settle()
        bench.core.shutDown()
        bench.advance(by: .seconds(1))
        #expect(bench.core.end(of: 0) != nil)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.isEmpty)
        let next = try bench.crashed()
        next.advance(by: .seconds(6))
        #expect(next.sent == [1])
        #expect(next.status.possibleDuplicates == 0)
        #expect(next.status.unknown == 0)
    }

    @Test("A connection that ends leaves its suspects to be judged, and is forgotten after that") func connectionEnds()
        throws
    {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.answer(1, bad)
        bench.connection.answer(2, .confirmed)
        bench.settle()
        bench.connection.end(possiblySent: [])
        bench.settle()
        #expect(bench.status.suspects == 1)
        bench.advance(by: .seconds(6))
        #expect(bench.journal.rejections.count == 1)
        #expect(bench.status.inFlight == 0)
        #expect(bench.consumer.links.count == 1)
    }

    @Test("Suspects of an ended connection that the breaker lets go leave no link behind") func trippedAfterEnd() throws
    {
        let bench = try Bench { $0.suspects.allowanceUnproven = 0 }
        try bench.submit(1..<3)
        bench.settle()
        for number in [1, 2] { bench.connection.answer(number, bad) }
        bench.settle()
        bench.connection.end(possiblySent: [])
        bench.settle()
        // Before the lane probes, which needs a connection.
        bench.advance(by: .milliseconds(5200))
        #expect(bench.status.lanes.contains { $0.stoppedBecause != nil })
        #expect(bench.consumer.links.count == 1)
    }
}
