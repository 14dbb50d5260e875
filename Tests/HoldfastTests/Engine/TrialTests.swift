import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Trials of entries that have ended connections cost the others no more than a connection that may be made at once.
@Suite(.timeLimit(.minutes(1))) struct TrialTests {
    /// A service that takes 10 ms over an answer, and goes away below each 25th notification until it is mended.
    private final class Service {
        let bench: Bench
        var isMended = false
        /// Whether it closes connections on which nothing goes.
        var closesIdle = false
        /// Numbers whose first connection ends, for a reason of its own.
        var endsOnce: Set<Int> = []
        /// When it has taken this one, no more connections are made for now.
        var lastTaken: Int?

        init(log: RecordingLog? = nil, change: (inout EngineConfiguration) -> Void = { _ in }) throws {
            bench = try Bench(log: log) {
                $0.reconnectMinimum = .milliseconds(100)
                $0.reconnectMaximum = .seconds(1)
                change(&$0)
            }
            // What it has is answered first.
            bench.prepare = { connection in connection.state.withLock { $0.endsWhenClosed = false } }
        }

        static func isOdd(_ number: Int) -> Bool { number % 25 == 13 }

        private func ends(_ number: Int) -> Bool { Self.isOdd(number) || endsOnce.remove(number) != nil }

        func run(for duration: Duration) {
            bench.serve(for: duration, every: .milliseconds(10), answer: answer)
        }

        private func answer(_ connection: StubConnection) {
            let new = connection.takeNew()
            let end = isMended ? nil : new.firstIndex { ends(Sample.number(of: $0.notification)) }
            let taken = new[..<(end ?? new.endIndex)].map(\.ticket)
            if !taken.isEmpty { connection.sink(.confirmed(taken)) }
            if new.contains(where: { Sample.number(of: $0.notification) == lastTaken }) { bench.accepts = false }
            guard let end else {
                if connection.isClosed || closesIdle && new.isEmpty { connection.end(possiblySent: [], cause: nil) }
                return
            }
            connection.goAway(leaving: new[end...])
        }
    }

    private func submit(_ numbers: Range<Int>, to bench: Bench) throws {
        try bench.submit(
            numbers.map { Sample.notification($0, guarantee: $0 / 25 % 2 == 1 ? .atMostOnce : .atLeastOnce) })
    }

    @Test(
        "When the service takes everything again, the rest is there with the next connection, and the accused soon after",
        arguments: [2, 3, 4, 8])
    func mended(_ seconds: Int) throws {
        let service = try Service()
        let bench = service.bench
        for numbers in [1..<13, 13..<113, 113..<213, 213..<313] {
            try submit(numbers, to: bench)
            service.run(for: .milliseconds(300))
        }
        service.run(for: .seconds(seconds) - .milliseconds(1200))
        service.isMended = true
        let isOpen = !bench.connection.hasEnded
        service.run(for: isOpen ? .seconds(1) : .seconds(11))
        // At most the three that are accused.
        #expect(bench.status.confirmed >= 309)
        service.run(for: .seconds(30))
        #expect(bench.status.confirmed == 312)
        #expect(bench.status.unknown == 0)
        #expect(!bench.connection.hasEnded)
        // Nothing is left of the caution: a thousand go at once.
        try bench.submit(1000..<2000)
        service.run(for: .milliseconds(100))
        #expect(bench.status.confirmed == 1312)
    }

    /// The poison is the only one with one attempt, or the only one with several.
    @Test(
        "One has its trials, and no other waits for more than a connection, whatever it is sent with",
        arguments: [Guarantee.atMostOnce, .atLeastOnce])
    func others(_ guarantee: Guarantee) throws {
        let service = try Service {
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(1), greatestCount: 1000)
        }
        let bench = service.bench
        let other: Guarantee = guarantee == .atLeastOnce ? .atMostOnce : .atLeastOnce
        try bench.submit((1..<21).map { Sample.notification($0, guarantee: $0 == 13 ? guarantee : other) })
        // Until the connections are used up that come at once.
        service.run(for: .seconds(10))
        var sent = 19
        for round in 1...300 {
            try bench.submit((0..<12).map { Sample.notification(round * 25 + 100 + $0, guarantee: other) })
            sent += 12
            service.run(for: .milliseconds(500))
            #expect(bench.status.confirmed == sent, "at \(bench.clock.monotonic)")
        }
        let trials = bench.connections[0].count { $0.numbers == [13] }
        #expect((4...30).contains(trials), "\(trials)")
        // Others are sent on connections that last.
        #expect(bench.connections[0].count < 2 * trials + 10)
        service.isMended = true
        service.run(for: .seconds(30))
        #expect(bench.status.unconfirmed == 0)
        #expect(bench.status.confirmed == sent + 1)
    }

    @Test("What is alone has its trial, although connections are closed sooner than another one may follow")
    func closed() throws {
        let service = try Service { $0.reconnectInterval = .seconds(60) }
        let bench = service.bench
        try bench.submit(1..<21)
        service.run(for: .seconds(10))
        (service.isMended, service.closesIdle) = (true, true)
        service.run(for: .seconds(300))
        #expect(bench.status.confirmed == 20)
    }

    @Test("Where outcomes leave room for few, no other waits for accused ones that take it", arguments: 1...3)
    func outcomes(limit: Int) async throws {
        let service = try Service {
            $0.keepsOutcomes = true
            $0.outcomeLimit = limit
            $0.reconnectInterval = .seconds(1)
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(60), greatestCount: 1000)
        }
        let bench = service.bench
        func run(_ rounds: Int) async throws {
            for _ in 0..<rounds {
                service.run(for: .milliseconds(300))
                while bench.journal.unreadOutcomeCount > 0, let batch = try await bench.core.nextOutcomes() {
                    try await batch.taken()
                }
                bench.settle()
            }
        }
        // Four of them end their connections.
        try bench.submit((26..<126).map { Sample.notification($0, guarantee: .atMostOnce) })
        try await run(200)
        #expect(bench.status.confirmed == 96)
        service.isMended = true
        try await run(250)
        #expect(bench.status.confirmed == 100)
    }

    @Test("While no connection may be made, none is given up for a trial; then it comes") func budget() throws {
        let service = try Service { $0.reconnectInterval = .seconds(60) }
        let bench = service.bench
        try bench.submit(1..<21)
        service.run(for: .seconds(1))
        service.isMended = true
        service.run(for: .seconds(61))
        try bench.submit(25..<37)
        service.run(for: .seconds(1))
        #expect(bench.status.confirmed >= 31)
        let number = bench.connection.number
        service.run(for: .seconds(50))
        #expect(bench.connection.number == number)
        #expect(!bench.connection.hasEnded)
        service.run(for: .seconds(180))
        #expect(bench.status.confirmed == 32)
    }

    @Test(
        "Two that connections ended with, and nothing else to send: the one that ends none does not wait for the other")
    func alone() throws {
        let service = try Service()
        let bench = service.bench
        service.endsOnce = [14]
        try bench.submit([Sample.notification(13)])
        service.run(for: .seconds(1))
        try bench.submit([Sample.notification(14)])
        service.run(for: .seconds(30))
        #expect(bench.status.confirmed == 1)
    }

    @Test("A trial does not wait for a place that is kept for what waits for the trial") func kept() throws {
        let service = try Service {
            $0.window = 1
            $0.retry = RetrySchedule(minimum: .seconds(60), maximum: .seconds(60), greatestCount: 1000)
        }
        let bench = service.bench
        try bench.submit([Sample.notification(1, guarantee: .atMostOnce)])
        bench.settle()
        bench.connection.sink(
            .results([
                (
                    bench.connection.sent[0].ticket,
                    SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(60))
                )
            ]))
        try bench.submit([Sample.notification(13)])
        service.run(for: .seconds(1))
        // Its witness; and while there is no connection for the trial, the first is due again.
        service.lastTaken = 2
        try bench.submit([Sample.notification(2)])
        service.run(for: .seconds(100))
        #expect(!bench.accepts)
        bench.accepts = true
        service.run(for: .seconds(50))
        #expect(bench.status.confirmed == 2)
        #expect(bench.connections[0].contains { $0.numbers == [13] })
    }
}
