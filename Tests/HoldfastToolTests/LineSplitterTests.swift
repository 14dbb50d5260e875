import Testing

@testable import HoldfastTool

@Suite("Lines of a file")
struct LineSplitterTests {
    @Test("Lines are the same however the file is read", arguments: [1, 2, 3, 7, 64, 1000])
    func splitsInPieces(size: Int) {
        let text = Array("first\n\nthird\r\nfourth without an end".utf8)
        let (lines, splitter) = split(text, size: size)
        #expect(lines == ["1:first", "2:", "3:third\r", "4:fourth without an end"])
        #expect(splitter.offset == UInt64(text.count))
        #expect(splitter.lineCount == 4)
    }

    @Test("A file that ends with a newline has no empty line after it")
    func endsWithNewline() {
        #expect(split(Array("a\nb\n".utf8), size: 2).0 == ["1:a", "2:b"])
        #expect(split([], size: 2).0 == [])
        #expect(split([0x0A], size: 2).0 == ["1:"])
    }

    @Test("A line that is too long is one line, is never held, and the next is whole", arguments: [1, 3, 10, 500])
    func skipsLongLines(size: Int) {
        for length in [11, 12, 13, 40, 100] {
            for end in ["\n", ""] {
                let text = "ok\n" + String(repeating: "x", count: length) + "\nnext" + end
                let (lines, splitter) = split(Array(text.utf8), size: size, limit: 10)
                #expect(lines == ["1:ok", "2:too long", "3:next"], "\(length)")
                #expect(splitter.offset == UInt64(text.utf8.count))
            }
        }
        #expect(split(Array(repeating: 0x78, count: 30), size: size, limit: 10).0 == ["1:too long"])
        #expect(split(Array(repeating: 0x78, count: 10), size: size, limit: 10).0 == ["1:xxxxxxxxxx"])
    }

    @Test("Memory is bounded by the longest line, not by the file")
    func boundsMemory() {
        var splitter = LineSplitter(maximumLineLength: 100)
        var greatest = 0
        for _ in 0..<1000 {
            splitter.append(Array(repeating: UInt8(ascii: "x"), count: 1000))
            let line = splitter.next()
            #expect(line?.number == nil)
            greatest = max(greatest, splitter.bytes.count)
        }
        #expect(greatest <= LineSplitter.historyLength + 2100)
    }

    @Test("The fingerprint of a place depends on the bytes before it alone, not on how they were read")
    func fingerprints() {
        let text = Array((0..<2000).map { "line \($0)\n" }.joined().utf8)
        let whole = split(text, size: text.count).1
        for size in [100, 4096, 5000] {
            let other = split(text, size: size).1
            #expect(other.fingerprint == whole.fingerprint)
        }
        // Going on from a place, with its history, is as if all had been read.
        let history = Array(text[(text.count - 2 - LineSplitter.historyLength)..<(text.count - 2)])
        var resumed = LineSplitter(offset: UInt64(text.count - 2), lineCount: 7, history: history)
        resumed.append(text.suffix(2))
        resumed.finish()
        let line = resumed.next()
        #expect(line?.number == 8)
        #expect(resumed.fingerprint == whole.fingerprint)
        var changed = text
        changed[text.count - 100] ^= 1
        #expect(split(changed, size: 100).1.fingerprint != whole.fingerprint)
    }

    private func split(_ text: [UInt8], size: Int, limit: Int = 1000) -> ([String], LineSplitter) {
        var splitter = LineSplitter(maximumLineLength: limit)
        var lines: [String] = []
        func drain() {
            while let line = splitter.next() {
                let content = line.isTooLong ? "too long" : String(decoding: splitter.bytes[line.range], as: UTF8.self)
                lines.append("\(line.number):\(content)")
            }
        }
        var rest = text[...]
        while !rest.isEmpty {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            drain()
        }
        splitter.finish()
        drain()
        return (lines, splitter)
    }
}
