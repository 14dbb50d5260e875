import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// One wrong topic stops nobody but its own entries.
@Suite(.timeLimit(.minutes(1))) struct TopicTests {
    private static let typo = "com.example.typo"
    private static let refused = SendResult(apnsStatus: 400, reason: "TopicDisallowed")

    private func typos(_ numbers: Range<Int>, _ guarantee: Guarantee = .atLeastOnce, topic: String = typo)
        -> [PushNotification]
    {
        numbers.map { number in
            var notification = Sample.notification(number, guarantee: guarantee)
            notification.topic = topic
            return notification
        }
    }

    /// A bench whose service knows every topic but one.
    private func bench(
        _ reason: String = "TopicDisallowed", log: RecordingLog? = nil,
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        let bench = try Bench(log: log, change: change)
        bench.answer = { $0.topic == Self.typo ? SendResult(apnsStatus: 400, reason: reason) : .confirmed }
        return bench
    }

    private func mend(_ bench: Bench) {
        bench.answer = { _ in .confirmed }
        for connection in bench.connections[0] { connection.state.withLock { $0.answer = { _ in .confirmed } } }
    }

    private func sent(_ bench: Bench, _ topic: String = typo) -> [Int] {
        bench.connections[0].flatMap(\.sent).filter { $0.notification.topic == topic }
            .map { Sample.number(of: $0.notification) }
    }

    @Test(
        "One notification with a wrong topic does not stop its neighbours",
        arguments: ["TopicDisallowed", "BadTopic", "MissingTopic", "TopicMismatch"])
    func neighbours(_ reason: String) async throws {
        let bench = try bench(reason)
        let events = bench.listen()
        try bench.submit(typos(1..<2))
        bench.settle()
        try bench.submit(2..<1000)
        bench.settle()
        #expect(bench.status.confirmed == 998)
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause == nil })
        let topics = bench.status.topicsSetAside["default"] ?? []
        #expect(topics.map(\.topic) == [Self.typo])
        #expect(topics.first?.reason.contains(reason) == true)
        #expect(topics.first?.nextProbeAt != nil)
        #expect(bench.journal.entries.map(\.attempts) == [0])
        #expect(
            await bench.events(events).contains {
                if case .topicSetAside("default", Self.typo, _) = $0 { true } else { false }
            })
    }

    @Test("A topic that is set aside is probed with one entry after growing pauses, whatever waits for it")
    func probed() throws {
        let bench = try bench()
        try bench.submit(typos(1..<2))
        bench.settle()
        try bench.submit(typos(2..<3001))
        bench.settle()
        #expect(sent(bench) == [1])
        bench.advance(by: .seconds(1800))
        let count = sent(bench).count
        #expect((10...24).contains(count))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        #expect(bench.status.possibleDuplicates == 0)
    }

    @Test(
        "That nothing more goes is told after three probes in vain, or when each that waits was tried",
        arguments: [1, 50])
    func told(count: Int) throws {
        let bench = try bench()
        try bench.submit(typos(1..<count + 1))
        bench.settle()
        #expect(bench.consumer.rest == nil)
        bench.advance(by: .seconds(3))
        #expect((bench.consumer.rest == nil) == (count > 1))
        bench.advance(by: .seconds(5))
        guard case .stopped(let words) = bench.consumer.rest else {
            Issue.record("nobody is told")
            return
        }
        #expect(words.contains("topic com.example.typo is set aside"))
    }

    @Test(
        "When a probe is taken the topic is back by itself, and what waited for it follows in order",
        arguments: Guarantee.allCases)
    func comesBack(_ guarantee: Guarantee) async throws {
        let bench = try bench()
        let events = bench.listen()
        try bench.submit(typos(1..<2, guarantee))
        bench.settle()
        try bench.submit(typos(2..<3001, guarantee))
        bench.settle()
        mend(bench)
        bench.advance(by: .seconds(2))
        #expect(bench.status.confirmed == 3000)
        #expect(bench.status.unknown == 0)
        #expect(bench.status.possibleDuplicates == 0)
        #expect(bench.status.topicsSetAside.isEmpty)
        let order = Array(sent(bench).dropFirst())
        #expect(order == order.sorted())
        #expect(bench.consumer.judge.topicHold.isEmpty)
        #expect(await bench.events(events).contains(.topicBack(route: "default", topic: Self.typo)))
    }

    @Test("One that ends its connections holds up no other that comes back for the topic to the same place")
    func endsConnections() throws {
        let bench = try bench {
            $0.window = 1
            $0.reconnectInterval = .zero
            $0.reconnectMaximum = .seconds(1)
        }
        try bench.submit(typos(1..<7, .atMostOnce))
        bench.settle()
        bench.prepare = { connection in
            connection.state.withLock { state in
                state.answer = { [unowned connection] notification in
                    guard Sample.number(of: notification) == 3 else { return .confirmed }
                    connection.bidsFarewell.withLock { $0 = true }
                    return SendResult(apnsStatus: 503, reason: "Shutdown")
                }
            }
        }
        bench.prepare(bench.connection)
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 5)
    }

    @Test("One that connections ended with does not become its topic's probe and then wait for others of the topic")
    func accusedProbe() throws {
        let bench = try Bench {
            $0.reconnectInterval = .zero
            $0.reconnectMaximum = .seconds(1)
        }
        bench.prepare = { connection in connection.state.withLock { $0.endsWhenClosed = false } }
        var isTaken = true
        func serve(_ duration: Duration) {
            bench.serve(for: duration, every: .milliseconds(100)) { connection in
                let new = connection.takeNew()
                if new.contains(where: { Sample.number(of: $0.notification) == 3 }) {
                    return connection.goAway(leaving: new)
                }
                for sent in new {
                    connection.sink(.results([(sent.ticket, isTaken ? SendResult(.confirmed) : Self.refused)]))
                }
                if connection.isClosed { connection.end(possiblySent: [], cause: nil) }
            }
        }
        try bench.submit(typos(3..<4, .atMostOnce))
        serve(.seconds(10))
        // Of a lane behind that one.
        isTaken = false
        var other = typos(5..<6)
        other[0].priority = .considerate
        try bench.submit(other)
        serve(.seconds(10))
        isTaken = true
        serve(.seconds(600))
        #expect(bench.status.confirmed == 1)
    }

    @Test("An answer to a probe that is not about the topic brings it back too") func otherAnswer() throws {
        let bench = try bench()
        try bench.submit(typos(1..<4))
        bench.settle()
        bench.connection.state.withLock {
            $0.answer = {
                Sample.number(of: $0) == 1 ? SendResult(apnsStatus: 400, reason: "PayloadEmpty") : .confirmed
            }
        }
        bench.advance(by: .seconds(2))
        #expect(bench.status.confirmed == 2)
        #expect(bench.status.rejectedTotal == 1)
    }

    @Test("One sporadic refusal among confirmations costs its topic a second") func sporadic() throws {
        let bench = try Bench()
        let count = Monitor(0)
        bench.answer = { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 50 ? Self.refused : .confirmed
        }
        try bench.submit(1..<200)
        bench.settle()
        bench.advance(by: .seconds(2))
        #expect(bench.status.confirmed == 199)
        #expect(bench.status.topicsSetAside.isEmpty)
    }

    @Test("At-most-once entries with a wrong topic were never taken: after a crash they are not unknown") func crash()
        throws
    {
        let bench = try bench()
        try bench.submit(typos(1..<101, .atMostOnce))
        bench.settle()
        try bench.submit(typos(101..<201, .atMostOnce))
        bench.settle()
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(5))
        #expect(next.status.unknown == 0)
        #expect(next.status.confirmed == 200)
    }

    @Test(
        "What waits for its topic is found by the next process, which sets the topic aside anew, and loses nothing",
        arguments: Guarantee.allCases)
    func nextProcess(_ guarantee: Guarantee) throws {
        let bench = try bench()
        try bench.submit(typos(1..<2, guarantee))
        bench.settle()
        try bench.submit(typos(2..<5001, guarantee))
        bench.settle()
        let next = try bench.crashed()
        next.answer = { $0.topic == Self.typo ? Self.refused : .confirmed }
        next.advance(by: .seconds(600))
        #expect(next.status.topicsSetAside["default"]?.map(\.topic) == [Self.typo])
        #expect(next.status.confirmed == 0)
        #expect(next.journal.entries.count == 5000)
        mend(next)
        next.advance(by: .seconds(700))
        #expect(next.status.confirmed == 5000)
        #expect(next.status.unknown == 0)
    }

    @Test("An operator's resume, and other credentials, try a topic at once") func atOnce() throws {
        for how in 0..<2 {
            let bench = try bench()
            try bench.submit(typos(1..<10))
            bench.settle()
            bench.advance(by: .seconds(1000))
            mend(bench)
            if how == 0 {
                bench.core.resume(bench.lane())
            } else {
                try #require(bench.connectors[0].host.withLock { $0 }).credentialsChanged()
            }
            bench.settle()
            #expect(bench.status.confirmed == 9)
        }
    }

    @Test("What has expired while its topic was set aside meets its end within the sweep's interval") func expires()
        throws
    {
        let bench = try bench { $0.topics.sweep = .seconds(600) }
        try bench.submit(typos(1..<2))
        bench.settle()
        var short = typos(2..<102)
        for index in short.indices { short[index].expiration = .at(bench.clock.wall.seconds + 300) }
        try bench.submit(short)
        bench.settle()
        bench.advance(by: .seconds(1300))
        #expect(bench.status.expired == 100)
        #expect(bench.journal.entries.count == 1)
    }

    @Test("What was set aside goes at once in a process whose service takes it") func takenAfterStart() throws {
        let bench = try bench()
        try bench.submit(typos(1..<50))
        bench.settle()
        let other = try Bench(bench.journal.crashed(), clock: bench.clock)
        other.answer = { _ in .confirmed }
        other.settle()
        #expect(other.status.confirmed == 49)
    }

    @Test("Two wrong topics wait for themselves: the one that is mended comes back alone") func twoTopics() throws {
        let bench = try Bench()
        bench.answer = { $0.topic.hasPrefix("com.example.typo") ? Self.refused : .confirmed }
        try bench.submit(typos(1..<100, topic: "com.example.typo1") + typos(100..<200, topic: "com.example.typo2"))
        bench.settle()
        bench.connection.state.withLock { $0.answer = { $0.topic == "com.example.typo1" ? Self.refused : .confirmed } }
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 100)
        #expect(bench.status.topicsSetAside["default"]?.map(\.topic) == ["com.example.typo1"])
    }

    @Test("What waits for its topic is withdrawn as anything else is") func withdrawn() throws {
        let bench = try bench()
        try bench.submit(typos(1..<3))
        bench.settle()
        bench.core.withdraw([UID(1), UID(2)], from: bench.lane()) { _ in }
        bench.settle()
        #expect(bench.status.withdrawn == 2)
        #expect(bench.journal.entries.isEmpty)
        bench.advance(by: .seconds(3600))
    }

    @Test("A topic whose entries were taken back is held against nobody, also while the service throttles all others")
    func withdrawnThrottled() throws {
        let bench = try bench()
        try bench.submit(typos(1..<3))
        bench.settle()
        let tooMany = SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(600))
        bench.answer = { _ in tooMany }
        for connection in bench.connections[0] { connection.state.withLock { $0.answer = { _ in tooMany } } }
        try bench.submit(10..<200)
        bench.settle()
        bench.core.withdraw([UID(1), UID(2)], from: bench.lane()) { _ in }
        bench.advance(by: .seconds(5))
        #expect(bench.status.withdrawn == 2 && bench.status.throttled["default"] != nil)
        #expect(bench.status.topicsSetAside["default"] ?? [] == [])
    }

    @Test("A topic is named in the log once when it is set aside, and once when it is back") func logged() throws {
        let log = RecordingLog()
        let bench = try bench(log: log)
        try bench.submit(typos(1..<100))
        bench.advance(by: .seconds(100))
        mend(bench)
        bench.advance(by: .seconds(200))
        #expect(log.lines.count { $0.message.contains("com.example.typo is set aside on route default") } == 1)
        #expect(log.lines.count { $0.event == "topic-set-aside-over" } == 1)
    }

    @Test("Probes in two lanes with one attempt come back one after the other where the window has one place")
    func oneProbeForOnePlace() throws {
        let bench = try bench { $0.window = 1 }
        var considerate = typos(1..<10, .atMostOnce)
        for index in considerate.indices { considerate[index].priority = .considerate }
        try bench.submit(typos(10..<20, .atMostOnce) + considerate)
        bench.advance(by: .seconds(600))
        mend(bench)
        bench.advance(by: .seconds(3600))
        #expect(bench.status.confirmed == 19)
        #expect(bench.status.unknown == 0)
    }

    @Test(
        "An entry that alone is refused does not keep its topic from coming back: each is tried in its turn",
        arguments: Guarantee.allCases, [1, 3])
    func rotates(_ guarantee: Guarantee, _ count: Int) throws {
        let bench = try bench()
        try bench.submit(typos(1..<1 + count, guarantee))
        bench.settle()
        try bench.submit(typos(1 + count..<50, guarantee))
        bench.settle()
        bench.connection.state.withLock {
            $0.answer = { Sample.number(of: $0) <= count ? Self.refused : .confirmed }
        }
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 49 - count)
        // What is refused for its own sake sets the topic aside once more, and is tried again.
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(1200))
        #expect(bench.status.confirmed == 49)
        #expect(bench.status.unknown == 0)
        #expect(bench.consumer.judge.topicHold.isEmpty)
    }

    @Test("An entry that is bad in one lane leaves the next probe to another lane of its topic") func rotatesOverLanes()
        throws
    {
        let bench = try bench()
        var considerate = typos(2..<3)
        considerate[0].priority = .considerate
        try bench.submit(typos(1..<2) + considerate)
        bench.settle()
        bench.connection.state.withLock { $0.answer = { Sample.number(of: $0) == 1 ? Self.refused : .confirmed } }
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 1, "\(bench.sent)")
    }
}
