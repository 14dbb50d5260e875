/// A strict scanner of JSON text (RFC 8259) in UTF-8: no allocation, no recursion, no tolerance.
///
/// It accepts exactly the grammar of RFC 8259 in well-formed UTF-8 without a byte order mark, nested at most ``maximumDepth``
/// deep. Like the grammar it accepts duplicate names, numbers of any size and escaped lone surrogates (`"\ud800"`): payloads
/// are passed on byte for byte, and the receiver interprets them. Decoding a string (``string(_:in:)``) refuses lone
/// surrogates, because a Swift string cannot hold them.
package enum JSONScanner {
    /// How deep arrays and objects may be nested; the outermost counts as 1.
    package static let maximumDepth = 128

    /// Checks that `range` of `bytes` is one JSON object, with nothing but whitespace around it.
    ///
    /// - Throws: ``JSONFault`` at the first byte that is wrong; its offset counts from the start of `bytes`.
    package static func checkObject(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var cursor = JSONCursor(range)
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.noValue) }
        guard bytes[cursor.position] == UInt8(ascii: "{") else { throw cursor.fault(.notAnObject) }
        try cursor.skipValue(bytes, depth: 0)
        try cursor.expectEnd(bytes)
    }

    /// Checks that all of `bytes` is one JSON object, with nothing but whitespace around it.
    package static func checkObject(_ bytes: [UInt8]) throws(JSONFault) {
        try checkObject(bytes.span, in: 0..<bytes.count)
    }

    /// Whether all of `bytes` is one JSON object, with nothing but whitespace around it.
    package static func isObject(_ bytes: [UInt8]) -> Bool { isObject(bytes.span, in: 0..<bytes.count) }

    /// Whether `range` of `bytes` is one JSON object, with nothing but whitespace around it.
    package static func isObject(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        do {
            try checkObject(bytes, in: range)
            return true
        } catch {
            return false
        }
    }

    /// Checks that `range` of `bytes` is one JSON value of any kind, with nothing but whitespace around it.
    package static func checkValue(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var cursor = JSONCursor(range)
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.noValue) }
        try cursor.skipValue(bytes, depth: 0)
        try cursor.expectEnd(bytes)
    }
}

/// A syntax error in JSON, and its place.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: String, Hashable, Sendable {
        case noValue = "no JSON value"
        case notAnObject = "not a JSON object"
        case endOfInput = "ends in the middle"
        case unexpectedByte = "expected a value"
        case expectedName = "expected a name in quotation marks"
        case expectedColon = "expected a colon"
        case expectedCommaOrEnd = "expected a comma or the end of the object or array"
        case trailingBytes = "something follows the value"
        case invalidLiteral = "neither true, false nor null"
        case invalidNumber = "not a number as JSON writes it"
        case invalidEscape = "not an escape as JSON writes it"
        case controlCharacter = "a control character in a string, not escaped"
        case invalidUTF8 = "not UTF-8"
        case tooDeep = "nested too deep"
        case loneSurrogate = "half of a surrogate pair"
        case notAString = "not a string"
        case notAnArray = "not an array"
        case notAnInteger = "not a whole number that fits 64 bits"
    }

    package let reason: Reason
    /// The first byte that is wrong; the end of the input where something is missing.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason.rawValue) (at byte \(offset))" }
}
