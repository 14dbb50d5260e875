import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(2))) struct RouteThrottleTests {
    @Test(
        "Of any quota at least 90 % is used, and at most 2 % of the requests are refused, over 3,000 entries and 5 minutes",
        arguments: [QuotaService.Kind.windows, .bucket], [1.0, 2, 3, 5, 10, 20, 30, 50, 100, 300, 1000])
    func quotas(_ kind: QuotaService.Kind, _ perSecond: Double) {
        for retryAfter in [Duration.seconds(1), nil] {
            var run = QuotaRun(QuotaService(kind, perSecond: perSecond), retryAfter: retryAfter)
            while run.granted < 3000 || run.now < .seconds(300) {
                guard run.step() else {
                    Issue.record("nothing goes on at \(run.now)")
                    return
                }
            }
            let share = Double(run.granted) / (perSecond * (run.now / .seconds(1)))
            #expect(share >= 0.9)
            #expect(Double(run.refused) <= 0.02 * Double(run.granted + run.refused))
        }
    }

    @Test(
        "Where some fail beside a quota, at least 80 % of it is used in 5 minutes, and it refuses at most 2 %",
        arguments: [QuotaService.Kind.windows, .bucket], [15, 25, 40, 100, 1000])
    func failuresBesideAQuota(_ kind: QuotaService.Kind, _ failing: Int) {
        var run = QuotaRun(QuotaService(kind, perSecond: 300, failing: failing), retryAfter: .seconds(1))
        while run.now < .seconds(300) {
            guard run.step() else {
                Issue.record("nothing goes on at \(run.now)")
                return
            }
        }
        #expect(Double(run.granted + run.failed) >= 0.8 * 300 * 300)
        #expect(Double(run.refused - run.failed) <= 0.02 * Double(run.granted + run.refused))
    }

    @Test("A service that takes the probe and refuses all that follows is left alone after two")
    func onlyProbes() {
        var throttle = open()
        _ = throttle.take(answers(throttled: 10), now: .zero, random: { 0 })
        for round in 1..<6 {
            let now = Duration.seconds(round)
            throttle.look(now: now)
            #expect(throttle.allowance(inFlight: 0, now: now) == 1)
            throttle.take(1, now: now)
            _ = throttle.take(answers(granted: 1), now: now, random: { 0 })
            var refused = 0
            while refused < 100, throttle.phase == .recovering {
                throttle.take(1, now: now)
                _ = throttle.take(answers(throttled: 1), now: now, random: { 0 })
                refused += 1
            }
            #expect(throttle.isPaused)
            #expect(refused <= 2)
        }
    }

    @Test(
        "Refusals that are a share of the answers at any rate do not slow the route down for long",
        arguments: [5, 7, 10, 20, 40].flatMap { [QuotaService.Kind.share(of: $0), .chance(of: $0)] })
    func shareAtAnyRate(_ kind: QuotaService.Kind) {
        var run = QuotaRun(QuotaService(kind, perSecond: 0), retryAfter: nil)
        while run.granted < 100_000, run.now < .seconds(120) {
            guard run.step() else {
                Issue.record("nothing goes on at \(run.now)")
                return
            }
        }
        #expect(run.granted >= 100_000)
    }

    @Test(
        "On a slow service too, a share that is refused at any rate does not lead the rate down for minutes",
        arguments: [(20.0, 10), (20, 16), (20, 25), (50, 10), (50, 16), (50, 25), (200, 10), (200, 16)])
    func shareOfASlowService(perSecond: Double, share: Int) {
        for seed in 1...20 as ClosedRange<UInt64> {
            var run = ShareRun(senders: 100, perSecond: perSecond, share: share, seed: seed)
            while run.granted < 1300, run.now < .seconds(600) { run.step() }
            #expect(run.now < .seconds(1300 / perSecond + 80), "seed \(seed)")
        }
    }

    @Test(
        "A quota that becomes smaller is kept to: at least 75 % of it is used, and it refuses at most 6 %",
        arguments: [QuotaService.Kind.windows, .bucket], [20.0, 100, 1000])
    func fallingQuota(_ kind: QuotaService.Kind, _ perSecond: Double) {
        for (share, over) in [(0.1, 1.0), (0.1, 120), (0.2, 30), (0.5, 30)] {
            var run = QuotaRun(QuotaService(kind, perSecond: perSecond), retryAfter: .seconds(1))
            while run.now < .seconds(120), run.step() {}
            let before = (granted: run.granted, refused: run.refused)
            var (quota, looked) = (0.0, run.now)
            while run.now < .seconds(600) {
                let fallen = min((run.now - .seconds(120)) / .seconds(over), 1)
                run.service.perSecond = perSecond * (1 - (1 - share) * fallen)
                quota += (run.now - looked) / .seconds(1) * run.service.perSecond
                looked = run.now
                guard run.step() else {
                    Issue.record("nothing goes on at \(run.now)")
                    return
                }
            }
            let (granted, refused) = (run.granted - before.granted, run.refused - before.refused)
            #expect(Double(granted) >= 0.75 * quota)
            #expect(Double(refused) <= 0.06 * Double(granted + refused))
        }
    }

    private func answers(
        granted: Int = 0, throttled: Int = 0, unavailable: Int = 0, retryAfter: Duration? = nil
    ) -> RouteThrottle.Answers {
        RouteThrottle.Answers(
            granted: granted, throttled: throttled, unavailable: unavailable, fresh: throttled + unavailable,
            retryAfter: retryAfter)
    }

    private func open() -> RouteThrottle {
        var policy = ThrottlePolicy()
        policy.firstBurst = .max
        return RouteThrottle(policy: policy, window: 2000)
    }

    @Test("A route begins with a small burst, which doubles with what is taken up to the window") func slowStart() {
        var throttle = RouteThrottle(policy: ThrottlePolicy(), window: 100)
        var sizes: [Int] = []
        for _ in 0..<4 {
            let size = min(throttle.allowance(inFlight: 0, now: .zero), 100)
            sizes.append(size)
            _ = throttle.take(answers(granted: size), now: .zero, random: { 0 })
        }
        #expect(sizes == [16, 32, 64, 100])
        #expect(throttle.allowance(inFlight: 50, now: .zero) == .max)
    }

    @Test("After a pause one probe goes out, and nothing more before it is answered") func oneProbe() {
        var throttle = open()
        let judgement = throttle.take(answers(unavailable: 3), now: .zero, random: { 0 })
        #expect(judgement == .service(until: .milliseconds(500)))
        #expect(throttle.allowance(inFlight: 0, now: .milliseconds(499)) == 0)
        throttle.look(now: .milliseconds(500))
        #expect(throttle.allowance(inFlight: 0, now: .milliseconds(500)) == 1)
        throttle.take(1, now: .milliseconds(500))
        #expect(throttle.allowance(inFlight: 1, now: .seconds(20)) == 0)
        _ = throttle.take(answers(granted: 1), now: .seconds(20), random: { 0 })
        #expect(throttle.allowance(inFlight: 0, now: .seconds(20)) == 2)
        _ = throttle.take(answers(granted: 2), now: .seconds(20), random: { 0 })
        #expect(throttle.allowance(inFlight: 0, now: .seconds(20)) == 4)
    }

    @Test("A probe that is lost with its connection is followed by another one") func lostProbe() {
        var throttle = open()
        _ = throttle.take(answers(unavailable: 3), now: .zero, random: { 0 })
        throttle.look(now: .seconds(1))
        throttle.take(1, now: .seconds(1))
        #expect(throttle.allowance(inFlight: 1, now: .seconds(2)) == 0)
        #expect(throttle.allowance(inFlight: 0, now: .seconds(2)) == 1)
    }

    @Test("A probe without an answer keeps others for two seconds at most, and so does what is recovering")
    func passedOver() {
        var throttle = open()
        _ = throttle.take(answers(unavailable: 3), now: .zero, random: { 0 })
        throttle.look(now: .seconds(1))
        throttle.take(1, now: .seconds(1))
        #expect(!throttle.isKept(inFlight: 1, now: .milliseconds(2999)))
        #expect(throttle.nextAllowance(inFlight: 1, now: .milliseconds(2999)) == .seconds(3))
        #expect(throttle.isKept(inFlight: 1, now: .seconds(3)))
        #expect(throttle.nextAllowance(inFlight: 1, now: .seconds(3)) == nil)
        // Where there is nothing else, it keeps its place.
        #expect(throttle.allowance(inFlight: 1, now: .seconds(3)) == 0)
        throttle.passOver(inFlight: 1)
        #expect(throttle.allowance(inFlight: 1, now: .seconds(3)) == 1)
        throttle.take(1, now: .seconds(3))
        #expect(throttle.allowance(inFlight: 2, now: .seconds(3)) == 0)
        _ = throttle.take(answers(granted: 1), now: .seconds(4), random: { 0 })
        #expect(throttle.phase == .recovering && throttle.allowance(inFlight: 1, now: .seconds(4)) == 2)
        throttle.take(2, now: .seconds(4))
        #expect(throttle.allowance(inFlight: 3, now: .seconds(5)) == 0)
        #expect(throttle.nextAllowance(inFlight: 3, now: .seconds(5)) == .seconds(6))
        #expect(throttle.isKept(inFlight: 3, now: .seconds(6)))
        throttle.passOver(inFlight: 3)
        #expect(throttle.allowance(inFlight: 3, now: .seconds(6)) == 2)
    }

    @Test("What hangs since before the pause does not hold up the recovery") func hanging() {
        var throttle = open()
        _ = throttle.take(answers(unavailable: 3), now: .zero, random: { 0 })
        throttle.look(now: .seconds(1))
        #expect(throttle.allowance(inFlight: 500, now: .seconds(1)) == 1)
        throttle.take(1, now: .seconds(1))
        #expect(throttle.allowance(inFlight: 501, now: .seconds(1)) == 0)
        _ = throttle.take(answers(granted: 1), now: .seconds(1), random: { 0 })
        #expect(throttle.allowance(inFlight: 500, now: .seconds(1)) == 2)
    }

    @Test("An entry that is refused again, alone, makes no other wait") func repeated() {
        var throttle = open()
        let first = throttle.take(answers(unavailable: 1), now: .zero, random: { 0 })
        #expect(first == .service(until: .milliseconds(500)))
        throttle.look(now: .seconds(1))
        throttle.take(1, now: .seconds(1))
        let judgement = throttle.take(answers(unavailable: 1), isRepeated: true, now: .seconds(1), random: { 0 })
        #expect(judgement == .service(until: .seconds(2)))
        #expect(throttle.allowance(inFlight: 0, now: .seconds(1)) == 1)
    }

    @Test("Pauses double from probe to probe up to the greatest, and a Retry-After counts where it is longer")
    func pauses() {
        var throttle = open()
        var now = Duration.zero
        var pauses: [Duration] = []
        for number in 0..<9 {
            let refusal = answers(unavailable: 1, retryAfter: number == 2 ? .seconds(30) : nil)
            guard case .service(let until) = throttle.take(refusal, now: now, random: { 0.5 }) else { break }
            pauses.append(until - now)
            now = until
            throttle.look(now: now)
            throttle.take(throttle.allowance(inFlight: 0, now: now), now: now)
        }
        let seconds = pauses.map { $0 / .seconds(1) }
        #expect(seconds == [0.75, 1.5, 30, 6, 12, 24, 45, 45, 45])
    }

    @Test("A few refusals among many answers are about their notifications; a tenth of 429 or half of 5xx is not")
    func single() {
        var throttle = open()
        #expect(throttle.take(answers(granted: 50, throttled: 5), now: .zero, random: { 0 }) == .single)
        #expect(throttle.take(answers(granted: 0, unavailable: 9), now: .zero, random: { 0 }) == .single)
        #expect(throttle.phase == .open)
        #expect(throttle.take(answers(throttled: 5), now: .zero, random: { 0 }) != .single)
        var other = open()
        #expect(other.take(answers(granted: 10, unavailable: 9), now: .zero, random: { 0 }) == .single)
        #expect(other.take(answers(unavailable: 1), now: .zero, random: { 0 }) != .single)
    }

    @Test("A service that is well again is open at once, without a rate") func wellAgain() {
        var throttle = open()
        _ = throttle.take(answers(unavailable: 100), now: .zero, random: { 0 })
        throttle.look(now: .seconds(1))
        var rounds = 0
        while throttle.isThrottling, rounds < 100 {
            let count = min(throttle.allowance(inFlight: 0, now: .seconds(1)), 2000)
            throttle.take(count, now: .seconds(1))
            _ = throttle.take(answers(granted: count), now: .seconds(1), random: { 0 })
            rounds += 1
        }
        #expect(rounds == 11)
        #expect(throttle.pace == nil)
    }

    @Test("Where little is to be sent, a refusal measures no rate") func thinTraffic() {
        var throttle = open()
        for second in 0..<100 {
            let now = Duration.seconds(second * 7)
            throttle.look(now: now)
            throttle.take(min(throttle.allowance(inFlight: 0, now: now), 1), now: now)
            _ = throttle.take(
                second.isMultiple(of: 3) ? answers(throttled: 1) : answers(granted: 1), now: now, random: { 0 })
        }
        #expect(throttle.pace == nil)
    }

    @Test("A rate that has held up nothing for ten minutes is forgotten") func forgotten() {
        var run = QuotaRun(QuotaService(.windows, perSecond: 10), retryAfter: .seconds(1))
        while run.throttle.pace == nil || run.throttle.phase != .recovering { guard run.step() else { break } }
        var throttle = run.throttle
        throttle.look(now: run.now + .seconds(9 * 60))
        #expect(throttle.pace != nil)
        throttle.look(now: run.now + .seconds(11 * 60))
        #expect(throttle.phase == .open)
        #expect(throttle.allowance(inFlight: 0, now: run.now + .seconds(11 * 60)) == 16)
    }
}
