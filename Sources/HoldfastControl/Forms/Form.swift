internal import Foundation

/// JSON as Holdfast writes and reads it, on the control socket and for `--json`: one line, keys in order, slashes as they
/// are. Keys that a reader does not know are passed over, so that a newer writer may say more.
package enum Form {
    package static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// The same as text.
    package static func text(_ value: some Encodable) throws -> String {
        String(decoding: try line(value), as: UTF8.self)
    }

    /// - Parameter what: names the text in the error: `the body`.
    /// - Throws: ``ControlError`` with code `malformed`.
    package static func read<Value: Decodable>(_ type: Value.Type, _ text: [UInt8], _ what: String) throws(ControlError)
        -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(text))
        } catch let error as DecodingError {
            throw .malformed("\(what) is not what the protocol says: \(fault(of: error))")
        } catch {
            throw .malformed("\(what) is not what the protocol says")
        }
    }

    /// The fault and its place. Foundation's own words would quote the text.
    private static func fault(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(place(context.codingPath)) is null"
        case .typeMismatch(_, let context): "\(place(context.codingPath)) has a value of another type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is no JSON" : "\(place(context.codingPath)) has a value that can't be read"
        @unknown default: "it can't be read"
        }
    }

    /// `entries[3].lane`
    private static func place(_ path: [any CodingKey]) -> String {
        let place = path.reduce(into: "") { place, key in
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return place.isEmpty ? "it" : place
    }
}

extension ControlError {
    package static func malformed(_ what: String) -> ControlError { ControlError(.malformed, what) }
}
