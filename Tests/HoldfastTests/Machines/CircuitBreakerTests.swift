import HoldfastAPNsAnswers
import Testing

@testable import Holdfast

extension CircuitBreaker {
    /// In these tests each millisecond is a turn, from 1 on.
    fileprivate mutating func confirmed(_ count: Int, evidence: Int = 0, now: Duration) {
        look(turn: UInt32(now.wholeMilliseconds) + 1)
        confirmed(count, by: 1, evidence: evidence)
    }

    fileprivate mutating func called(_ suspect: Suspect, now: Duration) {
        look(turn: UInt32(now.wholeMilliseconds) + 1)
        hold(suspect, now: now)
    }
}

@Suite struct CircuitBreakerTests {
    /// What stands in a window, handed out in this turn.
    private func flight(_ number: Int, turn: UInt32 = 0) -> SentWindow.Flight {
        var window = SentWindow()
        window.look(now: .zero, turn: turn)
        let ticket = window.handOut(
            SentWindow.Flight(
                lane: 0, uid: UID(UInt64(number)), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                acceptedAt: WallTime(seconds: 0)))
        return window.answer(ticket)!
    }

    private func suspect(_ number: Int, turn: UInt32 = 0) -> CircuitBreaker.Suspect {
        CircuitBreaker.Suspect(
            connection: 1, ticket: Ticket(rawValue: UInt64(number)),
            flight: flight(number, turn: turn),
            token: TokenOfTopic(recipient: Sample.notification(number).recipient, topic: "com.example.app"),
            result: SendResult(apnsStatus: 400, reason: "BadDeviceToken"),
            answeredAt: WallTime(seconds: 1))
    }

    private enum Verdict: Hashable {
        case waits
        case convicted(Int)
        case spared(Int)
        case postponed(Int)
        case tripped(Int)
    }

    private func judge(_ breaker: inout CircuitBreaker, at now: Duration) -> Verdict {
        switch breaker.judge(now: now) {
        case nil: .waits
        case .convict(let suspects)?: .convicted(suspects.count)
        case .giveChance(let suspects)?: .spared(suspects.count)
        case .postpone(let suspects)?: .postponed(suspects.count)
        case .trip(let suspects, _, _)?: .tripped(suspects.count)
        }
    }

    @Test("A suspect waits for the hold, and is then convicted if the others are taken") func oneBad() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100, now: .zero)
        breaker.called(suspect(1), now: .seconds(1))
        breaker.confirmed(100, now: .seconds(2))
        #expect(judge(&breaker, at: .seconds(5)) == .waits)
        #expect(breaker.judgementAt == .seconds(6))
        #expect(judge(&breaker, at: .seconds(6)) == .convicted(1))
        #expect(breaker.judgementAt == nil)
    }

    @Test("What looks wrong is told in the service\'s own terms") func suspicion() {
        var breaker = CircuitBreaker(policy: SuspectPolicy(), suspicion: "the project")
        for number in 1...999 { breaker.called(suspect(number), now: .zero) }
        _ = breaker.judge(now: .zero)
        guard case .trip(_, let words, spare: _)? = breaker.judge(now: .seconds(5)) else {
            Issue.record("expected a trip")
            return
        }
        #expect(words.contains("the project looks wrong") && !words.contains("environment"))
    }

    @Test("A wrong environment trips before anybody is convicted") func wrongEnvironment() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...999 { breaker.called(suspect(number), now: .zero) }
        var other = breaker
        #expect(judge(&breaker, at: .zero) == .waits)
        #expect(judge(&breaker, at: .seconds(5)) == .tripped(999))
        #expect(breaker.suspects.isEmpty)
        other.called(suspect(1000), now: .zero)
        #expect(judge(&other, at: .zero) == .tripped(1000))
    }

    @Test("Where nothing was confirmed yet bad ones are judged when time is up: those behind them may prove the topic")
    func noHurry() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...150 { breaker.called(suspect(number), now: .zero) }
        breaker.confirmed(1, now: .milliseconds(1))
        #expect(judge(&breaker, at: .milliseconds(1)) == .waits)
        breaker.confirmed(999, evidence: 999, now: .milliseconds(2))
        #expect(judge(&breaker, at: .milliseconds(2)) == .waits)
        #expect(judge(&breaker, at: .seconds(5)) == .spared(150))
    }

    /// One that was let go, and is called bad again.
    private func again(_ number: Int) -> CircuitBreaker.Suspect {
        var suspect = suspect(number)
        suspect.chance = SecondChances.Chance(voice: 1, counts: true)
        return suspect
    }

    @Test(
        "Of more than the allowance none is convicted on one word, those behind them included; on a second word all are"
    )
    func secondChance() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1000, now: .zero)
        for number in 1...5 { breaker.called(suspect(number), now: .seconds(1)) }
        for number in 6...10 { breaker.called(suspect(number), now: .milliseconds(1_100)) }
        breaker.confirmed(100, evidence: 100, now: .seconds(2))
        #expect(judge(&breaker, at: .seconds(6)) == .spared(5))
        #expect(judge(&breaker, at: .seconds(6)) == .waits)
        #expect(judge(&breaker, at: .milliseconds(7_250)) == .spared(5))
        for number in 1...10 { breaker.called(again(number), now: .seconds(8)) }
        breaker.called(suspect(11), now: .seconds(8))
        #expect(judge(&breaker, at: .seconds(13)) == .convicted(11))
        // That is no sign that the topic is wrong.
        breaker.called(suspect(12), now: .seconds(14))
        #expect(judge(&breaker, at: .seconds(19)) == .convicted(1))
    }

    @Test("A second word convicts nobody of a topic of which nothing is taken, nor of one that turns wrong meanwhile")
    func secondWordOfWrongService() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.called(again(1), now: .zero)
        #expect(judge(&breaker, at: .seconds(5)) == .tripped(1))
        breaker.confirmed(1, now: .seconds(6))
        for number in 1...10 {
            breaker.called(again(number), now: .seconds(7))
            breaker.called(suspect(10 + number), now: .seconds(7))
        }
        #expect(judge(&breaker, at: .seconds(12)) == .tripped(20))
    }

    @Test("A wrong environment in the middle of good traffic trips") func environmentTurns() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100_000, now: .zero)
        for number in 1...100 { breaker.called(suspect(number), now: .milliseconds(10)) }
        #expect(judge(&breaker, at: .milliseconds(10)) == .tripped(100))
    }

    @Test(
        "Many old tokens among good ones have their second chance when what is sent next is taken, or when time is up",
        arguments: [true, false])
    func listCleaning(_ confirmedFirst: Bool) {
        var breaker = CircuitBreaker(policy: SuspectPolicy(), isProven: true)
        if confirmedFirst { breaker.confirmed(350, now: .zero) }
        for number in 1...150 { breaker.called(suspect(number), now: .zero) }
        if !confirmedFirst { breaker.confirmed(350, now: .zero) }
        #expect(judge(&breaker, at: .zero) == .waits)
        var other = breaker
        breaker.confirmed(100, evidence: 99, now: .milliseconds(1))
        #expect(judge(&breaker, at: .milliseconds(1)) == .waits)
        breaker.confirmed(1, evidence: 1, now: .milliseconds(2))
        #expect(judge(&breaker, at: .milliseconds(2)) == .spared(150))
        #expect(judge(&other, at: .seconds(5)) == .spared(150))
    }

    @Test("A service that calls every token bad in the middle of a burst convicts nobody, however much it took before")
    func midBurst() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(300, now: .zero)
        for number in 1...100 { breaker.called(suspect(number), now: .zero) }
        #expect(judge(&breaker, at: .zero) == .waits)
        // Another connection brings what was taken before.
        breaker.confirmed(600, now: .milliseconds(1))
        #expect(judge(&breaker, at: .milliseconds(1)) == .waits)
        for number in 101...110 {
            breaker.called(suspect(number, turn: 1), now: .milliseconds(2))
        }
        #expect(judge(&breaker, at: .milliseconds(2)) == .tripped(110))
    }

    @Test("Who is called bad while others wait is judged by evidence of its own") func ownEvidence() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1, now: .zero)
        breaker.called(suspect(1), now: .zero)
        breaker.confirmed(4000, evidence: 4000, now: .seconds(4))
        for number in 2...200 {
            breaker.called(suspect(number, turn: 4000), now: .milliseconds(4_900))
        }
        #expect(judge(&breaker, at: .milliseconds(4_900)) == .spared(1))
        #expect(breaker.suspects.count == 199)
        #expect(judge(&breaker, at: .milliseconds(4_900)) == .tripped(199))
    }

    @Test("Who followed others is not judged before there was time for evidence") func lateComers() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1, now: .zero)
        breaker.called(suspect(1), now: .seconds(1))
        breaker.called(suspect(2), now: .milliseconds(1_100))
        breaker.confirmed(10, now: .seconds(2))
        #expect(judge(&breaker, at: .seconds(6)) == .convicted(1))
        #expect(breaker.judgementAt == .milliseconds(7_250))
        #expect(judge(&breaker, at: .milliseconds(6_200)) == .waits)
        #expect(judge(&breaker, at: .milliseconds(7_250)) == .convicted(1))
        #expect(breaker.judgementAt == nil)
    }

    @Test("What was handed out before the first suspect was answered is no evidence") func whatIsEvidence() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        #expect(!breaker.isEvidence(flight(1, turn: 9000)))
        breaker.called(suspect(1), now: .seconds(5))
        #expect(!breaker.isEvidence(flight(2, turn: 5_000)))
        // A turn takes answers before it hands out.
        #expect(breaker.isEvidence(flight(2, turn: 5_001)))
        #expect(breaker.isEvidence(flight(2, turn: 5_002)))
    }

    @Test("Evidence is evidence when the turns' numbers go round") func turnsGoRound() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.look(turn: .max)
        breaker.hold(suspect(1), now: .zero)
        #expect(!breaker.isEvidence(flight(2, turn: .max - 1)))
        #expect(breaker.isEvidence(flight(2, turn: 0)))
    }

    @Test("When the last of the accused is withdrawn, those behind them are judged in their time") func withdrawn() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1, now: .zero)
        breaker.called(suspect(1), now: .milliseconds(1))
        breaker.called(suspect(2), now: .seconds(1))
        breaker.called(suspect(3), now: .seconds(1))
        let released = [3, 3, 1].map { breaker.release(UID($0), now: .seconds(2)) }
        #expect(released == [true, false, true])
        #expect(breaker.judgementAt == .seconds(6))
        #expect(judge(&breaker, at: .seconds(6)) == .convicted(1))
    }

    @Test("Nobody is convicted before anything was confirmed, however thin the traffic is")
    func thinTraffic() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.called(suspect(1), now: .zero)
        #expect(judge(&breaker, at: .seconds(4)) == .waits)
        #expect(judge(&breaker, at: .seconds(60)) == .tripped(1))
    }

    @Test(
        "What may be tried without a pause is less by what was called bad already", arguments: [(1, 1), (2, 0), (3, 0)])
    func spare(_ bad: Int, _ spare: Int) {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...bad { breaker.called(suspect(number), now: .zero) }
        guard case .trip(_, _, spare)? = breaker.judge(now: .seconds(5)) else {
            Issue.record("it did not trip with as many to spare")
            return
        }
    }

    @Test("A topic that has been proven may convict more in a row, and not without end") func provenLane() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1, now: .zero)
        var now = Duration.seconds(10)
        var convicted = 0
        for number in 1...20 {
            breaker.called(suspect(number), now: now)
            now += .seconds(60)
            guard judge(&breaker, at: now) == .convicted(1) else { break }
            convicted += 1
        }
        #expect(convicted == 9)
    }

    @Test("One that is taken in between renews the allowance, and no more are ever convicted on one word")
    func renewed() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        var now = Duration.zero
        for number in 1...50 {
            breaker.confirmed(1, now: now)
            breaker.called(suspect(number), now: now + .seconds(1))
            now += .seconds(60)
            #expect(judge(&breaker, at: now) == (number <= 9 ? .convicted(1) : .spared(1)))
            guard number > 9 else { continue }
            breaker.called(again(number), now: now)
            now += .seconds(60)
            #expect(judge(&breaker, at: now) == .convicted(1))
        }
    }

    @Test("The words of a connection that takes nothing, while another one does, convict nobody and trip nothing")
    func wrongFrontEnd() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100, by: 2)
        for number in 1...9 { breaker.called(suspect(number), now: .seconds(1)) }
        breaker.confirmed(1, by: 2)
        #expect(judge(&breaker, at: .seconds(6)) == .spared(9))
        for number in 1...9 { breaker.called(again(number), now: .seconds(7)) }
        #expect(judge(&breaker, at: .seconds(12)) == .postponed(9))
        for number in 1...300 { breaker.called(suspect(number), now: .seconds(13)) }
        #expect(judge(&breaker, at: .seconds(18)) == .spared(300))
        // Once it is the only one, it says what the topic is answered.
        breaker.ended(voice: 2)
        for number in 1...300 { breaker.called(suspect(number), now: .seconds(19)) }
        #expect(judge(&breaker, at: .seconds(24)) == .tripped(300))
    }

    @Test("A second word of the same connection convicts nobody while there is another, and does when there is none")
    func sameConnection() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100, by: 2)
        breaker.confirmed(100, now: .zero)
        breaker.called(again(1), now: .seconds(1))
        #expect(judge(&breaker, at: .seconds(6)) == .postponed(1))
        breaker.ended(voice: 2)
        breaker.called(again(1), now: .seconds(7))
        #expect(judge(&breaker, at: .seconds(12)) == .convicted(1))
    }

    @Test("While tokens that were called bad are taken at the second try nobody is convicted, and again after a while")
    func reversed() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        let chance = SecondChances.Chance(voice: 1, counts: true)
        breaker.confirmed(1000, now: .zero)
        for _ in 1...2 { breaker.taken(chance, now: .seconds(1)) }
        breaker.called(again(1), now: .seconds(1))
        #expect(judge(&breaker, at: .seconds(6)) == .convicted(1))
        breaker.taken(chance, now: .seconds(6))
        breaker.called(again(2), now: .seconds(7))
        breaker.called(suspect(3), now: .seconds(7))
        #expect(judge(&breaker, at: .seconds(12)) == .spared(1))
        #expect(judge(&breaker, at: .seconds(12)) == .postponed(1))
        breaker.called(again(2), now: .seconds(604))
        #expect(judge(&breaker, at: .seconds(609)) == .convicted(1))
        // One more is enough then, unless many others are called bad twice.
        breaker.taken(chance, now: .seconds(610))
        breaker.called(again(4), now: .seconds(611))
        #expect(judge(&breaker, at: .seconds(616)) == .postponed(1))
        for number in 1...60 { breaker.called(again(number), now: .seconds(617)) }
        #expect(judge(&breaker, at: .seconds(622)) == .convicted(60))
    }

    @Test("After it has tripped the topic has to prove itself anew") func afterTrip() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1000, now: .zero)
        for number in 1...100 { breaker.called(suspect(number), now: .seconds(1)) }
        #expect(judge(&breaker, at: .seconds(1)) == .tripped(100))
        breaker.called(suspect(1), now: .seconds(10))
        #expect(judge(&breaker, at: .seconds(15)) == .tripped(1))
    }

    @Test("Released suspects are not judged any more") func released() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...5 { breaker.called(suspect(number), now: .zero) }
        #expect(breaker.release().count == 5)
        #expect(judge(&breaker, at: .seconds(100)) == .waits)
    }
}
