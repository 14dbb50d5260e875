package import HoldfastHTTP2
package import Trials

/// Header blocks, from right to hopeless.
package enum HeaderBlocks {
    package static let request = block([
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), (":authority", "fuzz"),
    ])

    package static func block(_ fields: [(String, String)], indexing: HPACKWriter.Indexing = .without) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: indexing, to: &block)
        }
        return block
    }

    package static func status(_ status: Int, _ fields: [(String, String)] = []) -> [UInt8] {
        var block: [UInt8] = []
        HPACKWriter.appendStatus(status, to: &block)
        return block + Self.block(fields)
    }

    /// What decodes, but makes no message, or only just.
    package static func odd(_ random: inout SeededRandom) -> [UInt8] {
        let fields: [[(String, String)]] = [
            [], [(":status", "20")], [(":status", "099")], [(":status", "2000")],
            [(":status", "200"), (":status", "200")], [("a", "b"), (":status", "200")], [(":status", "101")],
            [(":status", "103")], [(":path", "/")],
            [(":status", "200"), ("Upper", "case")], [(":status", "200"), ("connection", "close")],
            [(":status", "200"), ("te", "gzip")], [(":status", "200"), ("", "")], [(":status", "200"), ("a", " b")],
            [(":status", "200"), ("a", "b\r\nc: d")], [(":status", "400"), ("content-length", "-1")],
            [(":status", "400"), ("content-length", "99999999999999999999")], [(":unknown", "1")],
            [(":status", "400"), ("content-length", "5"), ("content-length", "6")],
            [(":method", "CONNECT"), (":authority", "a")], [(":method", "POST"), (":scheme", "https"), (":path", "")],
            [(":method", "POST"), (":method", "POST"), (":scheme", "https"), (":path", "/")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("content-length", "7")],
            [(":method", "POST"), (":scheme", "https"), (":path", "/"), ("transfer-encoding", "chunked")],
        ]
        return block(random.one(of: fields))
    }

    /// What a decoder has to refuse or survive: bad indices, endless integers, lengths past the end, Huffman codes
    /// that are none, size updates in the wrong place and too large.
    package static func garbage(_ random: inout SeededRandom) -> [UInt8] {
        switch random.below(12) {
        case 0: random.bytes(random.below(60))
        case 1: [0x80]
        case 2: [0xff] + [UInt8](repeating: 0xff, count: random.below(30)) + [0x7f]
        case 3: [0x40, 0x7f] + [UInt8](repeating: 0x80, count: random.below(20)) + [1, 0x61]
        case 4: [0x00, UInt8(random.below(128)), 0x61]
        case 5: [0x00, 0x80 | UInt8(1 + random.below(30))] + random.bytes(1 + random.below(40))
        case 6: [0x00, 0x81, 0xff, 0x81, 0xff]
        case 7: [0x3f] + [UInt8](repeating: 0xff, count: random.below(8)) + [0x0f] + status(200)
        case 8: status(200) + [0x20]
        case 9: [UInt8](repeating: 0x20, count: 1 + random.below(5)) + status(200)
        case 10: [0xbe, 0xbf, 0xc0]
        default: mutated(random.below(2) == 0 ? request : status(400, [("apns-id", "x")]), &random)
        }
    }

    /// Header lists larger than anybody should take: by one field, by many, by references to one entry.
    package static func huge(_ random: inout SeededRandom) -> [UInt8] {
        var block = status(200)
        switch random.below(3) {
        case 0:
            HPACKWriter.appendLiteral(
                name: "a".utf8, value: [UInt8](repeating: 0x61, count: 15_000 + random.below(3000)),
                indexing: .without, to: &block)
        case 1:
            for _ in 0..<2000 { block += [0x00, 0, 0] }
        default:
            HPACKWriter.appendLiteral(
                name: "a".utf8, value: [UInt8](repeating: 0x61, count: 4000), indexing: .incremental, to: &block)
            block += [UInt8](repeating: 0xbe, count: 10_000)
        }
        return block
    }

    package static func mutated(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<1 + random.below(3) where !bytes.isEmpty {
            let at = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes[at] ^= UInt8(1 << random.below(8))
            case 1: bytes[at] = random.one(of: [0, 0x7f, 0xff, 0x80, 0x3f, 0x1f])
            case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: at)
            default: bytes.remove(at: at)
            }
        }
        return bytes
    }
}
