import HoldfastHTTP2
import Testing

/// Header blocks read by hand-made bytes: the vectors of RFC 7541 appendix C, and what must be refused.
@Suite("HPACK reader")
struct HPACKReaderTests {
    private static func reader(tableSize: Int = 4096, maxListSize: Int = 16384) -> HPACKReader {
        HPACKReader(tableSize: tableSize, maxListSize: maxListSize)
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.filter { !$0.isWhitespace }.utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// `literal` without indexing, its name `x`, its value the given string with its length before it.
    private static func field(_ value: [UInt8]) -> [UInt8] { [0x00, 0x01, 0x78] + value }

    /// What a Huffman-coded string is read as.
    private static func huffman(_ coded: [UInt8]) throws -> String? {
        var reader = reader()
        var string: [UInt8] = []
        HPACKWriter.appendInteger(coded.count, prefix: 7, bits: 0x80, to: &string)
        return try reader.read(field(string + coded).span).first(name: "x")
    }

    private static let first = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"]
    private static let third = [
        ":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com",
        "custom-key: custom-value",
    ]

    @Test(
        "Three requests build on one dynamic table as in RFC 7541 C.3 and, Huffman-coded, in C.4",
        arguments: [
            [
                "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", "8286 84be 5808 6e6f 2d63 6163 6865",
                "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
            ],
            [
                "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
                "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
            ],
        ])
    func requests(blocks: [String]) throws {
        var reader = Self.reader()
        #expect(try reader.lines(Self.bytes(blocks[0])) == Self.first)
        #expect(try reader.lines(Self.bytes(blocks[1])) == Self.first + ["cache-control: no-cache"])
        #expect(try reader.lines(Self.bytes(blocks[2])) == Self.third)
    }

    @Test(
        "Responses evict from a table of 256 bytes as in RFC 7541 C.5 and, Huffman-coded, in C.6",
        arguments: [
            [
                """
                4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32
                3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                """,
                "4803 3330 37c1 c0bf",
                """
                88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970
                7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61
                6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
                """,
            ],
            [
                """
                4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
                1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                """,
                "4883 640e ffc1 c0bf",
                """
                88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
                e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07
                """,
            ],
        ])
    func responses(blocks: [String]) throws {
        var reader = Self.reader(tableSize: 256)
        let date = "date: Mon, 21 Oct 2013 20:13:21 GMT"
        let rest = ["cache-control: private", date, "location: https://www.example.com"]
        #expect(try reader.lines(Self.bytes(blocks[0])) == [":status: 302"] + rest)
        #expect(try reader.lines(Self.bytes(blocks[1])) == [":status: 307"] + rest)
        #expect(
            try reader.lines(Self.bytes(blocks[2])) == [
                ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT",
                "location: https://www.example.com", "content-encoding: gzip",
                "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ])
    }

    @Test("Fields that are not indexed are read as in RFC 7541 C.2, and leave the table as it was")
    func notIndexed() throws {
        var reader = Self.reader()
        #expect(try reader.lines(Self.bytes("040c 2f73 616d 706c 652f 7061 7468")) == [":path: /sample/path"])
        #expect(
            try reader.lines(Self.bytes("1008 7061 7373 776f 7264 0673 6563 7265 74")) == ["password: secret"])
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines([0xbe]) }
    }

    // MARK: Huffman

    @Test("A Huffman-coded string is padded with the first bits of its end, fewer than eight of them, or refused")
    func padding() throws {
        #expect(try Self.huffman([]) == "")
        // `a` is 00011, `0` is 00000, `:` is 1011100, `&` is 11111000.
        #expect(try Self.huffman([0b0001_1111]) == "a")
        #expect(try Self.huffman([0b0001_1000, 0b0011_1111]) == "a0")
        #expect(try Self.huffman([0b1111_1000]) == "&")
        #expect(try Self.huffman([0b1011_1001]) == ":")
        for refused: [UInt8] in [
            [0b0001_1110], [0b0001_1000], [0b1011_1000], [0b1111_1000, 0xff], [0xff], [0xff, 0xff],
            [0b0001_1111, 0xff], [0b0001_1000, 0b0011_1110],
        ] {
            #expect(throws: HPACKReader.Failure.malformed, "\(refused)") { try Self.huffman(refused) }
        }
    }

    @Test("A Huffman-coded string with its end in it is refused, wherever that is")
    func endOfString() throws {
        for before in 0..<40 {
            for behind in 0..<20 {
                // As many zeros, each five bits; the end, thirty ones; more zeros; padding.
                var bits = String(repeating: "00000", count: before) + String(repeating: "1", count: 30)
                bits += String(repeating: "00000", count: behind)
                while bits.count % 8 != 0 { bits += "1" }
                let digits = Array(bits)
                let coded = stride(from: 0, to: digits.count, by: 8).map {
                    UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0
                }
                #expect(throws: HPACKReader.Failure.malformed, "\(before), \(behind)") { try Self.huffman(coded) }
            }
        }
    }

    // MARK: Bounds and refusals

    @Test(
        "What is cut, out of range or no field is refused",
        arguments: [
            "80", "be", "ff00", "7f00 0161", "0f", "0f33", "00", "0001", "0001 78", "0001 7802", "0001 7802 61",
            "0000 0161",
            "4000 0161", "0080 0161", "0001 78ff ffff ff7f", "ffff ffff ff7f", "ff80 8080 8080 8080 8080 00",
            "ffff ffff ffff ffff ff7f", "3fe2 1f", "2020 20", "8220", "5f00 3f", "1f80 8080 8010",
        ])
    func refused(hex: String) {
        var reader = Self.reader()
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines(Self.bytes(hex)) }
    }

    @Test("An integer may have zeros behind it, up to nine bytes")
    func longIntegers() throws {
        var reader = Self.reader()
        #expect(try reader.lines(Self.bytes("0f00 0161")) == ["accept-charset: a"])
        #expect(try reader.lines(Self.bytes("0f80 8080 8080 8080 8000 0161")) == ["accept-charset: a"])
    }

    @Test("Two changes of the table's size may begin a block, up to what was announced")
    func sizeUpdates() throws {
        var reader = Self.reader(tableSize: 100)
        let added = Self.bytes("4001 6101 62")
        #expect(try reader.lines(added) == ["a: b"])
        #expect(try reader.lines([0xbe]) == ["a: b"])
        // To nothing and back: the entry is gone.
        #expect(try reader.lines(Self.bytes("20 3f45")) == [])
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines([0xbe]) }
        // 33 bytes do not hold 34.
        reader = Self.reader(tableSize: 100)
        #expect(try reader.lines(Self.bytes("3f02") + added) == ["a: b"])
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines([0xbe]) }
        reader = Self.reader(tableSize: 100)
        reader.tableSize = 33
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines(Self.bytes("3f03")) }
    }

    @Test("A table is filled to its last byte, and an entry that it cannot hold empties it")
    func fullTable() throws {
        var reader = Self.reader(tableSize: 68)
        #expect(try reader.lines(Self.bytes("4001 6101 62 4001 6101 63 bebf")) == ["a: b", "a: c", "a: c", "a: b"])
        let long = [UInt8](repeating: 0x7a, count: 39)
        #expect(try reader.lines([0x40, 1, 0x61, 39] + long) == ["a: " + String(decoding: long, as: UTF8.self)])
        #expect(throws: HPACKReader.Failure.malformed) { try reader.lines([0xbe]) }
    }

    @Test("Fields are counted with 32 bytes each, and too many are refused, whether their bytes were sent or not")
    func listSize() throws {
        var reader = Self.reader(maxListSize: 3 * 42)
        // `:method: GET` is ten bytes.
        #expect(try reader.lines([0x82, 0x82, 0x82]).count == 3)
        #expect(throws: HPACKReader.Failure.listTooLong) { try reader.lines([0x82, 0x82, 0x82, 0x82]) }
    }

    @Test("Bytes that are no UTF-8 are replaced, and count as what was sent")
    func noUTF8() throws {
        var reader = Self.reader(tableSize: 4096, maxListSize: 36)
        // Three bytes each, when replaced, would be more than the list may have.
        #expect(try reader.lines([0x40, 1, 0x61, 3, 0xff, 0x7a, 0xff]) == ["a: \u{fffd}z\u{fffd}"])
        #expect(try reader.lines([0xbe]) == ["a: \u{fffd}z\u{fffd}"])
    }

    // MARK: Credentials

    @Test("Credentials that come again are read again, and others are read for themselves", arguments: [0x00, 0x10])
    func credentials(pattern: UInt8) throws {
        var reader = Self.reader()
        func coded(_ value: String) -> [UInt8] {
            var block: [UInt8] = []
            HPACKWriter.appendInteger(23, prefix: 4, bits: pattern, to: &block)
            HPACKWriter.appendString(value.utf8, to: &block)
            return block
        }
        let long = String(repeating: "x", count: 5000)
        for value in [
            "bearer a", "bearer a", "bearer b", "bearer bc", "bearer", "bearer", "", "", long, long, "bearer b",
        ] {
            #expect(try reader.lines([0x82] + coded(value) + [0x84]).dropFirst().first == "authorization: \(value)")
            // Cut in the middle, they are none.
            guard !value.isEmpty else { continue }
            var other = reader
            #expect(throws: HPACKReader.Failure.malformed) { try other.lines(coded(value).dropLast()) }
        }
        // `:` is 1011100: the same string, Huffman-coded.
        #expect(try reader.lines(coded(":")) == ["authorization: :"])
        #expect(try reader.lines(coded("").dropLast() + [0x81, 0b1011_1001]) == ["authorization: :"])
        #expect(try reader.lines(coded(":")) == ["authorization: :"])
    }

    @Test("Credentials that the sender has indexed are in the table, though the same came before without")
    func indexedCredentials() throws {
        var reader = Self.reader()
        #expect(try reader.lines(Self.bytes("0f08 0161")) == ["authorization: a"])
        #expect(try reader.lines(Self.bytes("5701 61")) == ["authorization: a"])
        #expect(try reader.lines([0xbe]) == ["authorization: a"])
    }
}

extension HPACKReader {
    /// The fields of a block, a line each.
    mutating func lines(_ block: some Sequence<UInt8>) throws(Failure) -> [String] {
        let bytes = Array(block)
        return try read(bytes.span).map { "\($0.name): \($0.value)" }
    }

    /// The fields of a block as text.
    mutating func read(_ block: Span<UInt8>) throws(Failure) -> [HeaderField] {
        var list = HeaderList()
        try read(block, into: &list)
        return list[0..<list.count]
    }
}
