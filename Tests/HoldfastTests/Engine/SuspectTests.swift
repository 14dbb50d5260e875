import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Tokens that the service calls bad, and the environment that may be.
/// Bad tokens at the head of a topic of which nothing was ever taken.
@Suite(.timeLimit(.minutes(1))) struct BadHeadTests {
    @Test(
        "However many of them lie ahead of good ones, these go within an hour",
        arguments: [(500, Duration.seconds(10)), (1500, .seconds(30 * 60)), (5000, .seconds(60 * 60))])
    func passed(count: Int, within limit: Duration) throws {
        let bench = try Bench()
        let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        bench.answer = { Sample.number(of: $0) <= count ? bad : .confirmed }
        for start in stride(from: 1, to: count + 1001, by: 500) { try bench.submit(start..<start + 500) }
        let start = bench.clock.monotonic
        while bench.status.confirmed < 1000, bench.clock.monotonic - start < limit { bench.advance(by: .seconds(5)) }
        #expect(bench.status.confirmed == 1000)
    }

    @Test("A wrong environment is asked once for each that waits, and then one after each pause; no token is convicted")
    func wrong() throws {
        let bench = try Bench()
        let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        bench.answer = { _ in bad }
        for start in stride(from: 1, to: 3001, by: 500) { try bench.submit(start..<start + 500) }
        bench.advance(by: .seconds(4 * 3600))
        let before = bench.sent.count
        #expect((3000...3100).contains(before))
        #expect(Set(bench.sent).count == 3000)
        bench.advance(by: .seconds(3600))
        #expect((6...12).contains(bench.sent.count - before))
        #expect(bench.core.producer.blacklist.count == 0 && bench.status.rejectedTotal == 0)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
    }

    @Test(
        "Good ones behind some more than are held go within minutes, and nobody is told meanwhile that nothing more goes"
    )
    func behindHeld() throws {
        let bench = try Bench()
        let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        bench.answer = { Sample.number(of: $0) <= 1200 ? bad : .confirmed }
        for start in stride(from: 1, to: 2201, by: 500) { try bench.submit(start..<min(start + 500, 2201)) }
        let start = bench.clock.monotonic
        while bench.status.confirmed < 1000, bench.clock.monotonic - start < .seconds(300) {
            bench.advance(by: .milliseconds(500))
            #expect(bench.consumer.rest == nil || bench.status.confirmed == 1000)
        }
        #expect(bench.status.confirmed == 1000)
    }

    @Test(
        "That nothing more goes is told when each was tried once, or eight pauses were in vain",
        arguments: [1, 5, 3000])
    func told(count: Int) throws {
        let bench = try Bench()
        let bad = SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        bench.answer = { _ in bad }
        for start in stride(from: 1, to: count + 1, by: 500) { try bench.submit(start..<min(start + 500, count + 1)) }
        bench.advance(by: .milliseconds(5600))
        #expect(bench.consumer.rest == nil)
        bench.advance(by: .seconds(count < 10 ? 8 : 60))
        guard count > 10 else {
            guard case .stopped = bench.consumer.rest else {
                Issue.record("nobody is told")
                return
            }
            return
        }
        #expect(bench.consumer.rest == nil)
        bench.advance(by: .seconds(200))
        guard case .stopped = bench.consumer.rest else {
            Issue.record("nobody is told")
            return
        }
    }
}

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
        bench.connection.answer(2, .confirmed)
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

    /// Of the first route.
    private func aside(_ bench: Bench) -> [String] { (bench.status.topicsSetAside["default"] ?? []).map(\.topic) }

    @Test(
        "A wrong environment sets the topic aside, blacklists nobody, and everything goes when it is mended",
        arguments: Guarantee.allCases)
    func wrongEnvironment(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        try bench.submit(1..<301, guarantee: guarantee)
        bench.advance(by: .milliseconds(5200))
        #expect(bench.status.topicsSetAside["default"]?.first?.reason.contains("environment") == true)
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

    @Test("A wrong environment with thin traffic blacklists nobody") func thinTraffic() throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { _ in bad }
        for number in 1..<20 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(60))
        }
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(aside(bench) == ["com.example.app"])
        #expect(bench.journal.entries.count == 19)
    }

    @Test("A list with a third of old tokens is cleaned, in one turn or in many, and the lane runs on")
    func listCleaning() throws {
        let bench = try Bench { $0.window = 2000 }
        let bad = bad
        bench.answer = { Sample.number(of: $0).isMultiple(of: 3) ? bad : .confirmed }
        try bench.submit(1..<1501)
        bench.advance(by: .seconds(12))
        // The bad ones twice.
        #expect(bench.sent.count == 2000)
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        #expect(bench.core.producer.blacklist.count == 500)
        #expect(bench.status.confirmed == 1000)
    }

    @Test(
        "Bad tokens before the first good ones of a topic hold up none of them, whatever the window, and are convicted",
        arguments: [1000, 100, 20])
    func goodBehindBad(_ window: Int) throws {
        let bench = try Bench { $0.window = window }
        let bad = bad
        bench.answer = { Sample.number(of: $0) <= 150 ? bad : .confirmed }
        try bench.submit(1..<1151)
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 1000)
        bench.advance(by: .seconds(15))
        #expect(aside(bench).isEmpty)
        #expect(bench.core.producer.blacklist.count == 150)
        #expect(bench.journal.entries.isEmpty)
    }

    @Test(
        "A service that calls every token bad for a moment costs none, and nothing that was sent to them",
        arguments: Guarantee.allCases)
    func wrongForAMoment(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<301, guarantee: guarantee)
        bench.settle()
        let bad = bad
        bench.connection.state.withLock { $0.answer = { _ in bad } }
        try bench.submit(301..<351, guarantee: guarantee)
        bench.settle()
        #expect(bench.status.suspects == 50)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        try bench.submit(351..<601, guarantee: guarantee)
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmed == 600)
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.unknown == 0 && bench.status.possibleDuplicates == 0)
        #expect(!bench.consumer.judge.breakers.hasChances)
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
        #expect(aside(bench) == ["com.example.app"])
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
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.confirmed == 3998)
        #expect(aside(bench) == ["com.example.app"])
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
        #expect(bench.consumer.connections.links.count == 1)
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
        // Before the topic is tried, which needs a connection.
        bench.advance(by: .milliseconds(5200))
        #expect(aside(bench) == ["com.example.app"])
        #expect(bench.consumer.connections.links.count == 1)
    }

    // MARK: Topics

    /// Notifications of a topic that the service knows no token of.
    private func foreign(_ numbers: Range<Int>, _ topic: String = "com.example.other") -> [PushNotification] {
        numbers.map { number in
            var notification = Sample.notification(number)
            notification.topic = topic
            return notification
        }
    }

    @Test(
        "A topic whose every token is called bad is set aside alone: its neighbours acquit nobody, and go on",
        arguments: [(400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, "Unregistered")])
    func wrongTopicOfTwo(_ status: Int, _ reason: String) throws {
        let bench = try Bench { $0.suspects.greatestUniform = 20 }
        bench.answer = {
            $0.topic == "com.example.other" ? SendResult(apnsStatus: status, reason: reason) : .confirmed
        }
        for turn in 0..<50 {
            let first = turn * 20
            let mixed = zip((first..<first + 10).map { Sample.notification($0) }, foreign(first + 10..<first + 20))
            try bench.submit(mixed.flatMap { [$0, $1] })
            bench.advance(by: .seconds(1))
        }
        bench.advance(by: .seconds(20))
        #expect(bench.status.confirmed == 500)
        #expect(aside(bench) == ["com.example.other"])
        #expect(bench.status.topicsSetAside["default"]?.first?.reason.contains(reason) == true)
        #expect(bench.core.producer.blacklist.count == (status == 410 ? 20 : 0))
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(1200))
        #expect(bench.status.confirmed == (status == 410 ? 980 : 1000))
        #expect(aside(bench).isEmpty)
    }

    @Test("Confirmations of one topic are no proof for another: no token of one that was never taken is convicted")
    func unprovenNeighbour() throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { $0.topic == "com.example.other" ? bad : .confirmed }
        try bench.submit(foreign(1..<2))
        try bench.submit(2..<200)
        bench.advance(by: .seconds(60))
        #expect(bench.core.producer.blacklist.count == 0)
        bench.connection.state.withLock { $0.answer = { Sample.number(of: $0) == 1 ? bad : .confirmed } }
        // Once the topic is proven, its bad token is convicted like any other.
        try bench.submit(foreign(200..<202))
        bench.advance(by: .seconds(600))
        #expect(bench.status.confirmed == 200)
        #expect(bench.journal.rejections.mapValues(\.reason) == [UID(1): .badDeviceToken])
    }

    @Test("Where nothing was ever taken starts cost no token, however many there are") func restarts() throws {
        let bad = bad
        var bench = try Bench()
        for number in 1..<10 {
            bench.answer = { _ in bad }
            try bench.submit(number..<number + 1)
            bench.advance(by: .seconds(20))
            bench = try bench.crashed()
        }
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.isEmpty)
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(20))
        #expect(bench.status.confirmed == 9)
    }

    @Test("What an earlier process saw taken proves a topic: one bad token is what is left after a crash, and it ends")
    func provenBefore() throws {
        let bad = bad
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<3)
        bench.settle()
        var next = try bench.crashed()
        next.answer = { _ in bad }
        try next.submit(3..<4)
        next.advance(by: .seconds(20))
        #expect(next.journal.rejections[UID(3)]?.reason == .badDeviceToken)
        // Not so when the topic goes wrong: that outlives the process as well.
        try next.submit(10..<60)
        next.advance(by: .seconds(20))
        #expect(aside(next) == ["com.example.app"])
        #expect(next.journal.rejections.count == 1)
        next = try next.crashed()
        next.answer = { _ in bad }
        try next.submit(60..<61)
        next.advance(by: .seconds(20))
        #expect(aside(next) == ["com.example.app"])
        #expect(next.core.producer.blacklist.count == 1)
    }

    @Test("A token that is bad and is the first to be sent to holds up no other of its topic") func firstIsBad() throws
    {
        let bench = try Bench()
        let bad = bad
        bench.answer = { Sample.number(of: $0) == 1 ? bad : .confirmed }
        try bench.submit(1..<2)
        bench.advance(by: .seconds(3600))
        #expect(aside(bench) == ["com.example.app"])
        try bench.submit(2..<3)
        bench.settle()
        #expect(bench.status.confirmed == 1)
        bench.advance(by: .seconds(10))
        #expect(bench.core.producer.blacklist.count == 1)
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("Where a topic has bad tokens only, its notifications end by their age, and no token is blacklisted")
    func onlyBad() throws {
        let bench = try Bench { $0.retry.greatestAge = .seconds(12 * 3600) }
        let bad = bad
        bench.answer = { _ in bad }
        try bench.submit(1..<20)
        bench.advance(by: .seconds(11 * 3600))
        #expect(bench.journal.entries.count == 19)
        bench.advance(by: .seconds(3 * 3600))
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.rejected == [.expired: 19])
        #expect(bench.core.producer.blacklist.count == 0)
    }

    @Test("More topics than are told apart cost no token") func manyTopics() throws {
        let bench = try Bench()
        let bad = bad
        bench.answer = { Sample.number(of: $0).isMultiple(of: 60) ? bad : .confirmed }
        let count = TopicBreakers.limit * 6 / 5
        for number in 0..<count {
            try bench.submit(foreign(number..<number + 1, "com.example.topic\(number)"))
        }
        bench.advance(by: .seconds(7))
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.status.confirmed == count - count / 60)
        #expect(bench.status.inFlight == 0)
    }

    // MARK: Where only errors are answered

    private let invalid = PayloadError.Kind.refused(SendResult(.rejected(.suspectToken), reason: .invalidToken))

    @Test("A binary service that calls every token bad has nobody blacklisted, and its topic set aside") func binary()
        throws
    {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        let invalid = invalid
        bench.prepare = { connection in
            connection.state.withLock { $0.onSend = { connection.fail(at: 1, invalid) } }
        }
        try bench.submit(1..<600)
        bench.advance(by: .seconds(60))
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(bench.journal.rejections.isEmpty)
        #expect(aside(bench) == ["com.example.app"])
        bench.prepare = { _ in }
        bench.connections[0].last?.state.withLock { $0.onSend = {} }
        bench.advance(by: .seconds(1200))
        #expect(bench.status.confirmed == 599)
    }

    @Test("A token that a binary service calls bad is convicted when an error or a barrier has proven the topic")
    func binaryConviction() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<5)
        bench.settle()
        bench.connection.fail(at: 3, invalid)
        bench.settle()
        #expect(bench.status.confirmed == 2)
        #expect(bench.status.suspects == 1)
        bench.advance(by: .seconds(6))
        #expect(bench.journal.rejections.mapValues(\.reason) == [UID(3): .invalidToken])
        #expect(bench.core.producer.blacklist.count == 1)
    }

    @Test("Silence alone proves no topic; what it has confirmed is proof once an error behind it is answered")
    func silence() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<5)
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 4)
        bench.connection.end(possiblySent: [])
        bench.settle()
        try bench.submit(5..<6)
        bench.settle()
        // On a connection of its own it is the first, and nothing is proven.
        bench.connection.fail(at: 1, invalid)
        bench.advance(by: .milliseconds(5500))
        #expect(aside(bench) == ["com.example.app"])
        #expect(bench.core.producer.blacklist.count == 0)
    }

    @Test("What silence has confirmed on a connection is proven by an error behind it") func silenceProven() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<5)
        bench.advance(by: .seconds(10))
        try bench.submit(5..<6)
        bench.settle()
        bench.connection.fail(at: 5, invalid)
        bench.advance(by: .seconds(6))
        #expect(bench.journal.rejections.mapValues(\.reason) == [UID(5): .invalidToken])
    }

    @Test(
        "A late error proves what was sent before the one it names, and what it denies proves nothing",
        arguments: [(1, false), (3, true)] as [(UInt64, Bool)])
    func lateError(_ position: UInt64, _ isProven: Bool) throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<6)
        bench.advance(by: .seconds(6))
        #expect(bench.status.confirmed == 5)
        bench.connection.fail(at: position, invalid)
        bench.advance(by: .seconds(5.5))
        #expect(bench.core.producer.blacklist.count == (isProven ? 1 : 0))
        #expect(aside(bench) == (isProven ? [] : ["com.example.app"]))
        bench.advance(by: .seconds(3600))
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.rejectedTotal == (isProven ? 1 : 0))
    }
}
