import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("An operator who has a route try at once", .timeLimit(.minutes(1))) struct HurryTests {
    @Test("The next connection is made at once, however long it was to wait, and its backoff begins anew")
    func connection() throws {
        let bench = try Bench {
            $0.reconnectMinimum = .seconds(1)
            $0.reconnectMaximum = .seconds(3600)
        }
        bench.accepts = false
        try bench.submit(1..<3)
        bench.settle()
        for _ in 0..<8 {
            bench.refuseConnection()
            bench.settle()
            bench.core.hurry(route: "default")
            bench.settle()
            #expect(bench.isConnectionRequested)
        }
        bench.refuseConnection()
        bench.settle()
        #expect(!bench.isConnectionRequested)
        // Not minutes, as after nine failures in a row.
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(2))
        #expect(bench.status.unconfirmed == 0)
    }

    @Test(
        "What waits for another attempt goes at once, and once: a service that still refuses is not asked again and again"
    )
    func attempts() throws {
        let bench = try Bench {
            $0.retry = RetrySchedule(minimum: .seconds(600), maximum: .seconds(1200))
        }
        bench.answer = { notification in
            notification.token == Sample.notification(1).token
                ? SendResult(apnsStatus: 500, reason: "InternalServerError") : .confirmed
        }
        try bench.submit(1..<41)
        bench.settle()
        bench.advance(by: .seconds(5))
        #expect(bench.status.unconfirmed == 1)
        let sent = bench.status.handedOut
        bench.advance(by: .seconds(60))
        #expect(bench.status.handedOut == sent)
        bench.core.hurry(route: "default")
        bench.advance(by: .seconds(10))
        // Probes of a service that refuses all it is asked are among them.
        #expect((1...5).contains(bench.status.handedOut - sent))
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.hurry(route: "default")
        bench.advance(by: .seconds(1))
        #expect(bench.status.unconfirmed == 0)
    }

    @Test("What waits for another attempt gets the connection that it takes, also where no more may be made of late")
    func attemptsWithoutConnection() throws {
        let bench = try Bench {
            $0.retry = RetrySchedule(minimum: .seconds(600), maximum: .seconds(1200))
            $0.reconnectInterval = .seconds(1000)
            $0.reconnectBurst = 1
        }
        bench.answer = { _ in SendResult(apnsStatus: 429, reason: "TooManyRequests") }
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.end(cause: "the service was started again")
        bench.advance(by: .seconds(5))
        #expect(bench.status.unconfirmed == 2)
        bench.answer = { _ in .confirmed }
        bench.core.hurry(route: "default")
        bench.advance(by: .seconds(5))
        #expect(bench.status.unconfirmed == 0)
    }

    @Test("A connection is made although nothing waits, so that it is known whether one can be") func nothingWaits()
        throws
    {
        let bench = try Bench()
        bench.settle()
        #expect(!bench.isConnectionRequested)
        bench.accepts = false
        bench.core.hurry(route: "default")
        bench.settle()
        #expect(bench.isConnectionRequested)
        bench.refuseConnection()
        bench.advance(by: .seconds(100))
        #expect(!bench.isConnectionRequested)
    }

    @Test(
        "What a service left unanswered that answers again goes at once, and not when the old requests are over",
        arguments: [2, 14, 40, 100], [false, true])
    func silence(seconds: Int, hasOthers: Bool) throws {
        let bench = try Bench()
        let service = SilentService(bench) { $0.topic == "com.example.silent" }
        try bench.submit(Sample.notifications(0..<100, of: "com.example.silent"))
        for second in 0..<seconds {
            if hasOthers {
                try bench.submit(Sample.notifications(1000 + second..<1001 + second, of: "com.example.other"))
            }
            service.run(for: .seconds(1))
        }
        service.isSilent = { _ in false }
        // A request that is out has its deadline.
        service.mendedAt = bench.clock.monotonic
        bench.core.hurry(route: "default")
        service.run(for: .seconds(3))
        #expect(bench.status.unconfirmed <= 3)
        service.run(for: .seconds(100))
        #expect(bench.status.unconfirmed == 0)
    }

    @Test("All that waits for another attempt goes, part by part, where the service takes it again")
    func allAttempts() throws {
        let bench = try Bench {
            $0.retry = RetrySchedule(minimum: .seconds(600), maximum: .seconds(1200))
            $0.window = 4
        }
        bench.answer = { notification in
            (1..<21).contains { notification.token == Sample.notification($0).token }
                ? SendResult(apnsStatus: 500, reason: "InternalServerError") : .confirmed
        }
        try bench.submit(100..<140)
        try bench.submit(1..<21)
        bench.advance(by: .seconds(60))
        #expect(bench.status.unconfirmed == 20)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.hurry(route: "default")
        bench.advance(by: .seconds(20))
        #expect(bench.status.unconfirmed == 0)
    }

    @Test("A stopped lane tries an entry at once, and a route that is not there is said")
    func probe() async throws {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(1..<3)
        bench.settle()
        bench.advance(by: .seconds(300))
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.core.hurry(route: "default")
        bench.settle()
        #expect(bench.status.unconfirmed == 0)
        let result = Monitor<Result<Void, JournalError>?>(nil)
        bench.core.hurry(route: "other") { outcome in result.withLock { $0 = outcome } }
        guard case .failure(let error)? = result.withLock({ $0 }) else {
            Issue.record("a route that is not there was hurried")
            return
        }
        #expect(error.code == .notFound)
    }
}
