internal import Holdfast

/// Text inside a JSON string, and JSON written anew.
package enum JSONText {
    package static func escaped(_ text: String) -> String {
        var output: [UInt8] = []
        append(text.utf8, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    package static func append(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): output.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"): output.append(contentsOf: #"\r"#.utf8)
            case UInt8(ascii: "\t"): output.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20:
                output.append(contentsOf: #"\u00"#.utf8)
                output.append(Hex.digit(byte >> 4))
                output.append(Hex.digit(byte & 15))
            default: output.append(byte)
            }
        }
    }

    /// Appends a value without insignificant spaces, and with escapes only where JSON needs them: a sender that escapes every
    /// character beyond ASCII, as Python does, would fill three times the room.
    ///
    /// - Parameter range: a value that was checked.
    /// - Throws: ``Holdfast/JSONFault`` where a string has half of a surrogate pair.
    static func appendCompact(_ bytes: Span<UInt8>, in range: Range<Int>, to output: inout [UInt8]) throws(JSONFault) {
        var index = range.lowerBound
        while index < range.upperBound {
            switch bytes[index] {
            case 0x20, 0x09, 0x0a, 0x0d: index += 1
            case UInt8(ascii: "\""):
                let end = endOfString(bytes, from: index)
                output.append(UInt8(ascii: "\""))
                append(try JSONScanner.utf8(bytes, in: index..<end), to: &output)
                output.append(UInt8(ascii: "\""))
                index = end
            case let byte:
                output.append(byte)
                index += 1
            }
        }
    }

    /// The index behind a string's closing quotation mark.
    private static func endOfString(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start + 1
        while bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index + 1
    }
}
