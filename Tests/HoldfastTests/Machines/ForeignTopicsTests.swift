import Testing

@testable import Holdfast

@Suite struct ForeignTopicsTests {
    private func second(_ number: Int) -> Duration { .seconds(number) }

    @Test("Foreign answers are about the topic when others were answered between three of them")
    func convicts() {
        var topics = ForeignTopics()
        for round in 1...3 {
            let isAboutIt = topics.foreign(1, now: second(2 * round))
            #expect(isAboutIt == (round == 3))
            topics.answered(2)
        }
        let isAboutIt = topics.foreign(1, now: second(7))
        #expect(isAboutIt)
    }

    @Test("They are not while nothing else is answered, however many they are")
    func nothingElse() {
        var topics = ForeignTopics()
        topics.answered(2)
        for number in 0..<1000 {
            let isAboutIt = topics.foreign(UInt32(1 + number % 3), now: second(number))
            #expect(!isAboutIt)
            #expect(topics.hasForeign)
        }
    }

    @Test("What is answered of the topic itself ends it, and what comes within a second counts once")
    func acquits() {
        var topics = ForeignTopics()
        for number in 0..<100 {
            let isAboutIt = topics.foreign(1, now: .milliseconds(10 * number))
            #expect(!isAboutIt)
            topics.answered(2)
        }
        let isSecond = topics.foreign(1, now: second(2))
        #expect(!isSecond)
        topics.answered(1)
        #expect(!topics.hasForeign && !topics.hasForeign(1))
        topics.answered(2)
        let isThird = topics.foreign(1, now: second(4))
        #expect(!isThird)
    }

    @Test("It is known which topics had foreign answers since anything was answered")
    func since() {
        var topics = ForeignTopics()
        _ = topics.foreign(1, now: second(1))
        #expect(topics.hasForeign(1) && !topics.hasForeign(2))
        topics.answered(2)
        #expect(!topics.hasForeign)
    }
}
