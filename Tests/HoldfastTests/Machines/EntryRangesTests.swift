import Testing

@testable import Holdfast

@Suite struct EntryRangesTests {
    private func range(_ uids: ClosedRange<UInt64>, lane: UInt32 = 1) -> EntryRanges.Range {
        EntryRanges.Range(
            EntryKey(lane: LaneID(rawValue: lane), uid: UID(uids.lowerBound)), through: UID(uids.upperBound))
    }

    @Test("The order in which ranges come does not matter, and neighbours become one") func order() {
        let all = EntryRanges([range(5...9), range(1...4, lane: 2), range(1...4), range(11...12)])
        #expect(all == EntryRanges([range(1...9), range(11...12), range(1...4, lane: 2)]))
        #expect(all.rangeCount == 3)
        #expect(all.first == EntryKey(lane: LaneID(rawValue: 1), uid: UID(1)))
        #expect(all.last == EntryKey(lane: LaneID(rawValue: 2), uid: UID(4)))
    }

    @Test("The greatest UID has no neighbour") func greatest() {
        #expect(EntryRanges([range(.max ... .max), range(1...1)]).rangeCount == 2)
    }

    @Test("What two sets have in common is what both contain, lane by lane") func intersection() {
        var random = Xoshiro256(seed: 1)
        for _ in 0..<500 {
            let sets = (0..<2).map { _ in Set((0..<20).map { _ in UInt64.random(in: 0..<40, using: &random) }) }
            let ranges = sets.map { set in EntryRanges(set.map { range($0 / 2...$0 / 2, lane: UInt32($0 % 2)) }) }
            let both = sets[0].intersection(sets[1])
            let expected = EntryRanges(both.map { range($0 / 2...$0 / 2, lane: UInt32($0 % 2)) })
            #expect(ranges[0].intersection(ranges[1]) == expected)
        }
    }
}
