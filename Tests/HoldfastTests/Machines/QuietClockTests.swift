import Testing

@testable import Holdfast

@Suite struct QuietClockTests {
    /// A clock that is looked at every `step` until `end`, and what was confirmed when.
    private func run(
        _ clock: inout QuietClock, from start: Duration, to end: Duration, step: Duration,
        hears: Bool = true, each: (inout QuietClock, Duration) -> Void = { _, _ in }
    ) -> [(at: Duration, through: UInt64)] {
        var confirmed: [(at: Duration, through: UInt64)] = []
        var now = start
        while now <= end {
            clock.look(now: now)
            each(&clock, now)
            if let stamp = clock.ask(), hears, let through = clock.listened(stamp) { confirmed.append((now, through)) }
            now += step
        }
        return confirmed
    }

    @Test("What has been quiet for the period is confirmed, and nothing sooner") func period() {
        var clock = QuietClock(period: .seconds(5))
        clock.look(now: .seconds(100))
        clock.sent(through: 3)
        let confirmed = run(&clock, from: .seconds(100), to: .seconds(106), step: .milliseconds(100))
        #expect(confirmed.map(\.through) == [3])
        #expect(confirmed.first?.at == .seconds(105))
    }

    @Test("Steady traffic every 5 ms still becomes quiet, each entry soon after its period") func steadyTraffic() {
        var clock = QuietClock(period: .seconds(1))
        var position: UInt64 = 0
        let confirmed = run(&clock, from: .zero, to: .seconds(10), step: .milliseconds(5)) { clock, _ in
            position += 1
            clock.sent(through: position)
        }
        #expect(confirmed.count > 100)
        for (at, through) in confirmed {
            let sentAt = Duration.milliseconds(5) * Int(through - 1)
            #expect(at - sentAt >= .seconds(1))
        }
        // The last period's traffic and a sixteenth are all that may wait.
        let last = confirmed.last?.through ?? 0
        #expect(position - last <= 200 + 14)
    }

    @Test("A machine that was paused for an hour has not listened for an hour") func pause() {
        var clock = QuietClock(period: .seconds(5))
        clock.look(now: .zero)
        clock.sent(through: 1)
        clock.look(now: .seconds(3600))
        #expect(clock.ask() == nil)
        let confirmed = run(&clock, from: .seconds(3601), to: .seconds(3610), step: .milliseconds(500))
        // One second was counted for the pause and one for the look after it.
        #expect(confirmed.first?.at == .seconds(3604))
    }

    @Test("Nothing is confirmed before it was listened for, and only by the stamp that was asked with") func listens() {
        var clock = QuietClock(period: .seconds(1))
        clock.look(now: .zero)
        clock.sent(through: 9)
        clock.look(now: .seconds(1))
        guard let stamp = clock.ask() else {
            Issue.record("expected a question")
            return
        }
        #expect(clock.ask() == nil)
        #expect(clock.listened(stamp &+ 1) == nil)
        #expect(clock.listened(stamp) == 9)
        #expect(clock.listened(stamp) == nil)
    }

    @Test("What left after the question is not confirmed by its answer") func afterTheQuestion() {
        var clock = QuietClock(period: .seconds(1))
        clock.look(now: .zero)
        clock.sent(through: 1)
        clock.look(now: .seconds(1))
        let stamp = clock.ask() ?? 0
        clock.sent(through: 2)
        clock.look(now: .seconds(2))
        #expect(clock.listened(stamp) == 1)
    }

    @Test("The clock of an entry starts when it left, not when it was handed out") func starts() {
        var clock = QuietClock(period: .seconds(1))
        #expect(run(&clock, from: .zero, to: .seconds(10), step: .milliseconds(500)).isEmpty)
        clock.sent(through: 1)
        let confirmed = run(&clock, from: .seconds(10), to: .seconds(12), step: .milliseconds(500))
        #expect(confirmed.first?.at == .seconds(11))
    }

    @Test(
        "It asks to be looked at when the next becomes quiet, at least every second, and not at all while nothing waits"
    )
    func nextLook() {
        var clock = QuietClock(period: .milliseconds(1500))
        clock.look(now: .zero)
        #expect(clock.nextLook == nil)
        clock.sent(through: 1)
        #expect(clock.nextLook == .seconds(1))
        clock.look(now: .seconds(1))
        #expect(clock.nextLook == .milliseconds(1500))
    }

    @Test("A clock that only tells when all is idle asks to be looked at when that may be, not each millisecond")
    func idleLook() {
        var clock = QuietClock(period: .seconds(1), tellsIdleOnly: true)
        var now = Duration.zero
        for position in 1...100 as ClosedRange<UInt64> {
            clock.look(now: now)
            clock.sent(through: position)
            now += .milliseconds(100)
        }
        #expect(!clock.isIdle)
        #expect(clock.nextLook == .milliseconds(9900) + .seconds(1))
        clock.look(now: .milliseconds(9900) + .seconds(1))
        #expect(clock.isIdle)
    }

    @Test("Random traffic: never confirmed before its period, always soon after it", arguments: 0..<50 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var clock = QuietClock(period: .seconds(2))
        var leftAt: [Duration] = []
        var confirmed = 0
        var now = Duration.zero
        for _ in 0..<2000 {
            now += .milliseconds(Int.random(in: 1...200, using: &random))
            clock.look(now: now)
            if Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 1...5, using: &random) { leftAt.append(now) }
                clock.sent(through: UInt64(leftAt.count))
            }
            guard let stamp = clock.ask(), let through = clock.listened(stamp) else { continue }
            #expect(through > confirmed, "seed \(seed)")
            #expect(leftAt[Int(through) - 1] + .seconds(2) <= now, "seed \(seed)")
            confirmed = Int(through)
        }
        #expect(leftAt[confirmed...].allSatisfy { now - $0 < .seconds(2) + .milliseconds(125 + 400) }, "seed \(seed)")
    }
}
