import HoldfastTesting
import Testing

@testable import Holdfast

/// Connections on which only errors are answered: what an error proves.
@Suite(.timeLimit(.minutes(1))) struct PayloadErrorTests {
    private let badToken = PayloadError.Kind.refused(
        SendResult(.rejected(.token), reason: Reason(rawValue: "InvalidToken")))
    private let badPayload = PayloadError.Kind.refused(SendResult(.rejected(.notification), reason: .payloadTooLarge))

    private func bench(
        _ journal: InMemoryJournal = InMemoryJournal(), quiet: Duration? = .seconds(5),
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench { try Bench(journal, modes: [.cumulative(quietPeriod: quiet)], change: change) }

    @Test("4 sent, an error at 2: 1 is acknowledged, 2 rejected and blacklisted, 3 and 4 go again in order")
    func fourSent() throws {
        let bench = try bench()
        try bench.submit(1..<5)
        bench.settle()
        #expect(bench.sent == [1, 2, 3, 4])
        bench.connection.fail(at: 2, badToken)
        bench.settle()
        #expect(bench.sent == [1, 2, 3, 4, 3, 4])
        #expect(bench.status.confirmed == 1)
        #expect(bench.journal.rejections.mapValues(\.reason.rawValue) == [UID(2): "InvalidToken"])
        #expect(try bench.core.producer.blacklist.isBlacklisted(Sample.notification(2).token!) != nil)
        #expect(bench.status.possibleDuplicates == 0)
        #expect(bench.journal.entries.map(\.attempts) == [0, 0])
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmed == 3)
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("A refusal of the notification itself blacklists nothing") func payloadRefused() throws {
        let bench = try bench()
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.fail(at: 1, badPayload)
        bench.settle()
        #expect(bench.journal.rejections.mapValues(\.reason) == [UID(1): .payloadTooLarge])
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.sent == [1, 2, 2])
    }

    @Test("A service that puts off each first notification is not stormed with connections") func putsOff() throws {
        let bench = try bench {
            $0.reconnectMinimum = .seconds(1)
            $0.reconnectMaximum = .seconds(60)
            $0.retry = RetrySchedule(minimum: .milliseconds(10), maximum: .milliseconds(20), greatestCount: 10_000)
        }
        let unknown = PayloadError.Kind.refused(SendResult(.deferred(.token), reason: Reason(rawValue: "Status128")))
        bench.prepare = { connection in
            connection.state.withLock { $0.onSend = { connection.fail(at: 1, unknown) } }
        }
        try bench.submit(1..<20)
        bench.advance(by: .seconds(60))
        #expect(bench.connections[0].count < 20)
        // One that gets somewhere is followed at once.
        bench.prepare = { connection in
            connection.state.withLock { $0.onSend = { connection.fail(at: 2, unknown) } }
        }
        let before = bench.connections[0].count
        bench.advance(by: .seconds(60))
        #expect(bench.connections[0].count > before + 5)
        #expect(bench.status.rejectedTotal == 0)
        #expect(bench.status.unconfirmed < 15)
    }

    @Test("UID 7 requeued and sent after 50; an error names 50: 7 goes again, exactly once") func positionsNotUIDs()
        throws
    {
        let bench = try bench()
        try bench.submit(1..<8)
        bench.settle()
        // 7 is deferred by a first error, so that it comes back behind what is submitted later.
        bench.connection.fail(at: 7, .refused(SendResult(.deferred(.service))))
        bench.settle()
        try bench.submit(8..<51)
        bench.settle()
        bench.advance(by: .seconds(2))
        #expect(bench.connection.numbers.last == 7)
        #expect(bench.connection.sent.last?.uid == UID(7))
        let named = UInt64(bench.connection.numbers.firstIndex(of: 50)! + 1)
        bench.connection.fail(at: named, badToken)
        bench.settle()
        #expect(bench.connection.numbers == [7])
        bench.advance(by: .seconds(6))
        #expect(bench.sent.count { $0 == 7 } == 3)
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.confirmed == 49)
        #expect(bench.journal.rejections.keys.map(\.rawValue) == [50])
    }

    @Test("Status 10 names the last good one: it is acknowledged, and what came after goes again") func statusTen()
        throws
    {
        let bench = try bench()
        try bench.submit(1..<6)
        bench.settle()
        bench.connection.fail(at: 3, .lastGood)
        bench.settle()
        #expect(bench.status.confirmed == 3)
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.connection.numbers == [4, 5])
    }

    @Test("What goes again is checked again: blacklisted and expired meanwhile it does not go") func checkedAgain()
        throws
    {
        let bench = try bench()
        var notifications = (1..<7).map { Sample.notification($0) }
        // 5 has the token that 2 is refused for, and 4 expires.
        notifications[4].recipient = notifications[1].recipient
        notifications[3].expiration = .at(bench.clock.wall.seconds + 3)
        try bench.submit(notifications)
        bench.settle()
        bench.clock.advance(by: .seconds(3))
        bench.connection.fail(at: 2, badToken)
        bench.settle()
        #expect(bench.connection.numbers == [3, 6])
        #expect(bench.journal.rejections[UID(5)]?.reason == .blacklisted)
        #expect(bench.status.expired == 1)
    }

    @Test("submit keeps journaling while hand-out holds for an error, and that it holds is told") func holding()
        async throws
    {
        let bench = try bench(InMemoryJournal(mode: .manual))
        let events = bench.listen()
        try bench.submit(1..<5)
        bench.settle()
        bench.commits = false
        bench.connection.fail(at: 2, badToken)
        bench.settle()
        #expect(bench.status.holding == ["default": .payloadError])
        try bench.submit(5..<7)
        bench.journal.commit()
        bench.settle()
        #expect(bench.status.submitted == 6)
        #expect(bench.sent == [1, 2, 3, 4])
        bench.journal.commitBlacklist()
        bench.settle()
        #expect(bench.status.holding == ["default": .payloadError])
        bench.commits = true
        bench.settle()
        #expect(bench.status.holding.isEmpty)
        #expect(bench.connection.numbers == [3, 4, 5, 6])
        let told = await bench.events(events)
        let hold = told.firstIndex(of: .holding(route: "default", .payloadError))
        let end = told.firstIndex(of: .handingOut(route: "default"))
        #expect(try #require(hold) < #require(end))
    }

    @Test("The blacklist is on disk before the entry is settled: a kill in between leaves what the blacklist stops")
    func blacklistFirst() throws {
        let bench = try bench(InMemoryJournal(mode: .manual))
        try bench.submit(1..<3)
        bench.settle()
        bench.commits = false
        bench.connection.fail(at: 1, badToken)
        bench.settle()
        bench.journal.commit()
        bench.settle()
        #expect(bench.journal.rejections.isEmpty)
        bench.journal.commitBlacklist()
        let next = try Bench(bench.journal.crashed(mode: .immediate), clock: bench.clock, modes: bench.modes)
        next.settle()
        #expect(next.sent == [2])
    }

    @Test("With nothing kept aside a late error requeues what is unconfirmed and says how many are lost") func late()
        async throws
    {
        let bench = try bench { $0.lateErrorPeriod = .zero }
        let events = bench.listen()
        try bench.submit(1..<4)
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmedByQuiet == 3)
        try bench.submit(4..<6)
        bench.settle()
        bench.connection.fail(at: 2, badToken)
        bench.settle()
        #expect(bench.status.wronglyConfirmed == 2)
        #expect(bench.connection.numbers == [4, 5])
        #expect(bench.status.possibleDuplicates == 0)
        #expect(await bench.events(events).contains(.lateError(route: "default", recalled: 0, lost: 2)))
    }

    @Test("An error for a position that was never issued makes all of it unknown, by the guarantee", arguments: [0, 9])
    func impossible(_ position: UInt64) throws {
        let bench = try bench()
        try bench.submit([Sample.notification(1), Sample.notification(2, guarantee: .atMostOnce)])
        bench.settle()
        #expect(bench.connection.sent.count == 2)
        bench.connection.fail(at: position, badToken)
        bench.advance(by: .seconds(1))
        #expect(bench.connection.numbers == [1])
        #expect(bench.status.possibleDuplicates == 1)
        #expect(bench.status.unknown == 1)
        #expect(bench.status.confirmed == 0)
        #expect(bench.journal.rejections.isEmpty)
    }

    @Test("A connection that closes without a word: at least once goes again and is counted, at most once is unknown")
    func silentEnd() throws {
        let bench = try bench()
        try bench.submit((1..<5).map { Sample.notification($0, guarantee: $0 > 2 ? .atMostOnce : .atLeastOnce) })
        bench.settle()
        #expect(bench.connection.sent.count == 4)
        bench.connection.end()
        bench.advance(by: .seconds(1))
        #expect(bench.connections[0].count == 2)
        #expect(bench.connection.numbers == [1, 2])
        #expect(bench.status.possibleDuplicates == 2)
        #expect(bench.status.unknown == 2)
    }

    @Test("What a connection provably never wrote goes again freely, and is no duplicate") func neverWritten() throws {
        let bench = try bench()
        try bench.submit(1..<5)
        bench.settle()
        bench.connection.end(possiblySentThrough: 1)
        bench.advance(by: .seconds(1))
        #expect(bench.connection.numbers == [1, 2, 3, 4])
        #expect(bench.status.possibleDuplicates == 1)
    }

    @Test("At most once, what an error discarded goes again and survives a kill as never sent")
    func atMostOnceDiscarded() throws {
        let bench = try bench()
        try bench.submit(1..<5, guarantee: .atMostOnce)
        bench.settle()
        bench.accepts = false
        bench.connection.fail(at: 2, badToken)
        bench.settle()
        let next = try bench.crashed()
        next.advance(by: .seconds(1))
        #expect(next.sent == [3, 4])
        #expect(next.status.unknown == 0)
    }

    @Test("An error on a connection that was left already, with nothing to write, holds nothing up")
    func errorOnAnOldConnection() throws {
        let bench = try bench(quiet: nil) { $0.cumulativeWindow = 8 }
        try bench.submit(1..<5)
        bench.settle()
        // Half a window: new traffic moves to a fresh connection.
        try bench.submit(5..<6)
        bench.settle()
        try #require(bench.connections[0].count == 2)
        let old = bench.connections[0][0]
        old.fail(at: 9, badPayload)
        bench.settle()
        #expect(bench.status.holding.isEmpty)
        #expect(bench.connection.numbers == [5, 1, 2, 3, 4])
    }

    @Test("A thousand, number 500 is bad: exactly 999 are taken, each once") func thousand() throws {
        let bench = try bench { $0.cumulativeWindow = 5000 }
        try bench.submit(1..<1001)
        bench.settle()
        bench.connection.fail(at: 500, badToken)
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmed == 999)
        #expect(bench.status.rejectedTotal == 1)
        #expect(bench.sent.count == 1000 + 500)
        #expect(bench.connection.numbers == Array(501..<1001))
    }

    @Test("Neighbours of a bad notification keep their attempts and their place, however many are bad")
    func neighbours() throws {
        let bench = try bench()
        try bench.submit(1..<31)
        bench.settle()
        for _ in 0..<10 {
            bench.connection.fail(at: 2, badPayload)
            bench.settle()
        }
        #expect(bench.status.rejectedTotal == 10)
        #expect(bench.status.confirmed == 10)
        #expect(bench.connection.numbers == Array(21..<31))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
    }

    @Test(
        "A service that calls every token gone, one connection each, sets its topic aside and leaves the rest unharmed")
    func wrongEnvironment() throws {
        let bench = try bench { $0.suspects.greatestUniform = 20 }
        let badToken = badToken
        bench.prepare = { connection in
            connection.state.withLock { $0.onSend = { connection.fail(at: 1, badToken) } }
        }
        try bench.submit(1..<101)
        bench.advance(by: .seconds(600))
        #expect(bench.core.producer.blacklist.count == 20)
        #expect(bench.journal.entries.count == 80)
        #expect(bench.status.topicsSetAside["default"]?.first?.reason.contains("in a row") == true)
    }

    @Test("Links of connections that have ended are forgotten when their last entry is settled") func linksGo() throws {
        let bench = try bench()
        try bench.submit(1..<31)
        bench.settle()
        for _ in 0..<10 {
            bench.connection.fail(at: 2, badPayload)
            bench.settle()
        }
        bench.connection.end()
        bench.advance(by: .seconds(1))
        #expect(bench.consumer.connections.links.count == 2)
    }
}
