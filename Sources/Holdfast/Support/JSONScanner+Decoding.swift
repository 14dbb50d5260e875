/// Decoding of checked values. Ranges are from ``JSONMember`` and ``JSONValue``.
extension JSONScanner {
    /// Whether the string written in `range` is `literal`, without decoding it. A string written with escapes is compared
    /// by what it means.
    ///
    /// - Parameter literal: a string that needs no escapes.
    package static func isString(_ bytes: Span<UInt8>, in range: Range<Int>, equalTo literal: String) -> Bool {
        guard range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: "\"") else { return false }
        let content = range.lowerBound + 1..<range.upperBound - 1
        // Written with escapes it is longer than what it means.
        guard content.count >= literal.utf8.count else { return false }
        var index = content.lowerBound
        for byte in literal.utf8 {
            if bytes[index] == UInt8(ascii: "\\") {
                guard let decoded = try? utf8(bytes, in: range) else { return false }
                return decoded.elementsEqual(literal.utf8)
            }
            guard bytes[index] == byte else { return false }
            index += 1
        }
        return index == content.upperBound
    }

    /// The string written in `range`, decoded.
    ///
    /// - Throws: ``JSONFault`` when the value is not a string, or has half of a surrogate pair.
    package static func string(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) -> String {
        String(decoding: try utf8(bytes, in: range), as: UTF8.self)
    }

    /// The string written in `range`, decoded, as UTF-8.
    ///
    /// - Throws: ``JSONFault`` when the value is not a string, or has half of a surrogate pair.
    package static func utf8(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) -> [UInt8] {
        guard range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: "\"") else {
            throw JSONFault(.notAString, at: range.lowerBound)
        }
        let end = range.upperBound - 1
        var output: [UInt8] = []
        output.reserveCapacity(end - range.lowerBound)
        var index = range.lowerBound + 1
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                try decodeEscape(bytes, at: &index, end: end, into: &output)
            } else {
                output.append(byte)
                index += 1
            }
        }
        return output
    }

    /// The whole number written in `range`.
    ///
    /// - Throws: ``JSONFault`` when the value is not a number, has a fraction or an exponent, or does not fit.
    package static func integer(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) -> Int64 {
        let fault = JSONFault(.notAnInteger, at: range.lowerBound)
        let isNegative = !range.isEmpty && bytes[range.lowerBound] == UInt8(ascii: "-")
        let digits = (range.lowerBound + (isNegative ? 1 : 0))..<range.upperBound
        guard !digits.isEmpty else { throw fault }
        var value: Int64 = 0
        for index in digits {
            let digit = Int64(bytes[index]) - 0x30
            guard (0...9).contains(digit) else { throw fault }
            let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
            // Built up negative where it is negative, so that the least number fits too.
            let (sum, sumOverflow) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !productOverflow, !sumOverflow else { throw fault }
            value = sum
        }
        return value
    }

    private static func decodeEscape(
        _ bytes: Span<UInt8>, at index: inout Int, end: Int, into output: inout [UInt8]
    ) throws(JSONFault) {
        let start = index
        guard index + 1 < end else { throw JSONFault(.invalidEscape, at: start) }
        index += 2
        switch bytes[start + 1] {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"): try decodeUnicodeEscape(bytes, at: &index, start: start, end: end, into: &output)
        case let byte: output.append(byte)
        }
    }

    private static func decodeUnicodeEscape(
        _ bytes: Span<UInt8>, at index: inout Int, start: Int, end: Int, into output: inout [UInt8]
    ) throws(JSONFault) {
        var value = try hex4(bytes, at: &index, end: end)
        if (0xD800...0xDBFF).contains(value), index + 2 <= end, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        {
            var next = index + 2
            let low = try hex4(bytes, at: &next, end: end)
            if (0xDC00...0xDFFF).contains(low) {
                value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
                index = next
            }
        }
        // A surrogate that found no partner is no Unicode scalar.
        guard let scalar = Unicode.Scalar(value) else { throw JSONFault(.loneSurrogate, at: start) }
        output.append(contentsOf: UTF8.encode(scalar)!)
    }

    private static func hex4(_ bytes: Span<UInt8>, at index: inout Int, end: Int) throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        guard index + 4 <= end else { throw JSONFault(.invalidEscape, at: index) }
        for _ in 0..<4 {
            guard let digit = Hex.value(of: bytes[index]) else { throw JSONFault(.invalidEscape, at: index) }
            value = value << 4 | UInt32(digit)
            index += 1
        }
        return value
    }
}
