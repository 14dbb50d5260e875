/// What a JSON value is, by its first byte.
package enum JSONKind: Hashable, Sendable {
    case object, array, string, number, boolean, null

    /// - Parameter first: the first byte of a value that was checked.
    init(first: UInt8) {
        self =
            switch first {
            case UInt8(ascii: "{"): .object
            case UInt8(ascii: "["): .array
            case UInt8(ascii: "\""): .string
            case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
            case UInt8(ascii: "n"): .null
            default: .number
            }
    }
}

/// One value, checked: its kind, and where it is written.
package struct JSONValue: Hashable, Sendable {
    package let kind: JSONKind
    /// The value as it is written, quotation marks included, whitespace around it not.
    package let range: Range<Int>
}

/// One member of an object, checked.
package struct JSONMember: Hashable, Sendable {
    /// The name as it is written, with its quotation marks. See ``JSONScanner/string(_:in:)``.
    package let name: Range<Int>
    package let value: JSONValue
}

/// Reads the members of one JSON object, one at a time, decoding nothing that nobody asks for.
///
///     var members = try JSONMembers(bytes.span, in: line)
///     while let member = try members.next(bytes.span) { … }
///
/// The object is proven to be one only when ``next(_:)`` has returned nil.
package struct JSONMembers: Sendable {
    private var container: JSONContainer

    /// - Throws: ``JSONFault`` when no object starts in `range`.
    package init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        container = try JSONContainer(
            bytes, in: range, open: UInt8(ascii: "{"), close: UInt8(ascii: "}"), otherwise: .notAnObject)
    }

    /// The next member; nil when the object has ended, with nothing but whitespace after it.
    package mutating func next(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONMember? {
        guard try container.advance(bytes) else { return nil }
        let name = try container.cursor.skipName(bytes)
        return JSONMember(name: name, value: try container.value(bytes))
    }
}

/// Reads the elements of one JSON array, as ``JSONMembers`` reads an object.
package struct JSONElements: Sendable {
    private var container: JSONContainer

    /// - Throws: ``JSONFault`` when no array starts in `range`.
    package init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        container = try JSONContainer(
            bytes, in: range, open: UInt8(ascii: "["), close: UInt8(ascii: "]"), otherwise: .notAnArray)
    }

    /// The next element; nil when the array has ended, with nothing but whitespace after it.
    package mutating func next(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue? {
        guard try container.advance(bytes) else { return nil }
        return try container.value(bytes)
    }
}

/// What reading an object and reading an array have in common.
private struct JSONContainer: Sendable {
    private enum State { case first, later, ended }

    var cursor: JSONCursor
    private let close: UInt8
    private var state = State.first

    init(
        _ bytes: Span<UInt8>, in range: Range<Int>, open: UInt8, close: UInt8, otherwise: JSONFault.Reason
    ) throws(JSONFault) {
        cursor = JSONCursor(range)
        self.close = close
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.noValue) }
        guard bytes[cursor.position] == open else { throw cursor.fault(otherwise) }
        cursor.position += 1
    }

    /// Moves to the next member or element; false when there is none, once.
    mutating func advance(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard state != .ended else { return false }
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.endOfInput) }
        if bytes[cursor.position] == close {
            cursor.position += 1
            try cursor.expectEnd(bytes)
            state = .ended
            return false
        }
        if state == .later {
            guard bytes[cursor.position] == UInt8(ascii: ",") else { throw cursor.fault(.expectedCommaOrEnd) }
            cursor.position += 1
        }
        state = .later
        return true
    }

    mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        cursor.skipSpace(bytes)
        let start = cursor.position
        try cursor.skipValue(bytes, depth: 1)
        return JSONValue(kind: JSONKind(first: bytes[start]), range: start..<cursor.position)
    }
}
