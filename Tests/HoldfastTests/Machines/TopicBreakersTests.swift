import HoldfastAPNsAnswers
import Testing

@testable import Holdfast

@Suite struct TopicBreakersTests {
    private func suspect(_ number: Int, _ topic: String) -> CircuitBreaker.Suspect {
        CircuitBreaker.Suspect(
            connection: 0, ticket: Ticket(rawValue: UInt64(number)),
            flight: SentWindow.Flight(
                lane: 0, uid: UID(UInt64(number)), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                acceptedAt: WallTime(seconds: 0)),
            token: TokenOfTopic(recipient: Sample.notification(number).recipient, topic: topic),
            result: SendResult(apnsStatus: 400, reason: "BadDeviceToken"), answeredAt: WallTime(seconds: 1))
    }

    /// The UIDs that are convicted, and those whose topic is set aside.
    private func judge(_ breakers: inout TopicBreakers, at now: Duration) -> (convicted: [UInt64], released: [UInt64]) {
        var (convicted, released): ([UInt64], [UInt64]) = ([], [])
        for judgement in breakers.judge(now: now) {
            switch judgement {
            case .convict(let suspects): convicted += suspects.map(\.flight.uid.rawValue)
            case .giveChance(let suspects), .postpone(let suspects), .trip(let suspects, _, _):
                released += suspects.map(\.flight.uid.rawValue)
            }
        }
        return (convicted, released)
    }

    @Test("A topic keeps its number, and no other has it") func numbers() {
        var breakers = TopicBreakers(policy: SuspectPolicy())
        let first = breakers.number(of: "a")
        let second = breakers.number(of: "b")
        #expect(first != second && first != TopicBreakers.none && second != TopicBreakers.none)
        let again = breakers.number(of: "a")
        #expect(again == first)
        let onceMore = breakers.number(of: "a")
        #expect(onceMore == first)
        let other = breakers.number(of: "b")
        #expect(other == second)
        let inside = breakers.number(of: 1..<2, in: Array("xbx".utf8))
        #expect(inside == second)
    }

    @Test("A suspect is judged by the answers to its own topic") func ownTopic() {
        var breakers = TopicBreakers(policy: SuspectPolicy())
        let good = breakers.number(of: "good")
        breakers.look(turn: 1)
        breakers.confirmed(10_000, of: good)
        let isGoodHeld = breakers.hold(suspect(1, "good"), now: .zero)
        #expect(isGoodHeld)
        let isWrongHeld = breakers.hold(suspect(2, "wrong"), now: .zero)
        #expect(isWrongHeld)
        #expect(breakers.heldCount == 2)
        #expect(breakers.isJudging)
        let judged = judge(&breakers, at: .seconds(5))
        #expect(judged.convicted == [1])
        #expect(judged.released == [2])
        #expect(!breakers.isJudging)
        #expect(breakers.judgementAt == nil)
    }

    @Test("Of more topics than are told apart those used last are known, and of a forgotten one whether it is proven")
    func bounded() {
        var breakers = TopicBreakers(policy: SuspectPolicy(), limit: 4)
        breakers.look(turn: 1)
        let first = breakers.number(of: "first")
        breakers.confirmed(1, of: first)
        let kept = breakers.number(of: "kept")
        breakers.confirmed(1, of: kept)
        var gone: [UInt32] = []
        for turn in 2..<10 {
            breakers.look(turn: UInt32(turn))
            gone.append(breakers.number(of: "topic\(turn)"))
            let same = breakers.number(of: "kept")
            #expect(same == kept)
        }
        let anew = breakers.number(of: "first")
        #expect(anew != first)
        let unproven = breakers.number(of: "topic2")
        // An answer to what went out before counts for nobody.
        #expect(unproven != gone[0])
        breakers.confirmed(1, of: gone[0])
        let isFirstHeld = breakers.hold(suspect(1, "first"), now: .zero)
        #expect(isFirstHeld)
        let isKeptHeld = breakers.hold(suspect(2, "kept"), now: .zero)
        #expect(isKeptHeld)
        let isUnprovenHeld = breakers.hold(suspect(3, "topic2"), now: .zero)
        #expect(isUnprovenHeld)
        let judged = judge(&breakers, at: .seconds(5))
        #expect(judged.convicted.sorted() == [1, 2])
        #expect(judged.released == [3])
    }

    @Test("A topic with suspects is not forgotten, and when all have some a further one is not told apart") func full()
    {
        var breakers = TopicBreakers(policy: SuspectPolicy(), limit: 2)
        let isFirstHeld = breakers.hold(suspect(1, "a"), now: .zero)
        #expect(isFirstHeld)
        let isSecondHeld = breakers.hold(suspect(2, "b"), now: .zero)
        #expect(isSecondHeld)
        let third = breakers.number(of: "c")
        #expect(third == TopicBreakers.none)
        let isThirdHeld = breakers.hold(suspect(3, "c"), now: .zero)
        #expect(!isThirdHeld)
        #expect(breakers.suspects.map(\.flight.uid.rawValue) == [1, 2])
        let wasReleased = breakers.release(UID(1), now: .zero)
        #expect(wasReleased)
        let wasReleasedAgain = breakers.release(UID(1), now: .zero)
        #expect(!wasReleasedAgain)
        let isHeldNow = breakers.hold(suspect(3, "c"), now: .zero)
        #expect(isHeldNow)
        let released = breakers.release()
        #expect(released.count == 2)
        #expect(!breakers.isJudging)
    }

    @Test("That tokens are gone is believed as often in a row as the policy says, for each topic") func gone() {
        var policy = SuspectPolicy()
        policy.greatestUniform = 3
        var breakers = TopicBreakers(policy: policy)
        let (good, wrong) = (breakers.number(of: "good"), breakers.number(of: "wrong"))
        var counts: [Int?] = []
        for _ in 0..<5 {
            breakers.confirmed(1, of: good)
            counts.append(breakers.gone(wrong, .unregistered))
            let count = breakers.gone(good, .unregistered)
            #expect(count == nil)
        }
        #expect(counts == [nil, nil, nil, 4, 5])
        breakers.confirmed(1, of: wrong)
        let countAfter = breakers.gone(wrong, .unregistered)
        #expect(countAfter == nil)
    }
}
