import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A service that was in trouble for a moment, and that is well again: the route is soon as fast as before.
@Suite(.timeLimit(.minutes(5))) struct WellAgainTests {
    /// A trouble that refuses a share of all requests, at random.
    struct Trouble: CustomTestStringConvertible, Sendable {
        let status: Int
        let share: Double
        let duration: Duration
        var retryAfter: Duration?

        var testDescription: String { "\(share) refused with \(status) for \(duration)" }

        var refusal: SendResult {
            SendResult(
                apnsStatus: status, reason: status == 429 ? "TooManyRequests" : "ServiceUnavailable",
                retryAfter: retryAfter)
        }
    }

    /// - Returns: how long after the trouble all was taken that had been submitted until then; nil if it was not.
    private func recovery(from trouble: Trouble, seed: UInt64, within limit: Duration) throws -> Duration? {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        var random = Xoshiro256(seed: seed)
        let clock = bench.clock
        let begin = clock.monotonic + .seconds(2)
        let end = begin + trouble.duration
        let service = DelayedService(bench) { _ in
            guard clock.monotonic >= begin, clock.monotonic < end else { return nil }
            return Double.random(in: 0..<1, using: &random) < trouble.share ? trouble.refusal : nil
        }
        var submitted = 0
        func submit(_ time: Duration) throws {
            // Twenty a second.
            guard time / .milliseconds(50) >= Double(submitted) else { return }
            try bench.submit(submitted..<submitted + 1)
            submitted += 1
        }
        let start = clock.monotonic
        try service.run(for: trouble.duration + .seconds(2)) { _ in try submit(clock.monotonic - start) }
        while clock.monotonic < end + limit {
            try service.run(for: .milliseconds(100)) { _ in try submit(clock.monotonic - start) }
            // All but what is under way, and what waits for itself.
            if service.taken >= submitted * 95 / 100 { return clock.monotonic - end }
        }
        return nil
    }

    @Test(
        "Behind a spell in which a share was refused a well service has all its traffic again within 45 seconds",
        arguments: [
            Trouble(status: 503, share: 0.5, duration: .seconds(12)),
            Trouble(status: 429, share: 0.5, duration: .seconds(12)),
            Trouble(status: 429, share: 0.5, duration: .seconds(12), retryAfter: .seconds(1)),
            Trouble(status: 500, share: 0.5, duration: .seconds(25)),
        ], 0..<4)
    func spell(_ trouble: Trouble, _ part: UInt64) throws {
        for seed in part * 3..<(part + 1) * 3 {
            let time = try recovery(from: trouble, seed: seed, within: .seconds(120))
            #expect(time.map { $0 <= .seconds(45) } ?? false, "seed \(seed): \(time.map { "\($0)" } ?? "never")")
        }
    }
}
