/// Strings: what lies between two quotation marks, in well-formed UTF-8.
extension JSONCursor {
    /// Moves past a string, from its first quotation mark past its last.
    mutating func skipString(_ bytes: Span<UInt8>) throws(JSONFault) {
        var index = position &+ 1
        while index < end {
            if end &- index >= 8 {
                index &+= Self.plainCount(bytes.littleEndian64(at: index))
                if end &- index >= 8, Self.isPlain(bytes[index]) { continue }
                guard index < end else { break }
            }
            let byte = bytes[index]
            if Self.isPlain(byte) {
                index &+= 1
                continue
            }
            position = index
            switch byte {
            case UInt8(ascii: "\""):
                position = index &+ 1
                return
            case UInt8(ascii: "\\"):
                try skipEscape(bytes)
            case 0..<0x20:
                throw fault(.controlCharacter)
            default:
                try skipMultibyte(bytes)
            }
            index = position
        }
        position = end
        throw fault(.endOfInput)
    }

    /// The number of plain bytes among eight, from the lowest on, before the first that is not plain.
    @inline(__always)
    private static func plainCount(_ word: UInt64) -> Int {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        // The top bit of each byte that is less than 0x20, or zero in the other two. A borrow can only mark bytes above one
        // that is marked rightly.
        let controls = (word &- ones &* 0x20) & ~word
        let marks = (controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | word) & tops
        return marks.trailingZeroBitCount &>> 3
    }

    /// Whether `byte` stands for itself: ASCII, no control character, no quotation mark, no backslash.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte &- 0x20 < 0x60 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private mutating func skipEscape(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        guard position &+ 1 < end else {
            position = end
            throw fault(.endOfInput)
        }
        switch bytes[position &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position &+= 2
        case UInt8(ascii: "u"):
            position &+= 2
            for _ in 0..<4 {
                guard position < end else { throw fault(.endOfInput) }
                guard Hex.value(of: bytes[position]) != nil else { throw JSONFault(.invalidEscape, at: start) }
                position &+= 1
            }
        default:
            throw fault(.invalidEscape)
        }
    }

    /// Moves past one code point of two to four bytes (The Unicode Standard, table 3-7: no overlong forms, no surrogates,
    /// nothing above U+10FFFF).
    private mutating func skipMultibyte(_ bytes: Span<UInt8>) throws(JSONFault) {
        let second: ClosedRange<UInt8>
        let count: Int
        switch bytes[position] {
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xE1...0xEC, 0xEE...0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: throw fault(.invalidUTF8)
        }
        guard count <= end &- position, second.contains(bytes[position &+ 1]) else { throw fault(.invalidUTF8) }
        for offset in 2..<max(count, 2) where bytes[position &+ offset] & 0xC0 != 0x80 { throw fault(.invalidUTF8) }
        position &+= count
    }
}
