import HoldfastHTTP2
import NIOCore
import NIOHPACK
import Testing
import Trials

/// The same header blocks, read by us and by NIOHPACK: both find the same fields, or both refuse.
@Suite("HPACK against NIOHPACK")
struct HPACKDifferenceTests {
    private static let names = [
        ":method", ":path", ":authority", "authorization", "apns-id", "apns-topic", "apns-collapse-id", "x", "cookie",
    ]

    /// What both make of one conversation, block by block, until one of them refuses.
    private static func compare(_ blocks: [[UInt8]], tableSize: Int, _ seed: UInt64) throws {
        var ours = HPACKReader(tableSize: tableSize, maxListSize: 4096)
        var theirs = HPACKDecoder(
            allocator: ByteBufferAllocator(), maxDynamicTableSize: tableSize, maxHeaderListSize: 4096)
        for block in blocks {
            let expected = try? decoded(block, with: &theirs)
            // It counts what it has put in the place of bytes that are no UTF-8, and we count what was sent.
            if expected?.contains(where: { $0.contains("\u{fffd}") }) ?? false { return }
            let found = try? ours.lines(block)
            try #require(found == expected, "seed \(seed), block \(block)")
            if expected == nil { return }
        }
    }

    private static func text(_ random: inout SeededRandom, _ bytes: ClosedRange<UInt8>, _ count: Int) -> String {
        String(
            decoding: (0..<count).map { _ in bytes.lowerBound + UInt8(random.below(bytes.count)) }, as: UTF8.self)
    }

    /// A block by NIOHPACK's encoder, as a sender with Huffman coding and a table would write it.
    private static func encoded(_ encoder: inout HPACKEncoder, _ random: inout SeededRandom) throws -> [UInt8] {
        let fields = (0..<random.below(9)).map { _ in
            let value =
                random.once(in: 3)
                ? text(&random, 0x00...0x7f, random.below(60)) : text(&random, 0x30...0x7a, random.below(200))
            let indexing = random.one(of: [HPACKIndexing.indexable, .indexable, .nonIndexable, .neverIndexed])
            return (random.one(of: names), random.once(in: 3) ? "the same again" : value, indexing)
        }
        var headers = HPACKHeaders()
        for (name, value, indexing) in fields { headers.add(name: name, value: value, indexing: indexing) }
        var buffer = ByteBuffer()
        try encoder.encode(headers: headers, to: &buffer)
        return Array(buffer.readableBytesView)
    }

    @Test("Every byte has the same Huffman code")
    func bytes() throws {
        for byte in UInt8(0)...0x7f {
            for count in 1...9 {
                var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
                let value = String(decoding: [UInt8](repeating: byte, count: count), as: UTF8.self)
                var buffer = ByteBuffer()
                try encoder.encode(headers: ["x": value], to: &buffer)
                var reader = HPACKReader(tableSize: 4096, maxListSize: 4096)
                #expect(try reader.lines(buffer.readableBytesView) == ["x: \(value)"], "\(byte), \(count) times")
            }
        }
        // Bytes of longer codes than these, in the pairs that make characters.
        for scalar in stride(from: 0x80, to: 0x11_0000, by: 61) {
            guard let character = Unicode.Scalar(UInt32(scalar)) else { continue }
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
            let value = String(Character(character))
            var buffer = ByteBuffer()
            try encoder.encode(headers: ["x": value], to: &buffer)
            var reader = HPACKReader(tableSize: 4096, maxListSize: 4096)
            #expect(try reader.lines(buffer.readableBytesView) == ["x: \(value)"], "\(scalar)")
        }
    }

    @Test("The tables' fixed entries are the same")
    func fixedEntries() throws {
        for index in 1...62 {
            var block: [UInt8] = []
            HPACKWriter.appendIndexed(index, to: &block)
            try Self.compare([block], tableSize: 4096, 0)
        }
    }

    @Test("Conversations of a sender are read alike")
    func conversations() throws {
        for seed in UInt64(0)..<400 {
            var random = SeededRandom(seed: seed)
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: !random.once(in: 4))
            let blocks = try (0..<12).map { _ in try Self.encoded(&encoder, &random) }
            try Self.compare(blocks, tableSize: 4096, seed)
        }
    }

    @Test("Conversations with bytes changed, lost and added are read alike, or refused by both")
    func damagedConversations() throws {
        for seed in UInt64(0)..<1000 {
            var random = SeededRandom(seed: seed)
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: !random.once(in: 4))
            let blocks = try (0..<8).map { _ in
                var block = try Self.encoded(&encoder, &random)
                guard !block.isEmpty, random.once(in: 2) else { return block }
                let place = random.below(block.count)
                switch random.below(4) {
                case 0: block[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: block[place] ^= 1 << UInt8(random.below(8))
                case 2: block.remove(at: place)
                default: block.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
                }
                return block
            }
            try Self.compare(blocks, tableSize: 4096, seed)
        }
    }

    @Test("Fields in every form, with changes of the table's size, are read alike, or refused by both")
    func forms() throws {
        for seed in UInt64(0)..<1000 {
            var random = SeededRandom(seed: seed)
            let blocks = (0..<12).map { _ in
                var block: [UInt8] = []
                for _ in 0..<random.below(3) where random.once(in: 4) {
                    HPACKWriter.appendSizeUpdate(random.below(220), to: &block)
                }
                for _ in 0..<random.below(6) { Self.appendForm(&block, &random) }
                if random.once(in: 30) { HPACKWriter.appendSizeUpdate(random.below(200), to: &block) }
                return block
            }
            try Self.compare(blocks, tableSize: 200, seed)
        }
    }

    private static func appendForm(_ block: inout [UInt8], _ random: inout SeededRandom) {
        let index = random.once(in: 3) ? 62 + random.below(5) : 1 + random.below(61)
        switch random.below(8) {
        case 0...2: HPACKWriter.appendIndexed(index, to: &block)
        case 3:
            // Huffman-coded, or nearly: mostly short codes, now and then the long ones, and any padding.
            let kind = random.below(3)
            let coded = (0..<random.below(12)).map { _ in
                kind == 0 ? UInt8(random.below(128)) : kind == 1 ? 0xff : UInt8(truncatingIfNeeded: random.next())
            }
            HPACKWriter.appendInteger(index, prefix: 6, bits: 0x40, to: &block)
            HPACKWriter.appendInteger(coded.count, prefix: 7, bits: 0x80, to: &block)
            block += coded
        case 4...6:
            HPACKWriter.appendLiteral(
                nameIndex: random.once(in: 3) ? 23 : index, value: text(&random, 0x20...0x7e, random.below(80)).utf8,
                indexing: random.one(of: [.incremental, .without, .never]), to: &block)
        default:
            HPACKWriter.appendLiteral(
                name: text(&random, 0x61...0x7a, random.below(9)).utf8,
                value: text(&random, 0x20...0x7e, random.below(40)).utf8,
                indexing: random.one(of: [.incremental, .without, .never]), to: &block)
        }
    }
}
