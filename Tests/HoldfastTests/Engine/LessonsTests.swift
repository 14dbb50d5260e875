import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// What published senders got wrong, where no other suite of the engine has it. Their other lessons are tests of
/// ``PayloadErrorTests``, ``QuietTests``, ``BarrierTests``, ``SuspectTests``, ``CredentialTests``, ``ShutdownTests``.
@Suite(.timeLimit(.minutes(1))) struct LessonsTests {
    @Test(
        "What is submitted while the first connection is being made goes in the order of submission",
        arguments: [ConfirmationMode.perNotification, .cumulative(quietPeriod: .seconds(5))])
    func orderWhileConnecting(_ mode: ConfirmationMode) throws {
        let bench = try Bench(modes: [mode])
        bench.accepts = false
        for number in 1..<6 {
            try bench.submit(number..<(number + 1))
            bench.settle()
        }
        bench.accepts = true
        bench.settle()
        try bench.submit(6..<8)
        bench.settle()
        #expect(bench.sent == Array(1..<8))
    }

    @Test("A server that crashes on one request: that one is tried again, and its neighbours are confirmed once")
    func handlerCrashes() throws {
        let bench = try Bench()
        try bench.submit(1..<4)
        bench.settle()
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, .unknown("the stream was reset"))
        bench.connection.answer(3, .confirmed)
        bench.settle()
        bench.advance(by: .seconds(2))
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(bench.sent == [1, 2, 3, 2])
        #expect(bench.status.confirmed == 3)
        #expect(bench.status.possibleDuplicates == 1)
    }

    @Test("When the service takes one at a time only, the others wait in the journal and not in memory")
    func streamLimit()
        throws
    {
        let bench = try Bench()
        bench.prepare = { $0.sink(.capacityChanged(1)) }
        try bench.submit(1..<1001)
        bench.settle()
        #expect(bench.sent == [1])
        for number in 1..<6 {
            bench.connection.answer(number, .confirmed)
            bench.settle()
            #expect(bench.status.inFlight == 1)
        }
        #expect(bench.sent == Array(1..<7))
    }

    @Test("Nobody listens: three sends wait in the journal, the attempts to connect grow rarer, and then they go")
    func noServer() throws {
        let bench = try Bench {
            $0.reconnectMinimum = .seconds(1)
            $0.reconnectMaximum = .seconds(60)
        }
        bench.accepts = false
        try bench.submit(1..<4)
        bench.settle()
        var attempts = 0
        for _ in 0..<3600 {
            if bench.isConnectionRequested {
                attempts += 1
                bench.refuseConnection()
            }
            bench.advance(by: .seconds(1))
        }
        #expect((60...400).contains(attempts))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
        bench.accepts = true
        bench.advance(by: .seconds(60))
        #expect(bench.sent == [1, 2, 3])
    }

    @Test(
        "A connection that never processes anything is not asked again and again without a pause",
        arguments: [
            SendResult(apnsStatus: 503, reason: "Shutdown"),
            SendResult(apnsStatus: 403, reason: "ExpiredProviderToken"),
            SendResult.notSent("no route to host"),
        ])
    func storm(_ result: SendResult) throws {
        let bench = try Bench()
        bench.accepts = false
        bench.answer = { _ in result }
        try bench.submit(1..<2)
        bench.settle()
        bench.connect()
        for _ in 0..<100 where bench.core.hasNews(route: 0) { bench.turn() }
        #expect(bench.journal.entries.map(\.attempts) == [0])
        #expect(bench.sent.count < 10)
    }

    @Test("Retry-After is honoured, and a refusal for one token does not hold up the others") func retryAfter() throws {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.answer(
            1, SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(30)))
        bench.connection.answer(2, .confirmed)
        bench.settle()
        try bench.submit(3..<4)
        bench.advance(by: .seconds(29))
        #expect(bench.sent == [1, 2, 3])
        bench.advance(by: .seconds(3))
        #expect(bench.sent == [1, 2, 3, 1])
    }

    @Test("The outcome of a receipt is told once it has one, and of a repeat at once") func outcomeOfReceipt()
        async throws
    {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector()) { $0.keepsOutcomes = true }
        var notification = Sample.notification(1)
        notification.id = NotificationID(high: 1, low: 1)
        let receipt = await engine.producer.submit([notification])[0]
        let nameless = await engine.producer.submit([Sample.notification(2)])[0]
        #expect(try engine.outcome(of: receipt) == nil)
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(try engine.outcome(of: receipt) == .confirmed && engine.outcome(of: nameless) == .confirmed)
        let batch = try await engine.core.nextOutcomes()
        try await batch?.taken()
        // Taken by one reader, it stays in the history.
        #expect(try engine.outcome(of: receipt) == .confirmed && engine.outcome(of: nameless) == .confirmed)
        let next = try testEngine(journal.crashed(), InMemoryConnector())
        let repeated = await next.producer.submit([notification])[0]
        #expect(try next.outcome(of: repeated) == .confirmed)
        #expect(try next.outcome(of: .refused(Refusal(.payloadEmpty, ""))) == nil)
    }
}
