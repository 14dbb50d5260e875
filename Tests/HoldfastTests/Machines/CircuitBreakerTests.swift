import Testing

@testable import Holdfast

@Suite struct CircuitBreakerTests {
    private func suspect(_ number: Int) -> CircuitBreaker.Suspect {
        CircuitBreaker.Suspect(
            connection: 1, ticket: Ticket(rawValue: UInt64(number)),
            flight: SentWindow.Flight(
                lane: 0, uid: UID(UInt64(number)), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                acceptedAt: WallTime(seconds: 0)),
            token: TokenOfTopic(token: Sample.notification(number).token!, topic: "com.example.app"),
            result: SendResult(apnsStatus: 400, reason: "BadDeviceToken"),
            answeredAt: WallTime(seconds: 1))
    }

    private enum Verdict: Hashable {
        case waits
        case convicted(Int)
        case tripped(Int)
    }

    private func judge(_ breaker: inout CircuitBreaker, at now: Duration) -> Verdict {
        switch breaker.judge(now: now) {
        case nil: .waits
        case .convict(let suspects)?: .convicted(suspects.count)
        case .trip(let suspects, _)?: .tripped(suspects.count)
        }
    }

    @Test("A suspect waits for the hold, and is then convicted if the others are taken") func oneBad() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100, now: .zero)
        breaker.hold(suspect(1), now: .seconds(1))
        breaker.confirmed(100, now: .seconds(2))
        #expect(judge(&breaker, at: .seconds(5)) == .waits)
        #expect(breaker.judgementAt == .seconds(6))
        #expect(judge(&breaker, at: .seconds(6)) == .convicted(1))
        #expect(breaker.judgementAt == nil)
    }

    @Test("A wrong environment trips before anybody is convicted") func wrongEnvironment() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...100 { breaker.hold(suspect(number), now: .zero) }
        #expect(judge(&breaker, at: .zero) == .tripped(100))
        #expect(breaker.suspects.isEmpty)
    }

    @Test("A wrong environment in the middle of good traffic trips") func environmentTurns() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(100_000, now: .zero)
        for number in 1...100 { breaker.hold(suspect(number), now: .milliseconds(10)) }
        #expect(judge(&breaker, at: .milliseconds(10)) == .tripped(100))
    }

    @Test(
        "A list full of old tokens among good ones is cleaned, also when the answers come in one batch",
        arguments: [true, false])
    func listCleaning(_ confirmedFirst: Bool) {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        if confirmedFirst { breaker.confirmed(350, now: .zero) }
        for number in 1...150 { breaker.hold(suspect(number), now: .zero) }
        if !confirmedFirst { breaker.confirmed(350, now: .zero) }
        #expect(judge(&breaker, at: .zero) == .convicted(150))
    }

    @Test("A wrong environment with thin traffic, one suspect after the other, trips within the allowance")
    func thinTraffic() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        var now = Duration.zero
        var verdicts: [Verdict] = []
        for number in 1...3 {
            breaker.hold(suspect(number), now: now)
            now += .seconds(60)
            verdicts.append(judge(&breaker, at: now))
        }
        #expect(verdicts == [.convicted(1), .convicted(1), .tripped(1)])
    }

    @Test("A lane that has been proven may convict more in a row, and not without end") func provenLane() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1, now: .zero)
        var now = Duration.seconds(10)
        var convicted = 0
        for number in 1...20 {
            breaker.hold(suspect(number), now: now)
            now += .seconds(60)
            guard judge(&breaker, at: now) == .convicted(1) else { break }
            convicted += 1
        }
        #expect(convicted == 9)
    }

    @Test("One that is taken in between renews the allowance") func renewed() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        var now = Duration.zero
        for number in 1...50 {
            breaker.confirmed(1, now: now)
            breaker.hold(suspect(number), now: now + .seconds(1))
            now += .seconds(60)
            #expect(judge(&breaker, at: now) == .convicted(1))
        }
    }

    @Test("After it has tripped the lane has to prove itself anew") func afterTrip() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        breaker.confirmed(1000, now: .zero)
        for number in 1...100 { breaker.hold(suspect(number), now: .seconds(1)) }
        #expect(judge(&breaker, at: .seconds(1)) == .tripped(100))
        for number in 1...3 { breaker.hold(suspect(number), now: .seconds(10)) }
        #expect(judge(&breaker, at: .seconds(15)) == .tripped(3))
    }

    @Test("Released suspects are not judged any more") func released() {
        var breaker = CircuitBreaker(policy: SuspectPolicy())
        for number in 1...5 { breaker.hold(suspect(number), now: .zero) }
        #expect(breaker.release().count == 5)
        #expect(judge(&breaker, at: .seconds(100)) == .waits)
    }
}
