import Testing

@testable import Holdfast

@Suite struct LaneProbeTests {
    private let wall = WallTime(seconds: 1000)

    private func schedule() -> ProbeSchedule {
        var schedule = ProbeSchedule()
        schedule.minimum = .seconds(1)
        schedule.maximum = .seconds(8)
        schedule.answerLimit = .seconds(60)
        return schedule
    }

    private func stopped() -> LaneProbe {
        var probe = LaneProbe()
        probe.begin(schedule(), at: Moment(monotonic: .zero, wall: wall), random: 0.999)
        return probe
    }

    @Test("A lane that runs has no probe") func idle() {
        var probe = LaneProbe()
        let due1 = probe.look(schedule(), at: Moment(monotonic: .seconds(1000), wall: wall), random: 0)
        #expect(!due1)
        #expect(probe.wake == nil)
        #expect(probe.nextAt == nil)
    }

    @Test("The first probe comes after a pause, and one is out at a time") func first() {
        var probe = stopped()
        let due2 = probe.look(schedule(), at: Moment(monotonic: .milliseconds(990), wall: wall), random: 0)
        #expect(!due2)
        let due3 = probe.look(schedule(), at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(due3)
        probe.handedOut(UID(7), on: 3, schedule(), now: .seconds(1))
        #expect(probe.isOut)
        #expect(probe.isProbe(UID(7)))
        #expect(!probe.isProbe(UID(8)))
        #expect(probe.isOut(on: 3))
        let due4 = probe.look(schedule(), at: Moment(monotonic: .seconds(2), wall: wall), random: 0)
        #expect(!due4)
        #expect(!probe.hasTried)
    }

    @Test("Pauses double with each failure up to the maximum, and are never less than half of their bound")
    func pauses() {
        var probe = stopped()
        var now = Duration.seconds(1)
        var least: [Duration] = []
        for _ in 0..<6 {
            let due5 = probe.look(schedule(), at: Moment(monotonic: now, wall: wall), random: 0)
            #expect(due5)
            probe.handedOut(UID(1), on: 1, schedule(), now: now)
            probe.conclude(.failed, schedule(), at: Moment(monotonic: now, wall: wall), random: 0)
            least.append((probe.wake ?? .zero) - now)
            now = probe.wake ?? .zero
        }
        #expect(least == [1, 2, 4, 4, 4, 4].map { .seconds($0) })
        #expect(schedule().pause(after: 100, random: 0.999) <= .seconds(8))
        #expect(schedule().pause(after: 100, random: 0.999) > .seconds(7))
    }

    @Test("What says nothing of the cause does not make the pause longer") func inconclusive() {
        var probe = stopped()
        let due6 = probe.look(schedule(), at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(due6)
        probe.handedOut(UID(1), on: 1, schedule(), now: .seconds(1))
        probe.conclude(.inconclusive, schedule(), at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(probe.failures == 0)
        #expect(probe.hasTried)
        #expect(probe.wake == .milliseconds(1500))
        #expect(probe.nextAt == wall.advanced(by: .milliseconds(500)))
    }

    @Test("A probe that nobody answers is followed by another one") func unanswered() {
        var probe = stopped()
        let due7 = probe.look(schedule(), at: Moment(monotonic: .seconds(1), wall: wall), random: 0)
        #expect(due7)
        probe.handedOut(UID(1), on: 1, schedule(), now: .seconds(1))
        #expect(probe.wake == .seconds(61))
        let due8 = probe.look(schedule(), at: Moment(monotonic: .seconds(61), wall: wall), random: 0)
        #expect(!due8)
        #expect(!probe.isOut)
        let due9 = probe.look(schedule(), at: Moment(monotonic: .seconds(62), wall: wall), random: 0)
        #expect(due9)
    }

    @Test("Credentials with which nothing was ever confirmed are convicted by one refusal") func neverWorked() {
        var trial = CredentialTrial(policy: CredentialPolicy())
        let first = trial.refused(UID(1), now: .seconds(1))
        #expect(first)
        #expect(!trial.refusesSeveral)
    }

    @Test("Credentials that work are not convicted by refusals among confirmations") func sporadic() {
        var trial = CredentialTrial(policy: CredentialPolicy())
        for second in 0..<1000 {
            trial.confirmed(now: .seconds(second * 60))
            for uid in 1...50 as ClosedRange<UInt64> {
                let isConvicted = trial.refused(UID(uid), now: .seconds(second * 60 + 5))
                #expect(!isConvicted)
            }
        }
    }

    @Test("A key that is revoked in mid-life is convicted: by many refusals at once, or by few and silence")
    func revoked() {
        var busy = CredentialTrial(policy: CredentialPolicy())
        busy.confirmed(now: .zero)
        let verdicts = (0..<100 as Range<UInt64>).map { busy.refused(UID($0), now: .milliseconds(1)) }
        #expect(verdicts.filter { $0 }.count == 1)
        #expect(verdicts.last == true)
        var thin = CredentialTrial(policy: CredentialPolicy())
        thin.confirmed(now: .zero)
        let convicted = [1, 5, 9, 10].map { thin.refused(UID(UInt64($0)), now: .seconds($0)) }
        #expect(convicted == [false, false, false, true])
        thin.begin()
        let first = thin.refused(UID(11), now: .seconds(11))
        #expect(first)
    }

    @Test("One entry alone does not convict credentials that work, however often it is refused; another one does")
    func oneEntry() {
        var trial = CredentialTrial(policy: CredentialPolicy())
        trial.confirmed(now: .zero)
        let verdicts = (1...1000).map { trial.refused(UID(1), now: .seconds($0)) }
        #expect(!verdicts.contains(true))
        #expect(trial.refusalsOfOne == 1000)
        let another = trial.refused(UID(2), now: .seconds(1001))
        #expect(another)
        #expect(trial.refusesSeveral && trial.refusalsOfOne == 0)
        trial.confirmed(now: .seconds(1002))
        #expect(!trial.refusesSeveral && trial.refusalsOfOne == 0)
        _ = trial.refused(nil, now: .seconds(1003))
        #expect(trial.refusesSeveral)
    }
}
