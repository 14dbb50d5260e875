import Testing

@testable import Holdfast
@testable import HoldfastRequests

@Suite struct AnswerRecordTests {
    private func at(_ seconds: Int64) -> Duration { .seconds(seconds) }

    private func record() -> AnswerRecord { AnswerRecord(sendDeadline: .seconds(30), now: at(0)) }

    @Test("500s alone for ten seconds ask for another connection, and ask once") func errors() {
        var record = record()
        for second in 0..<10 { #expect(record.failed(at: at(Int64(second))) == nil) }
        #expect(record.failed(at: at(10)) == .seconds(10))
        #expect(record.failed(at: at(11)) == nil)
    }

    @Test("A cluster of 500s asks for nothing, however large it is") func cluster() {
        var record = record()
        for _ in 0..<100_000 { #expect(record.failed(at: at(1)) == nil) }
        record.answered(1, at: at(2))
        for _ in 0..<5 { #expect(record.failed(at: at(11)) == nil) }
    }

    @Test("Four 500s within half a minute are too few to judge by; a fifth is not") func fewErrors() {
        var record = record()
        for count in 1...4 { #expect(record.failed(at: at(Int64(count) * 7)) == nil) }
        #expect(record.failed(at: at(35)) == .seconds(28))
    }

    @Test("Refusals of any kind alone for half a minute, three at least, ask for another connection, and ask once")
    func refusals() {
        var record = record()
        for second in 0..<30 { #expect(record.refused(at: at(Int64(second))) == nil) }
        #expect(record.refused(at: at(30)) == .seconds(30))
        #expect(record.refused(at: at(31)) == nil)
        #expect(record.refused(at: at(3600)) == nil)
    }

    @Test("Two refusals are too few to judge by, however far apart they are") func fewRefusals() {
        var record = record()
        #expect(record.refused(at: at(1)) == nil)
        #expect(record.refused(at: at(3600)) == nil)
        #expect(record.refused(at: at(3601)) == .seconds(3600))
    }

    @Test("500s and other refusals count together") func mixed() {
        var record = record()
        #expect(record.failed(at: at(0)) == nil)
        #expect(record.refused(at: at(20)) == nil)
        #expect(record.failed(at: at(40)) == .seconds(40))
    }

    @Test("One answer of another kind among refusals begins the half minute anew") func oneGood() {
        var record = record()
        for second in 0..<29 { #expect(record.refused(at: at(Int64(second))) == nil) }
        record.answered(1, at: at(29))
        for second in 30..<60 { #expect(record.refused(at: at(Int64(second))) == nil) }
        #expect(record.refused(at: at(60)) == .seconds(30))
    }

    @Test("Refusals between 500s begin the ten seconds anew") func interrupted() {
        var record = record()
        for second in 0..<9 { #expect(record.failed(at: at(Int64(second))) == nil) }
        #expect(record.refused(at: at(9)) == nil)
        for second in 10..<20 { #expect(record.failed(at: at(Int64(second))) == nil) }
        #expect(record.failed(at: at(20)) == .seconds(10))
    }

    @Test("Behind another answer the ten seconds begin anew, and may ask again") func anew() {
        var record = record()
        for second in 0..<9 { #expect(record.failed(at: at(Int64(second))) == nil) }
        record.answered(1, at: at(9))
        for second in 10..<20 { #expect(record.failed(at: at(Int64(second))) == nil) }
        #expect(record.failed(at: at(20)) != nil)
        record.answered(1, at: at(21))
        for second in 22..<32 { #expect(record.failed(at: at(Int64(second))) == nil) }
        #expect(record.failed(at: at(32)) != nil)
    }

    @Test("With a send deadline below ten seconds, that is long enough") func shortDeadline() {
        var record = AnswerRecord(sendDeadline: .seconds(2), now: at(0))
        for _ in 0..<5 { #expect(record.failed(at: at(1)) == nil) }
        #expect(record.failed(at: at(3)) == .seconds(2))
    }

    @Test("Nothing was answered for the send deadline: the connection is silent") func silent() {
        var record = record()
        record.answered(1000, at: at(10))
        #expect(record.gaveUp(1, at: at(39)) == nil)
        #expect(record.gaveUp(1, at: at(40)) == .silent)
    }

    @Test("A request in a hundred without an answer is bad luck; one in ten is not") func patchy() {
        var record = record()
        record.answered(1000, at: at(10))
        #expect(record.gaveUp(10, at: at(11)) == nil)
        #expect(record.gaveUp(90, at: at(12)) == .patchy)
    }

    @Test("Four requests without an answer are too few to judge by") func few() {
        var record = record()
        record.answered(1, at: at(10))
        #expect(record.gaveUp(4, at: at(11)) == nil)
        #expect(record.gaveUp(1, at: at(12)) == .patchy)
    }

    @Test("What was two minutes ago does not count any more") func forgets() {
        var record = record()
        record.answered(1_000_000, at: at(10))
        record.turn()
        #expect(record.gaveUp(5, at: at(11)) == nil)
        record.turn()
        record.answered(1, at: at(130))
        #expect(record.gaveUp(5, at: at(131)) == .patchy)
    }
}

@Suite struct IdleClockTests {
    private func at(_ seconds: Int64) -> Duration { .seconds(seconds) }

    @Test("Idle is who has had no request for the limit") func idle() {
        var clock = IdleClock(limit: .seconds(10), now: at(0))
        #expect(clock.isOver(nextStreamID: 1, isBusy: false, at: at(1)) == false)
        #expect(clock.isOver(nextStreamID: 1, isBusy: false, at: at(10)) == false)
        #expect(clock.isOver(nextStreamID: 1, isBusy: false, at: at(11)) == true)
    }

    @Test("A request that came and went between two looks is work, and so is one that is open") func work() {
        var clock = IdleClock(limit: .seconds(10), now: at(0))
        #expect(clock.isOver(nextStreamID: 3, isBusy: false, at: at(9)) == false)
        #expect(clock.isOver(nextStreamID: 3, isBusy: true, at: at(18)) == false)
        #expect(clock.isOver(nextStreamID: 3, isBusy: false, at: at(27)) == false)
        #expect(clock.isOver(nextStreamID: 3, isBusy: false, at: at(28)) == true)
    }

    @Test("Without a limit nobody is ever idle") func never() {
        var clock = IdleClock(limit: nil, now: at(0))
        #expect(clock.isOver(nextStreamID: 1, isBusy: false, at: at(1_000_000)) == false)
    }
}

@Suite struct LivenessClockTests {
    private func at(_ seconds: Int64) -> Duration { .seconds(seconds) }

    private func clock() -> LivenessClock {
        LivenessClock(sendDeadline: .seconds(3), pingAfter: .seconds(100), pingDeadline: .seconds(10))
    }

    @Test("Requests older than the deadline are named, younger ones are not") func deadlines() {
        var clock = clock()
        clock.started(before: 11, at: at(1))
        clock.started(before: 21, at: at(2))
        #expect(clock.nextDeadline == at(4))
        #expect(clock.boundary(at: at(3)) == 0)
        #expect(clock.boundary(at: at(4)) == 11)
        #expect(clock.nextDeadline == at(5))
        #expect(clock.boundary(at: at(6)) == 21)
        #expect(clock.nextDeadline == nil)
    }

    @Test("Requests of one second are past their deadline together, with the youngest of them") func together() {
        var clock = clock()
        let half = at(1) + .milliseconds(500)
        clock.started(before: 3, at: at(1))
        clock.started(before: 5, at: half)
        clock.started(before: 7, at: at(2))
        #expect(clock.nextDeadline == half + .seconds(3))
        #expect(clock.boundary(at: at(4)) == 0)
        #expect(clock.boundary(at: half + .seconds(3)) == 5)
        #expect(clock.boundary(at: at(5)) == 7)
    }

    @Test("A silent connection is asked, and one that stays silent is dead") func silence() {
        var clock = LivenessClock(sendDeadline: .seconds(3), pingAfter: .seconds(20), pingDeadline: .seconds(10))
        clock.start(at: at(0))
        #expect(clock.check(at: at(19)) == .fine)
        #expect(clock.check(at: at(20)) == .ping)
        #expect(clock.check(at: at(29)) == .fine)
        #expect(clock.check(at: at(30)) == .dead)
    }

    @Test("Anything heard is a sign of life") func heard() {
        var clock = LivenessClock(sendDeadline: .seconds(3), pingAfter: .seconds(20), pingDeadline: .seconds(10))
        clock.start(at: at(0))
        #expect(clock.check(at: at(20)) == .ping)
        clock.heard(at: at(25))
        #expect(clock.check(at: at(30)) == .fine)
        #expect(clock.check(at: at(45)) == .ping)
    }
}
