internal import Foundation
internal import Holdfast

/// One JSON value, already encoded: the form of a payload's custom values.
///
///     payload["order"] = 4711                       // literals
///     payload["tags"] = ["new", "sale"]
///     payload["cart"] = try .encoding(cart)         // anything Encodable
///
/// Dates are encoded as `JSONEncoder` does by default (seconds since 2001), because a device decodes the state of a
/// Live Activity in that way. The keys of objects are sorted.
public struct JSONFragment: Hashable, Sendable {
    /// UTF-8.
    let bytes: [UInt8]

    /// Encodes a value as JSON.
    ///
    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when the value, or a part of it, can't be JSON: NaN,
    ///   infinity, or an error from its `encode(to:)`.
    public static func encoding(_ value: some Encodable) throws(APNsPayloadError) -> JSONFragment {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let bytes = Array(try encoder.encode(value))
            // Foundation writes a Decimal that is no number as NaN, which is no JSON.
            try JSONScanner.checkValue(bytes.span, in: 0..<bytes.count)
            return JSONFragment(bytes: bytes)
        } catch let fault as JSONFault {
            throw APNsPayloadError(
                .notJSON,
                "a \(type(of: value)) can't be encoded as JSON: a Decimal that is NaN, or: \(fault.reason.rawValue)")
        } catch let error as EncodingError {
            throw APNsPayloadError(.notJSON, "a \(type(of: value)) can't be encoded as JSON: \(Self.words(error))")
        } catch {
            throw APNsPayloadError(.notJSON, "a \(type(of: value)) can't be encoded as JSON: \(error)")
        }
    }

    /// Takes JSON as it is, byte for byte.
    ///
    /// - Parameter text: one value in UTF-8.
    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when the text is not one JSON value.
    public static func json(_ text: some Sequence<UInt8>) throws(APNsPayloadError) -> JSONFragment {
        let bytes = Array(text)
        do throws(JSONFault) {
            try JSONScanner.checkValue(bytes.span, in: 0..<bytes.count)
        } catch {
            throw APNsPayloadError(.notJSON, "what was given as JSON is none: \(error)")
        }
        return JSONFragment(bytes: bytes)
    }

    /// Takes JSON as it is written.
    ///
    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when the text is not one JSON value.
    public static func json(_ text: String) throws(APNsPayloadError) -> JSONFragment { try json(text.utf8) }

    /// `null`: the key is present and has no value.
    public static let null = JSONFragment(bytes: Array("null".utf8))

    /// The place of the fault and its kind; never the value itself.
    private static func words(_ error: EncodingError) -> String {
        guard case .invalidValue(_, let context) = error else { return "\(error)" }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        let what = context.debugDescription
        return path.isEmpty ? what : "\(path): \(what)"
    }
}

extension JSONFragment: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a JSON string.
    public init(stringLiteral value: String) { self.init(value) }
    /// Creates a JSON number.
    public init(integerLiteral value: Int) { self.init(bytes: Array("\(value)".utf8)) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(bytes: Array((value ? "true" : "false").utf8)) }
    /// Creates a JSON number. A literal too large for a `Double`, of which the compiler warns, becomes `null`.
    public init(floatLiteral value: Double) { self.init(bytes: Array((value.isFinite ? "\(value)" : "null").utf8)) }

    /// Creates a JSON array.
    public init(arrayLiteral elements: JSONFragment...) {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element.bytes
        }
        bytes.append(UInt8(ascii: "]"))
        self.init(bytes: bytes)
    }

    /// Creates a JSON object with sorted keys. Of two values for one key the later counts.
    public init(dictionaryLiteral elements: (String, JSONFragment)...) {
        let members = Dictionary(elements, uniquingKeysWith: { $1 })
        var object = JSONObjectWriter()
        for key in members.keys.sorted() { object.write(key, members[key]) }
        self.init(bytes: object.finish())
    }

    /// Creates a JSON string.
    public init(_ text: String) {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        self.init(bytes: bytes)
    }

    /// Creates a JSON number.
    public init(_ number: Int) { self.init(bytes: Array("\(number)".utf8)) }
    /// Creates `true` or `false`.
    public init(_ flag: Bool) { self.init(booleanLiteral: flag) }
}
