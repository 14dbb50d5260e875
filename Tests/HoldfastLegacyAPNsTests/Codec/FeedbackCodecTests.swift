import Testing

@testable import HoldfastLegacyAPNs

@Suite("Feedback tuples on the wire") struct FeedbackCodecTests {
    private let tuples = [
        FeedbackTuple(time: 0x5F5E_1000, token: [1, 2, 3, 4, 5]), FeedbackTuple(time: 7, token: [6, 7, 8, 9, 10]),
    ]
    private let bytes: [UInt8] = [0x5F, 0x5E, 0x10, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 7, 0, 5, 6, 7, 8, 9, 10]

    @Test("They are written as Apple defined them") func written() {
        var written: [UInt8] = []
        for tuple in tuples { tuple.append(to: &written) }
        #expect(written == bytes)
    }

    @Test("They are read from any two pieces, whatever their tokens' length", arguments: 0...22) func read(split: Int)
        throws
    {
        var reader = FeedbackTupleReader()
        var read: [FeedbackTuple] = []
        for range in [0..<split, split..<bytes.count] {
            reader.append(bytes.span.extracting(range))
            while let tuple = try reader.next() { read.append(tuple) }
        }
        #expect(read == tuples)
        #expect(!reader.isInTuple)
    }

    @Test("Those before what is no tuple are given, and then it is said", arguments: [0, 101, 65535])
    func badLength(length: Int) throws {
        var reader = FeedbackTupleReader()
        reader.append((bytes + [0, 0, 0, 0, UInt8(length >> 8), UInt8(length & 0xFF), 1]).span)
        #expect(try reader.next() == tuples[0])
        #expect(try reader.next() == tuples[1])
        #expect(throws: FeedbackTupleReader.BadTokenLength(length: length)) { try reader.next() }
    }

    @Test("A stream that ends in a tuple is told from one that ends behind it") func cutOff() throws {
        var reader = FeedbackTupleReader()
        reader.append(bytes.span.extracting(0..<15))
        #expect(try reader.next() == tuples[0])
        #expect(try reader.next() == nil)
        #expect(reader.isInTuple)
    }
}
