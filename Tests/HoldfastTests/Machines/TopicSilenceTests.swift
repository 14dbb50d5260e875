import Testing

@testable import Holdfast

@Suite struct TopicSilenceTests {
    private let one: UInt32 = 1
    private let other: UInt32 = 2

    @Test("A request without an answer says nothing where the topic was answered since") func answeredSince() {
        var silence = TopicSilence()
        silence.look(turn: 5)
        #expect(silence.answered(one) == [])
        #expect(silence.unanswered(one, handedOutIn: 4) == .nothing)
        #expect(silence.isEmpty)
        #expect(silence.unanswered(one, handedOutIn: 5) == .nothing)
        #expect(silence.contains(one) && silence.letsOthersGo)
    }

    @Test("Two requests without an answer convict a topic where others are answered, and none where they are not")
    func convicts() {
        var silence = TopicSilence()
        for turn in 1..<4 as Range<UInt32> {
            silence.look(turn: 10 * turn)
            #expect(silence.unanswered(one, handedOutIn: 10 * turn - 5) == .nothing)
        }
        silence.look(turn: 50)
        #expect(silence.answered(other) == [])
        #expect(silence.unanswered(one, handedOutIn: 49) == .convicted(requests: 4))
        #expect(silence.answered(one) == [])
        #expect(silence.isEmpty)
        #expect(silence.unanswered(one, handedOutIn: 49) == .nothing)
    }

    @Test("A topic on trial is tried again as soon as another is answered") func trial() {
        var silence = TopicSilence()
        silence.look(turn: 1)
        #expect(silence.unanswered(one, handedOutIn: 0) == .nothing)
        #expect(silence.letOthersGo() == [one])
        silence.look(turn: 3)
        #expect(silence.answered(other) == [one])
        silence.look(turn: 4)
        #expect(silence.answered(other) == [])
        #expect(silence.unanswered(one, handedOutIn: 2) == .convicted(requests: 2))
    }

    @Test("Where more topics are silent alike it is the service, until anything is answered") func alike() {
        var silence = TopicSilence()
        silence.look(turn: 1)
        for topic in 1...3 as ClosedRange<UInt32> {
            #expect(silence.unanswered(topic, handedOutIn: 0) == .nothing)
            #expect(silence.letOthersGo() == Array(1...topic))
        }
        #expect(silence.unanswered(4, handedOutIn: 0) == .acquitted([1, 2, 3]))
        #expect(!silence.letsOthersGo && silence.letOthersGo() == [])
        #expect(silence.unanswered(5, handedOutIn: 0) == .nothing)
        silence.look(turn: 2)
        #expect(silence.answered(5) == [])
        #expect(silence.letsOthersGo && silence.letOthersGo() == [1, 2, 3, 4])
    }

    @Test("What is known is bounded, and a topic without a number is none") func bounds() {
        var silence = TopicSilence()
        #expect(silence.unanswered(TopicBreakers.none, handedOutIn: 0) == .nothing && silence.isEmpty)
        for topic in 1...5000 as ClosedRange<UInt32> {
            silence.look(turn: topic)
            _ = silence.answered(topic)
            _ = silence.unanswered(topic, handedOutIn: topic)
        }
        #expect(silence.contains(5000) && !silence.contains(1))
    }
}
