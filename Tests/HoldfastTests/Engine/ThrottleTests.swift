import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A service that throttles or is unavailable: it is let alone, and nothing is rejected for it.
@Suite(.timeLimit(.minutes(2))) struct ThrottleTests {
    private let unavailable = SendResult(apnsStatus: 503, reason: "ServiceUnavailable")

    /// Answers by a quota, by the bench's clock.
    private func keep(
        _ bench: Bench, to service: QuotaService, retryAfter: Duration? = .seconds(1), requests: Monitor<Int>
    ) {
        let service = Monitor(service)
        let clock = bench.clock
        bench.answer = { _ in
            requests.withLock { $0 += 1 }
            let isGranted = service.withLock { $0.grants(at: clock.monotonic) }
            return isGranted
                ? .confirmed : SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: retryAfter)
        }
    }

    @Test("With a quota of 10 a second at least 90 % of it is used, at most 2 % are refused, and nothing is rejected")
    func quota() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let requests = Monitor(0)
        keep(bench, to: QuotaService(.windows, perSecond: 10), requests: requests)
        try bench.submit(0..<3000)
        let begin = bench.clock.monotonic
        while bench.status.confirmed < 3000, bench.clock.monotonic - begin < .seconds(333) {
            bench.advance(by: .seconds(1))
        }
        #expect(bench.status.confirmed == 3000)
        #expect(bench.status.rejected == [:])
        #expect(requests.withLock { $0 } <= 3060)
    }

    @Test("Beside a quota of 300 a second, a 503 with Retry-After for each 40th does not hold up the others")
    func failuresBesideAQuota() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Monitor(QuotaService(.windows, perSecond: 300, failing: 40))
        let requests = Monitor(0)
        let clock = bench.clock
        bench.answer = { _ in
            requests.withLock { $0 += 1 }
            return switch service.withLock({ $0.answer(at: clock.monotonic) }) {
            case .granted: .confirmed
            case .throttled: SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(1))
            case .failed: SendResult(apnsStatus: 503, reason: "ServiceUnavailable", retryAfter: .seconds(1))
            }
        }
        try bench.submit(0..<6000)
        let begin = clock.monotonic
        while bench.status.confirmed < 6000, clock.monotonic - begin < .seconds(35) {
            bench.advance(by: .seconds(1))
        }
        #expect(bench.status.confirmed == 6000)
        #expect(bench.status.rejected == [:])
        // A fortieth of them fails, and few are refused by the quota.
        #expect(requests.withLock { $0 } <= 6900)
    }

    @Test(
        "A minute of 503 costs one burst and at most one probe a second, no attempts, and is over a minute later at most"
    )
    func outage() throws {
        let bench = try Bench {
            $0.throttle = ThrottlePolicy()
            $0.retry = RetrySchedule(greatestCount: 2)
        }
        let isHealthy = Monitor(false)
        let requests = Monitor(0)
        bench.answer = { [unavailable] _ in
            requests.withLock { $0 += 1 }
            return isHealthy.withLock { $0 } ? .confirmed : unavailable
        }
        try bench.submit(0..<5000)
        bench.advance(by: .seconds(60))
        #expect(requests.withLock { $0 } <= 16 + 60)
        #expect(bench.status.holding == ["default": .throttled])
        #expect(bench.status.throttled["default"]?.status == 503)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
        isHealthy.withLock { $0 = true }
        bench.advance(by: .seconds(75))
        #expect(bench.status.confirmed == 5000)
        #expect(bench.status.rejected == [:])
        #expect(bench.status.throttled.isEmpty)
        #expect(bench.status.holding.isEmpty)
    }

    @Test("What has one attempt and is refused by the service was never sent, over a kill", arguments: [429, 503])
    func oneAttempt(_ status: Int) throws {
        let bench = try Bench()
        try bench.submit(0..<20, guarantee: .atMostOnce)
        bench.settle()
        for number in 0..<20 {
            bench.connection.answer(number, SendResult(apnsStatus: status, reason: "TooManyRequests"))
        }
        bench.settle()
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(30))
        #expect(next.status.confirmed == 20)
        #expect(next.status.unknown == 0)
    }

    @Test("A token that gets too many, among many others that are taken, is deferred alone and counts its attempts")
    func oneToken() throws {
        let bench = try Bench()
        try bench.submit(0..<100)
        bench.settle()
        bench.connection.answer(7, SendResult(apnsStatus: 429, reason: "TooManyRequests"))
        for number in 0..<100 where number != 7 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect(bench.status.throttled.isEmpty)
        #expect(bench.journal.entries.map(\.attempts) == [1])
    }

    @Test("An entry that is answered 503 while others are taken holds up nobody, and meets its end by its attempts")
    func poison() throws {
        let bench = try Bench { $0.retry = RetrySchedule(maximum: .seconds(2), greatestCount: 5) }
        bench.answer = {
            Sample.number(of: $0) == 0 ? SendResult(apnsStatus: 503, reason: "ServiceUnavailable") : .confirmed
        }
        try bench.submit(0..<1)
        bench.advance(by: .seconds(3))
        for number in 1..<100 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(1))
        }
        bench.advance(by: .seconds(30))
        #expect(bench.status.confirmed == 99)
        for number in 100..<300 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .milliseconds(200))
        }
        #expect(bench.status.rejected == [.tooManyAttempts: 1])
    }

    @Test("An entry that the service refuses ends by its age, and not as too many attempts") func age() throws {
        let bench = try Bench { $0.retry = RetrySchedule(greatestCount: 2, greatestAge: .seconds(600)) }
        bench.answer = { [unavailable] _ in unavailable }
        try bench.submit(0..<1)
        bench.advance(by: .seconds(590))
        #expect(bench.status.rejected == [:])
        bench.advance(by: .seconds(150))
        #expect(bench.status.rejected == [.expired: 1])
    }

    @Test("The pause is logged once with status, reason and time, and its end too") func logged() throws {
        let log = RecordingLog()
        let bench = try Bench(log: log)
        try bench.submit(0..<10)
        bench.settle()
        for number in 0..<10 {
            bench.connection.answer(
                number, SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(2)))
        }
        bench.settle()
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(30))
        #expect(bench.status.confirmed == 10)
        let lines = log.lines.filter { $0.event.hasPrefix("throttled") }
        #expect(lines.map(\.event) == ["throttled", "throttled-over"])
        #expect(log.lines.first { $0.event == "throttle-paused" }?.metadata["status"] == "429")
        #expect(lines.first?.message.contains("TooManyRequests") == true)
    }

    // MARK: A few that are refused for their own sake

    /// A bench whose service refuses these numbers, always.
    private func refusing(_ bad: Set<Int>, _ refusal: SendResult) throws -> Bench {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        bench.answer = { bad.contains(Sample.number(of: $0)) ? refusal : .confirmed }
        return bench
    }

    @Test(
        "One that is told to wait for ten minutes, on a route with nothing else, holds up nobody who comes later",
        arguments: [
            SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(600)),
            SendResult(apnsStatus: 503, reason: "ServiceUnavailable", retryAfter: .seconds(1_000_000_000)),
        ])
    func oneRetryAfter(_ refusal: SendResult) throws {
        let bench = try refusing([1000], refusal)
        try bench.submit(0..<5)
        bench.advance(by: .seconds(4))
        try bench.submit(1000..<1001)
        bench.advance(by: .seconds(3))
        for number in 10..<19 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(3))
        }
        #expect(bench.status.confirmed == 14)
        #expect(bench.sent.count { $0 == 1000 } == 1)
    }

    @Test(
        "A few that are always refused hold up a trickle of others by seconds, however often they are tried",
        arguments: [1, 2, 3, 10],
        [
            SendResult(apnsStatus: 429, reason: "TooManyRequests"),
            SendResult(apnsStatus: 500, reason: "InternalServerError"),
        ])
    func trickle(_ count: Int, _ refusal: SendResult) throws {
        let bench = try refusing(Set(1000..<(1000 + count)), refusal)
        try bench.submit(1000..<(1000 + count))
        bench.advance(by: .seconds(10))
        for number in 0..<60 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .seconds(10))
        }
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 60)
    }

    @Test("A few that are always refused slow a steady traffic down by little", arguments: [1, 3, 10])
    func steady(_ count: Int) throws {
        let bench = try refusing(Set(10_000..<(10_000 + count)), SendResult(apnsStatus: 429, reason: "TooManyRequests"))
        try bench.submit(10_000..<(10_000 + count))
        for number in 0..<600 {
            try bench.submit(number..<(number + 1))
            bench.advance(by: .milliseconds(200))
        }
        bench.advance(by: .seconds(30))
        #expect(bench.status.confirmed == 600)
    }

    @Test(
        "A share of the tokens that is always refused slows the others down for a minute at most, and is not hammered",
        arguments: zip([3, 5, 10, 30], [60, 60, 60, 5]))
    func share(_ part: Int, _ seconds: Int) throws {
        let refused = Set(stride(from: 0, to: 4500, by: part))
        let bench = try refusing(refused, SendResult(apnsStatus: 429, reason: "TooManyRequests"))
        try bench.submit(0..<4500)
        for _ in 0..<seconds { bench.advance(by: .seconds(1)) }
        #expect(bench.status.confirmed == 4500 - refused.count)
        #expect(bench.status.rejectedTotal == 0)
        // Those that are refused go again by their own backoff: six times in a minute, and once more by its jitter.
        #expect(bench.sent.count <= 4500 + 7 * refused.count)
    }

    @Test("An operator who resumes a lane of a throttled route has the next probe sent at once") func resumed() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let isHealthy = Monitor(false)
        bench.answer = { [unavailable] _ in isHealthy.withLock { $0 } ? .confirmed : unavailable }
        try bench.submit(0..<100)
        bench.advance(by: .seconds(120))
        isHealthy.withLock { $0 = true }
        bench.core.resume(bench.lane())
        bench.settle()
        #expect(bench.status.confirmed > 0)
    }
}
