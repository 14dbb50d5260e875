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

    // MARK: Ramp

    /// Takes all there is, or so many a second, from one hundredth of a second to the next, for some seconds.
    private func use(_ limiter: inout RateLimiter, _ perSecond: Int? = nil, from: Int, to: Int) -> Int {
        var total = 0
        for step in from * 100..<to * 100 {
            var count = limiter.allowance(now: .milliseconds(step * 10))
            if let perSecond { count = min(count, perSecond / 100) }
            limiter.take(count)
            total += count
        }
        return total
    }

    @Test("With a ramp, a tenth of the rate goes at first, and the whole after its time") func ramp() {
        var limiter = RateLimiter(RateLimit(perSecond: 1000, burst: 10, rampUp: .seconds(60)))
        #expect((100...120).contains(use(&limiter, from: 0, to: 1)))
        _ = use(&limiter, from: 1, to: 30)
        // Half of the way: 10 % and 45 %.
        #expect((540...570).contains(use(&limiter, from: 30, to: 31)))
        _ = use(&limiter, from: 31, to: 60)
        #expect((980...1000).contains(use(&limiter, from: 60, to: 61)))
        #expect((9_950...10_010).contains(use(&limiter, from: 61, to: 71)))
    }

    @Test("With a ramp, the burst is a tenth at first, too") func rampOfBurst() {
        var limiter = RateLimiter(RateLimit(perSecond: 200, burst: 200, rampUp: .seconds(20)))
        #expect(limiter.allowance(now: .zero) == 20)
        #expect((40...50).contains(use(&limiter, from: 0, to: 1)))
    }

    @Test(
        "It never rises faster than the ramp, however the use begins and breaks off",
        arguments: 1...20 as ClosedRange<UInt64>)
    func steepness(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var limiter = RateLimiter(RateLimit(perSecond: 1000, burst: 1, rampUp: .seconds(60)))
        var before = 0
        var second = 0
        while second < 200 {
            let perSecond = Bool.random(using: &random) ? nil : [0, 100, 500].randomElement(using: &random)
            let total = use(&limiter, perSecond, from: second, to: second + 1)
            // 90 % in 60 s are 15 a second; what has been sent may double at once.
            #expect(total <= max(before * 2, 100) + 17, "in second \(second) after \(before)")
            before = max(total, before - 16)
            second += 1
        }
    }

    @Test("A pause as long as the ramp begins anew, a short one hardly counts") func pause() {
        var limiter = RateLimiter(RateLimit(perSecond: 1000, burst: 10, rampUp: .seconds(60)))
        _ = use(&limiter, from: 0, to: 70)
        #expect((930...1000).contains(use(&limiter, from: 73, to: 74)))
        _ = use(&limiter, from: 74, to: 90)
        #expect((100...130).contains(use(&limiter, from: 151, to: 152)))
    }

    @Test("Half of the rate, used for ever, is there for ever") func half() {
        var limiter = RateLimiter(RateLimit(perSecond: 1000, burst: 10, rampUp: .seconds(60)))
        _ = use(&limiter, from: 0, to: 70)
        #expect(use(&limiter, 500, from: 70, to: 270) == 100_000)
    }

    @Test("Another limit goes on with the part that was reached; without a ramp, all goes") func changeOfRamp() {
        var limiter = RateLimiter(RateLimit(perSecond: 1000, burst: 10, rampUp: .seconds(60)))
        _ = use(&limiter, from: 0, to: 30)
        limiter.change(to: RateLimit(perSecond: 500, burst: 5, rampUp: .seconds(60)))
        #expect((270...290).contains(use(&limiter, from: 30, to: 31)))
        limiter.change(to: RateLimit(perSecond: 500, burst: 5))
        #expect((490...505).contains(use(&limiter, from: 31, to: 32)))
    }
}
