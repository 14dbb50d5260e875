import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A stop is never for ever: lanes that stopped by themselves try again by themselves.
@Suite(.timeLimit(.minutes(1))) struct ProbeTests {
    private let refused = SendResult(apnsStatus: 403, reason: "InvalidProviderToken")
    private let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")

    private func stopped(_ bench: Bench) -> [LaneKey] {
        bench.status.lanes.filter { $0.stoppedBecause != nil }.map(\.key)
    }

    @Test(
        "Lanes that were stopped for their credentials try one entry after growing pauses, and run again when it is taken",
        arguments: Guarantee.allCases)
    func credentials(_ guarantee: Guarantee) async throws {
        let bench = try Bench()
        let events = bench.listen()
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(0..<100, guarantee: guarantee)
        bench.settle()
        let before = bench.sent.count
        #expect(stopped(bench).count == 4)
        #expect(bench.status.lanes.allSatisfy { $0.nextProbeAt != nil })
        bench.advance(by: .seconds(60))
        let probes = bench.sent.count - before
        #expect((5...9).contains(probes))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(64))
        #expect(bench.status.confirmed == 100)
        #expect(bench.status.unknown == 0)
        #expect(bench.status.possibleDuplicates == 0)
        #expect(stopped(bench).isEmpty)
        #expect(bench.status.lanes.allSatisfy { $0.nextProbeAt == nil })
        #expect(await bench.events(events).contains(.laneResumed(bench.lane(guarantee))))
    }

    @Test("Once a probe has failed, the next one waits: a lane that stands still for a day costs about 150 requests")
    func growing() throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(0..<10)
        bench.settle()
        let before = bench.sent.count
        bench.advance(by: .seconds(20 * 3600))
        #expect((120...260).contains(bench.sent.count - before))
    }

    @Test("One probe is out at a time on a route, whichever of its lanes stopped") func oneAtATime() throws {
        let bench = try Bench()
        try bench.submit(0..<10)
        try bench.submit(10..<20, guarantee: .atMostOnce)
        bench.settle()
        for number in bench.sent { bench.connection.answer(number, refused) }
        bench.settle()
        let before = bench.sent.count
        bench.advance(by: .seconds(30))
        #expect(bench.sent.count == before + 1)
    }

    @Test("An operator's pause is never probed") func paused() throws {
        let bench = try Bench()
        bench.core.pause(bench.lane())
        bench.settle()
        try bench.submit(0..<10)
        bench.advance(by: .seconds(3600))
        #expect(bench.connections[0].isEmpty)
        #expect(bench.status.lanes.allSatisfy { $0.nextProbeAt == nil })
    }

    @Test("An operator who pauses a stopped lane ends its probes") func pausedLater() throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(0..<10)
        bench.settle()
        bench.core.pause(bench.lane())
        bench.settle()
        let before = bench.sent.count
        bench.advance(by: .seconds(3600))
        #expect(bench.sent.count == before)
    }

    @Test(
        "Probes of a topic of which too many tokens were called bad blacklist nobody, and when one is taken all go",
        arguments: Guarantee.allCases)
    func suspects(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        try bench.submit(1..<301, guarantee: guarantee)
        bench.advance(by: .seconds(600))
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.isEmpty)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(1800))
        #expect(bench.status.confirmed == 300)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.unknown == 0)
    }

    @Test("A bad token at the head of the queue does not keep a topic from coming back whose environment is mended")
    func badHead()
        throws
    {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        try bench.submit(1..<20)
        bench.advance(by: .seconds(5.5))
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        bench.connection.state.withLock { $0.answer = { Sample.number(of: $0) < 3 ? bad : .confirmed } }
        bench.advance(by: .seconds(60))
        #expect(bench.status.topicsSetAside.isEmpty)
        #expect(bench.status.confirmed == 17)
        bench.advance(by: .seconds(1800))
        #expect(bench.status.rejectedTotal == 2)
    }

    @Test("A probe whose connection ends harms nothing, and another one follows", arguments: Guarantee.allCases)
    func connectionEnds(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        try bench.submit(1..<4, guarantee: guarantee)
        bench.settle()
        for number in 1..<4 { bench.connection.answer(number, refused) }
        bench.advance(by: .seconds(2))
        #expect(bench.sent.count == 4)
        bench.connection.end(possiblySent: [])
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(4))
        #expect(bench.status.confirmed == 3)
        #expect(bench.status.unknown == 0)
    }

    @Test("A lane with nothing to try stays stopped, and the first entry that comes is the probe") func nothingToTry()
        throws
    {
        let bench = try Bench()
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(1..<2)
        bench.settle()
        bench.core.withdraw([UID(1)], from: bench.lane()) { _ in }
        bench.settle()
        bench.advance(by: .seconds(3600))
        #expect(stopped(bench).count == 4)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        try bench.submit(2..<5)
        bench.settle()
        #expect(bench.status.confirmed == 3)
        #expect(stopped(bench).isEmpty)
    }

    // MARK: Credentials that work

    @Test("One 403 among thousands of confirmations stops nothing: its entry goes again after a pause") func sporadic()
        throws
    {
        let bench = try Bench()
        let count = Monitor(0)
        bench.answer = { notification in
            guard Sample.number(of: notification) == 500 else { return .confirmed }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst
                ? SendResult(.laneStopped(.credentials), status: 403, reason: .expiredProviderToken) : .confirmed
        }
        try bench.submit(1..<10)
        bench.settle()
        try bench.submit(10..<3000)
        bench.settle()
        #expect(stopped(bench).isEmpty)
        #expect(bench.status.confirmed == 2998)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 2999)
        #expect(bench.status.deferrals == 1)
    }

    @Test("An entry that alone is refused for its credentials does not go in a hot loop") func aloneRefused() throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { Sample.number(of: $0) == 5 ? refused : .confirmed }
        try bench.submit(1..<5)
        bench.settle()
        try bench.submit(5..<6)
        for number in 6..<66 {
            try bench.submit(number..<number + 1)
            bench.advance(by: .seconds(5))
        }
        #expect(stopped(bench).isEmpty)
        #expect(bench.status.confirmed == 64)
        #expect(bench.sent.filter { $0 == 5 }.count < 61)
    }

    @Test("Lanes that one entry has stopped run again as soon as another one is taken", arguments: [false, true])
    func takenMeanwhile(isSameTurn: Bool) throws {
        let bench = try Bench()
        try bench.submit(1..<17)
        bench.settle()
        bench.connection.answer(1, refused)
        if !isSameTurn {
            bench.settle()
            #expect(stopped(bench).count == 4)
        }
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(stopped(bench).isEmpty)
        let refused = refused
        bench.connection.state.withLock { $0.answer = { Sample.number(of: $0) == 1 ? refused : .confirmed } }
        for number in 3..<17 { bench.connection.answer(number, .confirmed) }
        try bench.submit(17..<100)
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 98)
        #expect(stopped(bench).isEmpty)
    }

    @Test(
        "A lone entry that is refused for its credentials, after others were taken, waits longer and longer; nothing stops"
    )
    func leftAlone() throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { Sample.number(of: $0) == 1 ? refused : .confirmed }
        try bench.submit(1..<10)
        bench.advance(by: .seconds(3600))
        #expect(stopped(bench).isEmpty)
        #expect(bench.status.confirmed == 8)
        #expect((8...18).contains(bench.sent.filter { $0 == 1 }.count))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
    }

    @Test("Nobody is told that nothing more goes before another entry than the refused one was tried") func restsLate()
        throws
    {
        let bench = try Bench()
        bench.capacity = 1
        let refused = refused
        bench.answer = { Sample.number(of: $0) == 1 ? refused : .confirmed }
        try bench.submit(1..<10)
        bench.settle()
        #expect(bench.sent == [1])
        #expect(stopped(bench).count == 4)
        for _ in 0..<20 {
            #expect(bench.consumer.rest == nil)
            bench.advance(by: .milliseconds(500))
        }
        #expect(bench.status.confirmed == 8)
    }

    @Test(
        "That nothing more goes is told when a second entry was refused, or when there is no other",
        arguments: [2, 3, 10])
    func rests(end: Int) throws {
        let bench = try Bench()
        bench.capacity = 1
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(1..<end)
        bench.settle()
        #expect(bench.consumer.rest == nil)
        bench.advance(by: .seconds(5))
        #expect(bench.consumer.rest == .stopped("the service answered 403 InvalidProviderToken"))
        #expect(bench.sent.count <= 4)
    }

    @Test("A key that is revoked in mid-life stops the route, and the entries lose nothing") func revoked() throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<100)
        bench.settle()
        bench.connection.state.withLock { $0.answer = { _ in refused } }
        try bench.submit(100..<1000)
        bench.settle()
        #expect(stopped(bench).count == 4)
        #expect(bench.status.deferrals == 99)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 999)
    }

    @Test("A broadcast goes while the tokens of its topic are called bad: it has none, and says nothing of them")
    func broadcastMeanwhile() throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { $0.token == nil ? .confirmed : bad }
        try bench.submit(1..<20)
        bench.advance(by: .seconds(6))
        let channel = BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")
        let broadcast = PushNotification(
            channel: channel, topic: "com.example.app",
            payload: Array(#"{"aps":{"timestamp":1,"event":"update"}}"#.utf8))
        try bench.submit([broadcast])
        bench.settle()
        #expect(bench.status.confirmed == 1)
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        bench.advance(by: .seconds(120))
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        #expect(bench.core.producer.blacklist.count == 0)
    }

    // MARK: Entries that are bad themselves

    @Test(
        "An entry that alone is refused for its credentials does not keep its lanes stopped: each is tried in its turn",
        arguments: Guarantee.allCases, [1, 5])
    func rotates(_ guarantee: Guarantee, _ count: Int) throws {
        let bench = try Bench()
        let refused = refused
        bench.answer = { _ in refused }
        try bench.submit(1..<1 + count, guarantee: guarantee)
        bench.settle()
        #expect(stopped(bench).count == 4)
        try bench.submit(1 + count..<20, guarantee: guarantee)
        bench.connection.state.withLock {
            $0.answer = { Sample.number(of: $0) <= count ? refused : .confirmed }
        }
        bench.advance(by: .seconds(120))
        #expect(bench.status.confirmed == 19 - count)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        #expect(bench.status.unknown == 0)
    }

    @Test(
        "Lanes that another server had stopped come back, although it still answers for the first entry",
        arguments: Guarantee.allCases)
    func rotatesForeign(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        let foreign = SendResult(apnsStatus: 404)
        bench.answer = { _ in foreign }
        try bench.submit(1..<20, guarantee: guarantee)
        bench.settle()
        #expect(stopped(bench).count == 4)
        let first = try #require(bench.sent.min())
        bench.connection.state.withLock { $0.answer = { Sample.number(of: $0) == first ? foreign : .confirmed } }
        bench.advance(by: .seconds(200))
        #expect(stopped(bench).isEmpty)
        #expect(bench.status.confirmed == 18)
    }
}
