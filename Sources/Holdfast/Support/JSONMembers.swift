/// The kind of a JSON value, by its first byte.
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

/// Reads the members of one JSON object, one at a time, and decodes only what is requested.
///
///     var members = try JSONMembers(bytes.span, in: line)
///     while let member = try members.next(bytes.span) { … }
///
/// Or name by name, where it depends on the name whether the value is looked at, or gone into:
///
///     while let name = try members.nextName(bytes.span) { … }
///
/// The object is proven to be one only when ``next(_:)`` or ``nextName(_:)`` has returned nil.
package struct JSONMembers: Sendable {
    private var container: JSONContainer
    /// Whether the reader stands before a value: its name was read, and nothing else of it.
    private var isBeforeValue = false

    /// - Throws: ``JSONFault`` when no object starts in `range`.
    package init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        container = try JSONContainer(
            bytes, in: range, open: UInt8(ascii: "{"), close: UInt8(ascii: "}"), otherwise: .notAnObject)
    }

    private init(_ container: JSONContainer) { self.container = container }

    /// The next member; nil when the object has ended, with nothing but whitespace after it.
    package mutating func next(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONMember? {
        guard let name = try nextName(bytes) else { return nil }
        return JSONMember(name: name, value: try value(bytes))
    }

    /// The name of the next member, as ``JSONMember/name``; nil when the object has ended, with nothing but whitespace after
    /// it. The value of the name before is skipped, and checked, if it was not read.
    package mutating func nextName(_ bytes: Span<UInt8>) throws(JSONFault) -> Range<Int>? {
        if isBeforeValue { _ = try value(bytes) }
        guard try container.advance(bytes) else { return nil }
        let name = try container.cursor.skipName(bytes)
        isBeforeValue = true
        return name
    }

    /// The value of the name that came last, checked. Asked for once.
    package mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONValue {
        isBeforeValue = false
        return try container.value(bytes)
    }

    /// The members of the object that is the value of the name that came last; nil where that is something else. Nothing of
    /// it is looked at before it is read, and these members stay where they are.
    package func members(_ bytes: Span<UInt8>) -> JSONMembers? { container.inner(bytes).map(JSONMembers.init) }
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

/// The common part of reading an object and reading an array.
private struct JSONContainer: Sendable {
    private enum State { case first, later, ended }

    var cursor: JSONCursor
    private let close: UInt8
    /// The number of open arrays and objects, including this one.
    private let depth: Int
    private var state = State.first

    init(
        _ bytes: Span<UInt8>, in range: Range<Int>, open: UInt8, close: UInt8, otherwise: JSONFault.Reason
    ) throws(JSONFault) {
        cursor = JSONCursor(range)
        self.close = close
        depth = 1
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.noValue) }
        guard bytes[cursor.position] == open else { throw cursor.fault(otherwise) }
        cursor.position += 1
    }

    private init(objectAt cursor: JSONCursor, depth: Int) {
        self.cursor = cursor
        self.cursor.position += 1
        close = UInt8(ascii: "}")
        self.depth = depth
    }

    /// The object that comes next; nil when something else does.
    func inner(_ bytes: Span<UInt8>) -> JSONContainer? {
        var cursor = cursor
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end, bytes[cursor.position] == UInt8(ascii: "{") else { return nil }
        return JSONContainer(objectAt: cursor, depth: depth + 1)
    }

    /// Moves to the next member or element; false when there is none, once.
    mutating func advance(_ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard state != .ended else { return false }
        cursor.skipSpace(bytes)
        guard cursor.position < cursor.end else { throw cursor.fault(.endOfInput) }
        if bytes[cursor.position] == close {
            cursor.position += 1
            // What comes behind an inner one is the outer one's business.
            if depth == 1 { try cursor.expectEnd(bytes) }
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
        try cursor.skipValue(bytes, depth: depth)
        return JSONValue(kind: JSONKind(first: bytes[start]), range: start..<cursor.position)
    }
}
