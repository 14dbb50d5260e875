import Holdfast
import Testing

@testable import HoldfastLegacyAPNs

@Suite("Feedback tuples on the wire") struct FeedbackCodecTests {
    private let tuples = [
        FeedbackTuple(tokenBytes: [1, 2, 3, 4, 5], since: WallTime(seconds: 0x5F5E_1000)),
        FeedbackTuple(tokenBytes: [6, 7, 8, 9, 10], since: WallTime(seconds: 7)),
    ]
    private let bytes: [UInt8] = [0x5F, 0x5E, 0x10, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 7, 0, 5, 6, 7, 8, 9, 10]

    @Test("They are written as Apple defined them") func written() {
        var written: [UInt8] = []
        for tuple in tuples { tuple.append(to: &written) }
        #expect(written == bytes)
    }

    @Test("They are read from any two pieces, whatever their tokens' length", arguments: 0...22)
    func read(split: Int) {
        var reader = FeedbackTupleReader()
        var read: [FeedbackTuple] = []
        for range in [0..<split, split..<bytes.count] {
            reader.append(bytes.span.extracting(range))
            while let tuple = reader.next() { read.append(tuple) }
        }
        #expect(read == tuples)
        #expect(!reader.isInTuple)
    }

    @Test("A tuple whose token is none does not take those behind it away", arguments: [0, 1, 101, 65535])
    func oddLength(length: Int) {
        let odd = FeedbackTuple(tokenBytes: Array(repeating: 9, count: length), since: WallTime(seconds: 8))
        var written: [UInt8] = []
        for tuple in [tuples[0], odd, tuples[1]] { tuple.append(to: &written) }
        var reader = FeedbackTupleReader()
        var read: [FeedbackTuple] = []
        // In the pieces in which a socket gives them.
        for start in stride(from: 0, to: written.count, by: 4096) {
            reader.append(written.span.extracting(start..<min(start + 4096, written.count)))
            while let tuple = reader.next() { read.append(tuple) }
        }
        #expect(read == [tuples[0], odd, tuples[1]])
    }

    @Test("A stream that ends in a tuple is told from one that ends behind it") func cutOff() {
        var reader = FeedbackTupleReader()
        reader.append(bytes.span.extracting(0..<15))
        #expect(reader.next() == tuples[0])
        #expect(reader.next() == nil)
        #expect(reader.isInTuple)
    }
}
