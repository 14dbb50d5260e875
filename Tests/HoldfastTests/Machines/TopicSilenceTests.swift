import Testing

@testable import Holdfast

@Suite struct TopicSilenceTests {
    private let one: UInt32 = 1
    private let other: UInt32 = 2

    @Test("A request without an answer says nothing where the topic was answered since") func answeredSince() {
        var silence = TopicSilence()
        silence.look(turn: 5)
        #expect(silence.answered(one, handedOutIn: 0, now: .zero) == [])
        #expect(silence.unanswered(one, handedOutIn: 4) == .nothing)
        #expect(silence.isEmpty)
        #expect(silence.unanswered(one, handedOutIn: 5) == .nothing)
        #expect(silence.contains(one) && !silence.isEmpty)
    }

    @Test("Two requests without an answer convict a topic where others are answered, and none where they are not")
    func convicts() {
        var silence = TopicSilence()
        for turn in 1..<4 as Range<UInt32> {
            silence.look(turn: 10 * turn)
            #expect(silence.unanswered(one, handedOutIn: 10 * turn - 5) == .nothing)
        }
        silence.look(turn: 50)
        #expect(silence.answered(other, handedOutIn: 0, now: .zero) == [])
        #expect(silence.unanswered(one, handedOutIn: 49) == .convicted(requests: 4))
        #expect(silence.answered(one, handedOutIn: 0, now: .zero) == [])
        #expect(silence.isEmpty)
        #expect(silence.unanswered(one, handedOutIn: 49) == .nothing)
    }

    @Test("A topic on trial is tried again as soon as another is answered") func trial() {
        var silence = TopicSilence()
        silence.look(turn: 1)
        #expect(silence.unanswered(one, handedOutIn: 0) == .nothing)
        #expect(silence.letOthersGo() == [one])
        silence.look(turn: 3)
        #expect(silence.answered(other, handedOutIn: 0, now: .zero) == [one])
        silence.look(turn: 4)
        #expect(silence.answered(other, handedOutIn: 0, now: .zero) == [])
        #expect(silence.unanswered(one, handedOutIn: 2) == .convicted(requests: 2))
    }

    @Test(
        "Where all that is at hand was tried alike it is the service, and each has its turn again, the least tried first"
    )
    func alike() {
        var silence = TopicSilence()
        silence.look(turn: 1)
        for topic in 1...3 as ClosedRange<UInt32> {
            #expect(!silence.isBehind(topic))
            #expect(silence.unanswered(topic, handedOutIn: 0) == .nothing)
            #expect(silence.letOthersGo() == Array(1...topic))
        }
        #expect(silence.patience(now: .zero) == TopicSilence.nextPatience)
        #expect(silence.foundNoOthers() == [1, 2, 3] && silence.patience(now: .zero) == nil)
        #expect(silence.foundNoOthers() == [])
        // What was tried twice lets those go that were tried once.
        #expect(silence.unanswered(1, handedOutIn: 1) == .nothing)
        #expect(silence.isBehind(1) && !silence.isBehind(2) && silence.letOthersGo() == [1])
        silence.look(turn: 2)
        #expect(silence.answered(5, handedOutIn: 1, now: .zero) == [1])
        #expect(silence.patience(now: .zero) == TopicSilence.nextPatience)
    }

    @Test("Others wait for 10 s at first, for 2 s behind a silent topic, and longer where an answer came after that")
    func patience() {
        var silence = TopicSilence()
        silence.look(turn: 1)
        #expect(silence.patience(now: .zero) == .seconds(10))
        silence.hesitates(one, handedOutIn: 1, at: .seconds(5))
        silence.hesitates(one, handedOutIn: 1, at: .seconds(5))
        #expect(silence.patience(now: .seconds(15)) == .seconds(2))
        silence.look(turn: 2)
        _ = silence.answered(one, handedOutIn: 1, now: .seconds(17))
        #expect(silence.patience(now: .seconds(17)) == .seconds(24))
        #expect(silence.patience(now: .seconds(1000)) == .seconds(10))
    }

    @Test("What went out before the service was back convicts no topic, where several had no answer") func outage() {
        var silence = TopicSilence()
        silence.look(turn: 10)
        for topic in [one, other] { #expect(silence.unanswered(topic, handedOutIn: 5) == .nothing) }
        silence.look(turn: 20)
        #expect(silence.answered(3, handedOutIn: 15, now: .zero) == [])
        #expect(silence.unanswered(one, handedOutIn: 10) == .nothing)
        #expect(silence.unanswered(one, handedOutIn: 16) == .nothing)
        #expect(silence.unanswered(one, handedOutIn: 17) == .convicted(requests: 2))
    }

    @Test("What is known is bounded, and a topic without a number is none") func bounds() {
        var silence = TopicSilence()
        #expect(silence.unanswered(TopicBreakers.none, handedOutIn: 0) == .nothing && silence.isEmpty)
        for topic in 1...5000 as ClosedRange<UInt32> {
            silence.look(turn: topic)
            _ = silence.answered(topic, handedOutIn: 0, now: .zero)
            _ = silence.unanswered(topic, handedOutIn: topic)
        }
        #expect(silence.contains(5000) && !silence.contains(1))
    }
}
