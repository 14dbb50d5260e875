internal import Foundation

/// JSON as Holdfast writes and reads it, on the control socket and for `--json`: one line, keys in order, slashes as they
/// are. Keys that a reader does not know are passed over, so that a newer writer may say more.
package enum Form {
    package static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// - Parameter what: names the text in the error.
    /// - Throws: ``ControlError`` with code `malformed`.
    static func read<Value: Decodable>(_ type: Value.Type, _ text: [UInt8], _ what: String) throws(ControlError)
        -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(text))
        } catch let error as DecodingError {
            throw .malformed("\(what) is not what the protocol says\(place(of: error))")
        } catch {
            throw .malformed("\(what) is not what the protocol says")
        }
    }

    /// Where it is wrong. Foundation's own words would quote what came.
    private static func place(of error: DecodingError) -> String {
        let path: [any CodingKey]
        switch error {
        case .keyNotFound(let key, let context): path = context.codingPath + [key]
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        @unknown default: path = []
        }
        guard !path.isEmpty else { return "" }
        return ": " + path.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined(separator: ".")
    }
}

extension ControlError {
    static func malformed(_ what: String) -> ControlError { ControlError(.malformed, what) }
}
