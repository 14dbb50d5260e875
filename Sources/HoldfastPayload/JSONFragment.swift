internal import Foundation
internal import Holdfast

/// One JSON value, encoded already: what a payload holds of its user's own.
///
///     payload["order"] = 4711                       // literals
///     payload["tags"] = ["new", "sale"]
///     payload["cart"] = try .encoding(cart)         // anything Encodable
///
/// Dates are encoded as `JSONEncoder` does by itself (seconds since 2001), because that is how a device decodes the state of a
/// Live Activity; the keys of objects are sorted.
public struct JSONFragment: Hashable, Sendable {
    /// UTF-8.
    let bytes: [UInt8]

    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when the value, or a part of it, can't be JSON: NaN, infinity, or
    ///   what its `encode(to:)` throws.
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

    /// What is JSON already, byte for byte.
    ///
    /// - Parameter text: one value in UTF-8.
    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when it is none.
    public static func json(_ text: some Sequence<UInt8>) throws(APNsPayloadError) -> JSONFragment {
        let bytes = Array(text)
        do throws(JSONFault) {
            try JSONScanner.checkValue(bytes.span, in: 0..<bytes.count)
        } catch {
            throw APNsPayloadError(.notJSON, "what was given as JSON is none: \(error)")
        }
        return JSONFragment(bytes: bytes)
    }

    /// What is JSON already, as it is written.
    ///
    /// - Throws: ``APNsPayloadError`` of kind `notJSON` when it is none.
    public static func json(_ text: String) throws(APNsPayloadError) -> JSONFragment { try json(text.utf8) }

    /// `null`: a key that is there, with nothing behind it.
    public static let null = JSONFragment(bytes: Array("null".utf8))

    /// Where it is, and what is wrong there; never the value itself.
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
    public init(stringLiteral value: String) { self.init(value) }
    public init(integerLiteral value: Int) { self.init(bytes: Array("\(value)".utf8)) }
    public init(booleanLiteral value: Bool) { self.init(bytes: Array((value ? "true" : "false").utf8)) }
    /// A literal that is too large for a number, of which the compiler warns, is `null`.
    public init(floatLiteral value: Double) { self.init(bytes: Array((value.isFinite ? "\(value)" : "null").utf8)) }

    public init(arrayLiteral elements: JSONFragment...) {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element.bytes
        }
        bytes.append(UInt8(ascii: "]"))
        self.init(bytes: bytes)
    }

    /// Of two values for a key the later one counts; keys are sorted.
    public init(dictionaryLiteral elements: (String, JSONFragment)...) {
        let members = Dictionary(elements, uniquingKeysWith: { $1 })
        var object = JSONObjectWriter()
        for key in members.keys.sorted() { object.write(key, members[key]) }
        self.init(bytes: object.finish())
    }

    /// A text.
    public init(_ text: String) {
        var bytes: [UInt8] = []
        JSONText.append(text, to: &bytes)
        self.init(bytes: bytes)
    }

    public init(_ number: Int) { self.init(bytes: Array("\(number)".utf8)) }
    public init(_ flag: Bool) { self.init(booleanLiteral: flag) }
}
