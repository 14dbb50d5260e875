import Testing

@testable import Holdfast

@Suite struct RateLimiterTests {
    @Test("A burst goes at once, and then as many as the rate brings") func burst() {
        var limiter = RateLimiter(RateLimit(perSecond: 10, burst: 5))
        #expect(limiter.allowance(now: .zero) == 5)
        limiter.take(5)
        #expect(limiter.allowance(now: .zero) == 0)
        #expect(limiter.allowance(now: .milliseconds(250)) == 2)
        limiter.take(2)
        #expect(limiter.allowance(now: .milliseconds(300)) == 1)
    }

    @Test("What was not used does not add up beyond the burst") func full() {
        var limiter = RateLimiter(RateLimit(perSecond: 10, burst: 5))
        _ = limiter.allowance(now: .zero)
        #expect(limiter.allowance(now: .seconds(3600)) == 5)
    }

    @Test("A clock that stands still or falls back brings nothing") func clock() {
        var limiter = RateLimiter(RateLimit(perSecond: 10, burst: 5))
        _ = limiter.allowance(now: .seconds(10))
        limiter.take(5)
        #expect(limiter.allowance(now: .seconds(9)) == 0)
        #expect(limiter.allowance(now: .seconds(10)) == 0)
        #expect(limiter.allowance(now: .milliseconds(10_100)) == 1)
    }

    @Test(
        "It never allows more than rate and burst together, and whoever comes back when told finds something",
        arguments: [(0.5, 1), (1, 1), (3, 2), (100, 10), (12_345.6, 100), (1_000_000, 1)] as [(Double, Int)])
    func bounds(perSecond: Double, burst: Int) {
        var limiter = RateLimiter(RateLimit(perSecond: perSecond, burst: burst))
        var now = Duration.zero
        var total = 0
        for _ in 0..<200 {
            let allowed = limiter.allowance(now: now)
            #expect(allowed > 0, "after \(now)")
            limiter.take(allowed)
            total += allowed
            let most = Double(burst) + now / .seconds(1) * perSecond
            #expect(Double(total) <= most + 1e-6, "after \(now)")
            now = limiter.nextAllowance(now: now)
        }
    }
}
