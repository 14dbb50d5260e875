import Holdfast
import Testing

@Suite("Bytes") struct BytesTests {
    private static let bytes = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }

    @Test("are equal to a range of others of their length, and differ with each byte that differs", arguments: 0...20)
    func equals(count: Int) {
        for start in [0, 1, 7, 64 - count] {
            let range = start..<start + count
            let these = Array(Self.bytes[range])
            #expect(these.equals(range, of: Self.bytes))
            #expect(!(these + [0]).equals(range, of: Self.bytes))
            for index in range {
                var others = Self.bytes
                others[index] ^= 0x80
                #expect(!these.equals(range, of: others))
            }
        }
    }

    @Test(
        "have a fingerprint of their own, wherever they are: no other where one bit, or their number, differs",
        arguments: 0...20)
    func fingerprint(count: Int) {
        let content = Array(Self.bytes[3..<3 + count])
        var seen: Set<UInt64> = [Fingerprint.ofWords(0..<count, in: content)]
        #expect(seen.contains(Fingerprint.ofWords(5..<5 + count, in: [9, 8, 7, 6, 5] + content + [4])))
        for bit in 0..<count * 8 {
            var other = content
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(seen.insert(Fingerprint.ofWords(0..<count, in: other)).inserted)
        }
        #expect(seen.insert(Fingerprint.ofWords(0..<count + 1, in: content + [0])).inserted)
    }

    @Test("are integers with the low byte first, anywhere up to the last that has room")
    func integers() {
        let span = Self.bytes.span
        for offset in 0...56 {
            let expected = (0..<8).reduce(UInt64(0)) { $0 | UInt64(Self.bytes[offset + $1]) << (8 * $1) }
            #expect(span.littleEndian64(at: offset) == expected)
            #expect(span.littleEndian32(at: offset) == UInt32(truncatingIfNeeded: expected))
            #expect(span.littleEndian16(at: offset) == UInt16(truncatingIfNeeded: expected))
        }
        #expect(span.littleEndian16(at: 62) == UInt16(Self.bytes[62]) | UInt16(Self.bytes[63]) << 8)
    }
}
