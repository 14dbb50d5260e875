import Testing

@testable import Holdfast

@Suite struct SecondChancesTests {
    private func chances(_ numbers: ClosedRange<UInt64>) -> [(flight: SentWindow.Flight, chance: SecondChances.Chance)]
    {
        flights(numbers).map { ($0, SecondChances.Chance(voice: 1, counts: true)) }
    }

    private func flights(_ numbers: ClosedRange<UInt64>, lane: Int = 0) -> [SentWindow.Flight] {
        numbers.map {
            SentWindow.Flight(
                lane: lane, uid: UID($0), attempts: 0, possiblySentBefore: false, hasOneAttempt: false,
                acceptedAt: WallTime(seconds: 0))
        }
    }

    @Test("An entry of its lane has one second chance") func once() {
        var chances = SecondChances()
        chances.give(self.chances(1...2))
        let ends = (flights(1...1, lane: 1) + flights(1...1) + flights(1...1)).map { chances.end($0) != nil }
        #expect(ends == [false, true, false])
        #expect(!chances.isEmpty)
        chances.end(flights(2...2)[0])
        #expect(chances.isEmpty)
    }

    @Test("Those that were let go together last are remembered, however many, and no more than as many besides")
    func bounded() {
        var chances = SecondChances(limit: 10)
        for turn in 0..<50 as Range<UInt64> { chances.give(self.chances(turn * 4...turn * 4 + 3)) }
        #expect(chances.count <= 20)
        #expect(flights(190...199).allSatisfy { chances.end($0) != nil })
        chances.give(self.chances(1000...1099))
        #expect(flights(1000...1099).allSatisfy { chances.end($0) != nil })
    }
}
