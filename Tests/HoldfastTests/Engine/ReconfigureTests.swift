import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// Other routes and bounds while the engine runs, stepped by hand.
@Suite(.timeLimit(.minutes(1))) struct ReconfigureTests {
    private let first = StubConnector(.perNotification)
    private let second = StubConnector(.perNotification)

    private func route(_ name: String, _ connector: StubConnector, topics: Set<String>? = nil) -> Route {
        Route(name: name, connector: connector, topics: topics, connections: 1)
    }

    private func route(_ connector: StubConnector) -> Route { route("a", connector) }

    @Test("A route that stays goes on with its connection, whatever comes and goes beside it") func stays() throws {
        let kept = route("a", first)
        let stage = try Stage([kept])
        stage.submit(1..<4)
        stage.settle()
        stage.reconfigure([route("b", second, topics: ["com.example.b"]), kept])
        stage.submit(4..<6)
        stage.submit(6..<8, topic: "com.example.b")
        stage.settle()
        stage.reconfigure([kept])
        stage.settle()
        #expect(stage.reports.map(\.unchanged) == [["a"], ["a"]])
        #expect(stage.reports.map(\.added) == [["b"], []])
        #expect(stage.reports.map(\.removed) == [[], ["b"]])
        #expect(stage.connections(of: first).count == 1)
        #expect(stage.sent(first) == [1, 2, 3, 4, 5])
        #expect(stage.sent(second) == [6, 7])
        #expect(!stage.connections(of: first)[0].isClosed)
        #expect(stage.connections(of: second)[0].isClosed)
    }

    @Test("Other terms for the same connector cost no connection: topics, connections and rate") func changed() throws {
        let kept = route("a", first)
        let stage = try Stage([kept])
        stage.submit(1..<2)
        stage.settle()
        stage.reconfigure([kept.with(topics: ["com.example.other"], rate: RateLimit(perSecond: 1, burst: 2))])
        #expect(stage.reports.map(\.changed) == [["a"]])
        guard case .refused(let refusal) = stage.submit(2..<3)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .topicDisallowed)
        stage.submit(3..<10, topic: "com.example.other")
        stage.settle()
        #expect(stage.sent(first) == [1, 3, 4])
        stage.advance(by: .milliseconds(2010))
        #expect(stage.sent(first) == [1, 3, 4, 5, 6])
        #expect(stage.connections(of: first).count == 1)
    }

    @Test("A route that comes with a reconfiguration goes by the new configuration from the first hand-out on")
    func newcomer() throws {
        let kept = route("a", first)
        let stage = try Stage([kept]) { $0.window = 10 }
        stage.reconfigure([kept, route("b", second, topics: ["com.example.b"])]) { $0.window = 2 }
        stage.submit(1..<11, topic: "com.example.b")
        stage.submit(11..<21)
        stage.settle()
        #expect(stage.sent(first) == [11, 12])
        #expect(stage.sent(second) == [1, 2])
    }

    @Test("Whether outcomes are kept is for the engine's life: none is lost, and none is kept that nobody takes")
    func keepsOutcomes() throws {
        let kept = route("a", first)
        let keeping = try Stage([kept]) { $0.keepsOutcomes = true }
        keeping.submit(1..<11)
        keeping.settle()
        keeping.reconfigure([kept]) { $0.keepsOutcomes = false }
        keeping.connections(of: first)[0].answerAll()
        keeping.settle()
        #expect(keeping.journal.unreadOutcomeCount == 10)
        let other = route("a", second)
        let forgetting = try Stage([other]) { $0.outcomeLimit = 3 }
        forgetting.submit(1..<11)
        forgetting.settle()
        forgetting.reconfigure([other]) { $0.keepsOutcomes = true }
        forgetting.connections(of: second)[0].answerAll()
        forgetting.settle()
        #expect(forgetting.journal.unreadOutcomeCount == 0)
        #expect(forgetting.status.confirmed == 10)
    }

    @Test("Another connector takes over: the old one's answers count, what it had not sent goes once, in order")
    func replaced() throws {
        let stage = try Stage([route(first)]) { $0.window = 4 }
        stage.submit(1..<11)
        stage.settle()
        let old = stage.connections(of: first)[0]
        #expect(old.numbers == [1, 2, 3, 4])
        old.state.withLock { $0.endsWhenClosed = false }
        stage.reconfigure([route(second)])
        stage.submit(11..<13)
        stage.settle()
        // Nobody reads the lane while the old connection has answers to give.
        #expect(old.isClosed)
        #expect(stage.sent(second) == [])
        #expect(stage.reports == [])
        old.answer(1, .confirmed)
        old.answer(2, SendResult(.rejected(.notification), reason: .payloadEmpty))
        stage.settle()
        #expect(stage.sent(second) == [])
        old.end(possiblySent: [3])
        stage.settle()
        #expect(stage.reports.map(\.replaced) == [["a"]])
        #expect(stage.sent(second) == [3, 4, 5, 6])
        stage.connections(of: second)[0].answerAll()
        stage.settle()
        #expect(stage.sent(second) == Array(3...10))
        #expect(stage.status.possibleDuplicates == 1)
        #expect(stage.status.confirmed == 5)
        #expect(stage.status.rejectedTotal == 1)
    }

    @Test("With one attempt, what the old connector may have sent is unknown, and everything else goes by the new one")
    func once() throws {
        let stage = try Stage([route(first)]) { $0.window = 4 }
        stage.submit(1..<11, guarantee: .atMostOnce)
        stage.settle()
        let old = stage.connections(of: first)[0]
        #expect(old.numbers == [1, 2, 3, 4])
        old.state.withLock { $0.endsWhenClosed = false }
        stage.reconfigure([route(second)]) { $0.window = 100 }
        stage.settle()
        old.end(possiblySent: [3])
        stage.settle()
        #expect(stage.sent(second) == [1, 2, 4, 5, 6, 7, 8, 9, 10])
        #expect(stage.status.unknown == 1)
        #expect(stage.status.possibleDuplicates == 0)
    }

    @Test("A disk that stalls holds the hand-over up: what was answered is not sent again") func stalledDisk() throws {
        let stage = try Stage([route(first)])
        stage.submit(1..<6)
        stage.settle()
        stage.commits = false
        stage.connections(of: first)[0].answerAll()
        stage.reconfigure([route(second)])
        stage.advance(by: .seconds(60))
        #expect(stage.reports == [])
        #expect(stage.sent(second) == [])
        stage.commits = true
        stage.submit(6..<7)
        stage.settle()
        #expect(stage.reports.count == 1)
        #expect(stage.sent(second) == [6])
        #expect(stage.status.possibleDuplicates == 0)
    }

    @Test("A connection that never ends is given up at the limit, and what it has may have been sent") func silent()
        throws
    {
        let stage = try Stage([route(first)])
        stage.submit(1..<4)
        stage.settle()
        stage.connections(of: first)[0].state.withLock { $0.endsWhenClosed = false }
        stage.reconfigure([route(second)])
        stage.advance(by: .milliseconds(5900))
        #expect(stage.reports == [])
        stage.advance(by: .milliseconds(200))
        #expect(stage.reports.count == 1)
        #expect(stage.sent(second) == [1, 2, 3])
        #expect(stage.status.possibleDuplicates == 3)
        // Too late: the entries are the new connection's.
        stage.connections(of: first)[0].answerAll()
        stage.settle()
        #expect(stage.status.confirmed == 0)
    }

    @Test("Where only errors are answered, a barrier settles what the old connection had") func cumulative() throws {
        let old = StubConnector(.cumulative(quietPeriod: .seconds(2)))
        let new = StubConnector(.cumulative(quietPeriod: .seconds(2)))
        let stage = try Stage([route(old)])
        stage.submit(1..<6)
        stage.settle()
        stage.reconfigure([route(new)])
        stage.submit(6..<8)
        stage.settle()
        let connection = stage.connections(of: old)[0]
        #expect(connection.barrierCount == 1)
        #expect(stage.sent(new) == [])
        connection.answerBarrier()
        stage.settle()
        #expect(stage.status.confirmedByBarrier == 5)
        #expect(stage.sent(new) == [6, 7])
    }

    @Test("What waits for a route that is gone stays in the journal, and goes when the route is there again")
    func removed()
        throws
    {
        let other = route("b", second, topics: ["com.example.b"])
        let stage = try Stage([route("a", first, topics: ["com.example.app"]), other]) { $0.window = 2 }
        stage.submit(1..<6)
        stage.settle()
        stage.connections(of: first)[0].answerAll()
        stage.reconfigure([other])
        stage.settle()
        #expect(stage.reports.map(\.removed) == [["a"]])
        #expect(stage.status.lanes.map(\.key.route).contains("a") == false)
        #expect(stage.status.connections["a"] == nil)
        let left = try stage.depth(stage.lane("a"))
        #expect((1...3).contains(left))
        guard case .refused(let refusal) = stage.submit(6..<7)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .topicDisallowed)
        let again = StubConnector(.perNotification)
        stage.reconfigure([other, route("a", again)])
        stage.settle()
        for _ in 0..<3 {
            for connection in stage.connections(of: again) { connection.answerAll() }
            stage.settle()
        }
        #expect(stage.sent(again) == Array((6 - left)..<6))
        #expect(try stage.depth(stage.lane("a")) == 0)
    }

    @Test("Topics move in one step; what a lane holds already stays in it") func topicsMove() throws {
        let (a, b) = (route("a", first, topics: ["x"]), route("b", second, topics: ["y"]))
        let stage = try Stage([a, b])
        stage.commits = false
        stage.submit(1..<3, topic: "x")
        stage.reconfigure([a.with(topics: ["y"], connections: 1), b.with(topics: ["x"], connections: 1)])
        stage.submit(3..<5, topic: "x")
        stage.submit(5..<7, topic: "y")
        stage.commits = true
        stage.settle()
        #expect(stage.sent(first) == [1, 2, 5, 6])
        #expect(stage.sent(second) == [3, 4])
        #expect(stage.reports.map(\.changed) == [["a", "b"]])
    }

    @Test("Routes that contradict each other, and a lane that can't be opened, change nothing") func refused() throws {
        let kept = route("a", first)
        let stage = try Stage([kept])
        stage.reconfigure([kept, route("b", second)])
        stage.reconfigure([route("", second)])
        stage.reconfigure([route(second), route(second)])
        stage.journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        stage.reconfigure([route("b", second, topics: ["com.example.app"])])
        stage.journal.failWrites(with: nil)
        #expect(stage.failures == 4)
        stage.submit(1..<3)
        stage.settle()
        #expect(stage.sent(first) == [1, 2])
        #expect(stage.sent(second) == [])
        #expect(stage.status.lanes.allSatisfy { $0.key.route == "a" })
        stage.reconfigure([kept])
        #expect(stage.reports.map(\.unchanged) == [["a"]])
    }

    @Test("A paused lane is paused for the next connector too; what was ordered meanwhile is done") func operators()
        throws
    {
        let stage = try Stage([route(first)])
        stage.core.pause(stage.lane("a"), reason: "on call")
        stage.settle()
        stage.submit(1..<3)
        stage.submit(3..<5, guarantee: .atMostOnce)
        stage.settle()
        #expect(stage.sent(first) == [3, 4])
        stage.connections(of: first)[0].state.withLock { $0.endsWhenClosed = false }
        stage.reconfigure([route(second)])
        stage.settle()
        let withdrawn = Monitor<Withdrawal?>(nil)
        stage.connections(of: first)[0].end(possiblySent: [])
        // Left for the one that ends in this turn.
        stage.core.withdraw([UID(1)], from: stage.lane("a")) { result in
            withdrawn.withLock { $0 = try? result.get() }
        }
        stage.settle()
        #expect(stage.sent(second) == [3, 4])
        #expect(withdrawn.withLock { $0 }?.withdrawn == 1)
        guard case .paused("on call", _)? = stage.status.lanes.first(where: { $0.key == stage.lane("a") })?.state else {
            Issue.record("expected a paused lane")
            return
        }
        stage.core.resume(stage.lane("a"))
        stage.settle()
        #expect(stage.sent(second) == [3, 4, 2])
    }

    @Test("A lane that was stopped for its credentials is tried with the new connector") func stopped() throws {
        let stage = try Stage([route(first)])
        stage.submit(1..<3)
        stage.settle()
        stage.connections(of: first)[0].answer(1, SendResult(apnsStatus: 403, reason: "InvalidProviderToken"))
        stage.settle()
        #expect(stage.status.lanes.contains { $0.stoppedBecause != nil })
        stage.reconfigure([route(second)])
        stage.settle()
        #expect(stage.sent(second) == [1, 2])
        #expect(stage.status.lanes.allSatisfy { $0.stoppedBecause == nil })
    }

    @Test("Bounds hold from the next turn on") func bounds() throws {
        let kept = route(first)
        let stage = try Stage([kept]) { $0.window = 2 }
        stage.submit(1..<9)
        stage.settle()
        #expect(stage.sent(first) == [1, 2])
        stage.reconfigure([kept]) { $0.window = 5 }
        stage.settle()
        #expect(stage.sent(first) == [1, 2, 3, 4, 5])
        stage.reconfigure([kept]) {
            $0.window = 1
            $0.defaultLifetime = .seconds(60)
        }
        stage.connections(of: first)[0].answerAll()
        stage.settle()
        #expect(stage.sent(first) == [1, 2, 3, 4, 5, 6])
        stage.reconfigure([kept]) { $0.window = 100 }
        stage.submit(9..<10)
        stage.settle()
        let last = stage.connections(of: first)[0].sent.last
        #expect(last?.notification.expiration == .unstated(until: stage.clock.wall.advanced(by: .seconds(60)).seconds))
    }

    @Test("Fewer connections: the youngest gives up its place, and what it has is answered") func fewerConnections()
        throws
    {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        let kept = Route(name: "a", connector: first, connections: 2, scaling: scaling)
        let stage = try Stage([kept]) { $0.window = 100 }
        stage.submit(1..<11)
        stage.settle()
        stage.advance(by: .seconds(60))
        #expect(stage.connections(of: first).count == 2)
        stage.reconfigure([kept.with(topics: nil, connections: 1)])
        stage.settle()
        #expect(stage.connections(of: first).map(\.isClosed) == [false, true])
    }

    @Test("Fewer connections while one is being made: it is given nothing") func fewerConnectionsMeanwhile() throws {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        let kept = Route(name: "a", connector: first, connections: 2, scaling: scaling)
        let stage = try Stage([kept]) { $0.window = 100 }
        stage.prepare = { [unowned stage] _ in stage.connects = false }
        stage.submit(1..<11)
        stage.advance(by: .seconds(60))
        #expect(stage.connections(of: first).count == 1)
        stage.reconfigure([kept.with(topics: nil, connections: 1)])
        stage.settle()
        stage.submit(11..<60)
        stage.connects = true
        stage.settle()
        #expect(stage.connections(of: first).map(\.numbers.isEmpty) == [false, true])
        #expect(stage.connections(of: first).map(\.isClosed) == [false, true])
    }

    @Test("An engine that ends meanwhile ends, and the reconfiguration says so") func shutDown() throws {
        let stage = try Stage([route(first)])
        stage.submit(1..<3)
        stage.settle()
        stage.connections(of: first)[0].state.withLock { $0.endsWhenClosed = false }
        stage.reconfigure([route(second)])
        stage.settle()
        stage.core.shutDown()
        stage.advance(by: .seconds(7))
        #expect(stage.core.routes.allSatisfy { stage.core.end(of: $0) != nil })
        stage.core.ended()
        #expect(stage.failures == 1)
        #expect(stage.sent(second) == [])
        stage.reconfigure([route(second)])
        #expect(stage.failures == 2)
    }

    @Test("A kill at any step of a hand-over loses nothing, and sends again no more than was in flight") func killed()
        throws
    {
        var steps = 0
        var reached = 0
        while reached < 3 {
            let stage = try Stage([route(StubConnector(.perNotification))]) { $0.window = 3 }
            stage.prepare = { $0.state.withLock { $0.answer = { Sample.number(of: $0) % 3 == 0 ? nil : .confirmed } } }
            stage.submit(1..<20)
            stage.settle()
            stage.budget = steps
            let new = StubConnector(.perNotification)
            stage.reconfigure([route(new)])
            stage.settle()
            if !stage.reports.isEmpty { reached += 1 }
            let last = StubConnector(.perNotification)
            let next = try Stage(
                [route(last), route("b", second, topics: ["b"])], stage.journal.crashed(), clock: stage.clock)
            next.prepare = { $0.state.withLock { $0.answer = { _ in .confirmed } } }
            next.advance(by: .seconds(1))
            #expect(try next.depth(next.lane("a")) == 0, "after \(steps) steps")
            // The window, and what the mark was ahead of it.
            #expect(next.status.possibleDuplicates <= 3 + 2, "after \(steps) steps")
            let confirmed = Int(next.journal.totals.confirmed)
            #expect(confirmed == 19, "after \(steps) steps")
            steps += 1
            try #require(steps < 500)
        }
        #expect(steps > 3)
    }
}

/// The same on the engine's own threads.
@Suite(.timeLimit(.minutes(1))) struct RunningReconfigureTests {
    private func engine(_ routes: [Route], _ journal: InMemoryJournal) throws -> PushEngine {
        var silent = Logger(label: "test")
        silent.logLevel = .critical
        var configuration = EngineConfiguration()
        configuration.window = 50
        configuration.shutdownLimit = .seconds(5)
        configuration.reconnectInterval = .zero
        return try PushEngine(journal: journal, routes: routes, configuration: configuration, logger: silent)
    }

    @Test(
        "Under load, with routes exchanged again and again, everything is taken, each once, and each lane in its order")
    func load() async throws {
        let journal = InMemoryJournal()
        let kept = InMemoryConnector()
        let staying = Route(name: "staying", connector: kept, topics: ["staying"])
        let connectors = (0..<20).map { _ in InMemoryConnector() }
        let engine = try engine([staying, Route(name: "moving", connector: connectors[0])], journal)
        let producer = engine.producer
        let running = Task { try await engine.run() }
        let isOver = Monitor(false)
        async let submitted = Self.submit(to: producer, until: isOver)
        for (last, connector) in zip(connectors, connectors.dropFirst()) {
            #expect(await last.waitUntil { !$0.isEmpty })
            let report = try await engine.reconfigure(
                routes: [Route(name: "moving", connector: connector), staying], configuration: EngineConfiguration())
            #expect(report.unchanged == ["staying"])
            #expect(report.replaced == ["moving"])
        }
        isOver.withLock { $0 = true }
        let count = await submitted
        #expect(await engine.untilIdle() == .drained)
        #expect(engine.status().confirmed == count)
        #expect(engine.status().possibleDuplicates == 0)
        #expect(kept.connectionCount <= 2)
        let moved = connectors.flatMap(\.sent).map(Sample.number)
        #expect(moved == (0..<count / 2).map { 2 * $0 })
        #expect(kept.sent.map(Sample.number) == (0..<count / 2).map { 2 * $0 + 1 })
        #expect(journal.unconfirmedUIDs.isEmpty)
        running.cancel()
        try await running.value
    }

    /// Even numbers to the route that is exchanged, odd ones to the one that stays.
    ///
    /// - Returns: how many were accepted, which is all.
    private static func submit(to producer: Producer, until isOver: Monitor<Bool>) async -> Int {
        var accepted = 0
        while !isOver.withLock({ $0 }) {
            let start = accepted
            let receipts = await producer.submit(
                (start..<start + 20).map { number in
                    var notification = Sample.notification(number)
                    notification.topic = number.isMultiple(of: 2) ? "anything" : "staying"
                    return notification
                })
            accepted += receipts.compactMap(\.uid).count
        }
        return accepted
    }

    @Test("An engine that is left without routes goes on, and serves those that come") func emptied() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try engine([Route(connector: InMemoryConnector())], journal)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await engine.reconfigure(routes: [], configuration: EngineConfiguration())
            let refused = await engine.producer.submit([Sample.notification(1)])[0]
            #expect(refused.uid == nil)
            #expect(await engine.untilIdle() == .drained)
            try await engine.reconfigure(
                routes: [Route(connector: connector)], configuration: EngineConfiguration())
            try await engine.producer.submit(Sample.notification(2))
            #expect(await engine.untilIdle() == .drained)
            #expect(connector.sent.map(Sample.number) == [2])
            group.cancelAll()
            try await group.waitForAll()
        }
        await #expect(throws: JournalError.self) {
            try await engine.reconfigure(routes: [], configuration: EngineConfiguration())
        }
    }
}
