import HoldfastHTTP2
import NIOCore
import NIOHPACK
import Testing
import Trials

/// The vectors of RFC 7541 appendix C, written by our primitives and read back by NIOHPACK.
@Suite("HPACK primitives")
struct HPACKWriterTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.filter { !$0.isWhitespace }.utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func written(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var block: [UInt8] = []
        write(&block)
        return block
    }

    @Test(
        "Integers are coded as in RFC 7541 C.1",
        arguments: [
            (10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a"), (30, 5, "1e"), (31, 5, "1f00"), (158, 5, "1f7f"),
            (159, 5, "1f8001"),
        ])
    func integers(value: Int, prefix: Int, hex: String) {
        #expect(Self.written { HPACKWriter.appendInteger(value, prefix: prefix, bits: 0, to: &$0) } == Self.bytes(hex))
    }

    @Test("Fields are coded as in RFC 7541 C.2")
    func fields() throws {
        let indexed = Self.written {
            HPACKWriter.appendLiteral(
                name: "custom-key".utf8, value: "custom-header".utf8, indexing: .incremental, to: &$0)
        }
        #expect(indexed == Self.bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
        let without = Self.written {
            HPACKWriter.appendLiteral(
                nameIndex: HPACKStaticIndex.path, value: "/sample/path".utf8, indexing: .without, to: &$0)
        }
        #expect(without == Self.bytes("040c 2f73 616d 706c 652f 7061 7468"))
        let never = Self.written {
            HPACKWriter.appendLiteral(name: "password".utf8, value: "secret".utf8, indexing: .never, to: &$0)
        }
        #expect(never == Self.bytes("1008 7061 7373 776f 7264 0673 6563 7265 74"))
        #expect(Self.written { HPACKWriter.appendIndexed(HPACKStaticIndex.methodGet, to: &$0) } == [0x82])
        #expect(try decoded(indexed) == ["custom-key: custom-header"])
        #expect(try decoded(without) == [":path: /sample/path"])
        #expect(try decoded(never) == ["password: secret"])
    }

    @Test("Three requests build on one dynamic table as in RFC 7541 C.3")
    func requests() throws {
        let first = Self.written {
            for index in [2, 6, 4] { HPACKWriter.appendIndexed(index, to: &$0) }
            HPACKWriter.appendLiteral(nameIndex: 1, value: "www.example.com".utf8, indexing: .incremental, to: &$0)
        }
        let second = Self.written {
            for index in [2, 6, 4, 62] { HPACKWriter.appendIndexed(index, to: &$0) }
            HPACKWriter.appendLiteral(nameIndex: 24, value: "no-cache".utf8, indexing: .incremental, to: &$0)
        }
        let third = Self.written {
            for index in [2, 7, 5, 63] { HPACKWriter.appendIndexed(index, to: &$0) }
            HPACKWriter.appendLiteral(
                name: "custom-key".utf8, value: "custom-value".utf8, indexing: .incremental, to: &$0)
        }
        #expect(first == Self.bytes("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"))
        #expect(second == Self.bytes("8286 84be 5808 6e6f 2d63 6163 6865"))
        #expect(third == Self.bytes("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"))
        var judge = HPACKDecoder(allocator: ByteBufferAllocator())
        _ = try decoded(first, with: &judge)
        _ = try decoded(second, with: &judge)
        #expect(
            try decoded(third, with: &judge) == [
                ":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com",
                "custom-key: custom-value",
            ])
    }

    @Test("Responses evict from a table of 256 bytes as in RFC 7541 C.5")
    func responses() throws {
        let first = Self.written {
            HPACKWriter.appendSizeUpdate(256, to: &$0)
            HPACKWriter.appendLiteral(nameIndex: 8, value: "302".utf8, indexing: .incremental, to: &$0)
            HPACKWriter.appendLiteral(nameIndex: 24, value: "private".utf8, indexing: .incremental, to: &$0)
            HPACKWriter.appendLiteral(
                nameIndex: 33, value: "Mon, 21 Oct 2013 20:13:21 GMT".utf8, indexing: .incremental, to: &$0)
            HPACKWriter.appendLiteral(
                nameIndex: 46, value: "https://www.example.com".utf8, indexing: .incremental, to: &$0)
        }
        #expect(
            Array(first.dropFirst(3))
                == Self.bytes(
                    """
                    4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133
                    3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
                    """))
        #expect(first.prefix(3) == [0x3f, 0xe1, 0x01])
        let second = Self.written {
            HPACKWriter.appendLiteral(nameIndex: 8, value: "307".utf8, indexing: .incremental, to: &$0)
            for index in [65, 64, 63] { HPACKWriter.appendIndexed(index, to: &$0) }
        }
        #expect(second == Self.bytes("4803 3330 37c1 c0bf"))
        var judge = HPACKDecoder(allocator: ByteBufferAllocator())
        _ = try decoded(first, with: &judge)
        #expect(
            try decoded(second, with: &judge) == [
                ":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
                "location: https://www.example.com",
            ])
    }

    @Test(
        "Every status is read back as written",
        arguments: [100, 200, 204, 206, 304, 400, 403, 404, 410, 429, 500, 503, 999])
    func statuses(status: Int) throws {
        #expect(try decoded(HTTP2ServerSession.headerBlock(status: status)) == [":status: \(status)"])
    }

    @Test("Random fields of any length are read back as written")
    func randomFields() throws {
        for seed in UInt64(0)..<50 {
            var random = SeededRandom(seed: seed)
            var judge = HPACKDecoder(
                allocator: ByteBufferAllocator(), maxDynamicTableSize: 4096, maxHeaderListSize: 1 << 20)
            for _ in 0..<10 {
                var expected: [String] = []
                let block = Self.written { block in
                    for _ in 0..<random.below(8) {
                        let name = String(
                            decoding: (0...random.below(20)).map { _ in UInt8(97 + random.below(26)) }, as: UTF8.self)
                        let value = String(
                            decoding: (0..<random.below(400)).map { _ in UInt8(33 + random.below(90)) }, as: UTF8.self)
                        let indexing = [HPACKWriter.Indexing.incremental, .without, .never][random.below(3)]
                        HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: indexing, to: &block)
                        expected.append("\(name): \(value)")
                    }
                }
                #expect(try decoded(block, with: &judge) == expected, "seed \(seed)")
            }
        }
    }
}
