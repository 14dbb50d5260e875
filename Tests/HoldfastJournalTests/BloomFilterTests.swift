import Holdfast
import Testing

@testable import HoldfastJournal

@Suite("The Bloom filter")
struct BloomFilterTests {
    private func key(_ number: UInt64) -> [UInt8] {
        var generator = SplitMix64(state: number)
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    @Test("It never says no of what it has, at its capacity and at four times that")
    func noFalseNegatives() {
        var filter = BloomFilter(capacity: 20_000, greatestByteCount: 1 << 20, seed: 3)
        for number in 0..<80_000 as Range<UInt64> { filter.insert(filter.hash(key(number).span)) }
        for number in 0..<80_000 as Range<UInt64> {
            #expect(filter.mayContain(filter.hash(key(number).span)), "key \(number)")
        }
    }

    @Test("Of what it has not it says perhaps at most one time in a hundred, at some 13 bits a key")
    func falsePositives() {
        var filter = BloomFilter(capacity: 200_000, greatestByteCount: 1 << 20, seed: 9)
        #expect(filter.byteCount < 200_000 * 14 / 8)
        for number in 0..<200_000 as Range<UInt64> { filter.insert(filter.hash(key(number).span)) }
        var wrong = 0
        for number in 1_000_000..<1_200_000 as Range<UInt64>
        where filter.mayContain(filter.hash(key(number).span)) { wrong += 1 }
        #expect(wrong < 2000, "\(wrong) of 200 000")
        #expect(wrong > 0, "a filter that is never wrong is none")
    }

    @Test("An empty one says no to everything, and its size has a bound")
    func bounds() {
        let filter = BloomFilter(capacity: 1 << 40, greatestByteCount: 4096, seed: 1)
        #expect(filter.byteCount <= 4096)
        #expect((0..<1000 as Range<UInt64>).allSatisfy { !filter.mayContain(filter.hash(key($0).span)) })
    }
}
