import Foundation

/// JSON, whatever it is.
enum AnyJSON: Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([AnyJSON].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: AnyJSON].self))
        }
    }

    init(_ text: String) throws { self = try JSONDecoder().decode(AnyJSON.self, from: Data(text.utf8)) }

    var object: [String: AnyJSON] { if case .object(let object) = self { object } else { [:] } }
    var array: [AnyJSON] { if case .array(let array) = self { array } else { [] } }
    var text: String? { if case .string(let text) = self { text } else { nil } }

    subscript(_ names: String...) -> AnyJSON? {
        names.reduce(AnyJSON?.some(self)) { value, name in value?.object[name] }
    }

    func isA(_ type: String) -> Bool {
        switch (self, type) {
        case (.bool, "boolean"), (.number, "number"), (.string, "string"), (.array, "array"), (.object, "object"): true
        case (.number(let number), "integer"): number.rounded() == number
        default: false
        }
    }
}

/// Holds JSON against a schema of an OpenAPI description, as far as ours go. What a schema does not name is a fault.
struct SchemaCheck {
    let document: AnyJSON

    init(_ text: String) throws { document = try AnyJSON(text) }

    /// The operations, each with its path, its method, and the schema of its answer.
    var operations: [(path: String, method: String, schema: AnyJSON?)] {
        (document["paths"]?.object ?? [:]).flatMap { path, methods in
            methods.object.map { method, operation in
                (path, method, operation["responses", "200", "content", "application/json", "schema"])
            }
        }.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
    }

    /// Where a value is not as its schema says.
    func faults(_ value: AnyJSON, _ schema: AnyJSON?, at place: String = "") -> [String] {
        guard var schema else { return ["\(place): no schema"] }
        while let name = schema["$ref"]?.text?.split(separator: "/").last {
            schema = document["components", "schemas", String(name)] ?? .null
        }
        if let choices = schema["anyOf"]?.array {
            return choices.map { faults(value, $0, at: place) }.min { $0.count < $1.count } ?? []
        }
        if let values = schema["enum"]?.array.compactMap(\.text), !values.contains(value.text ?? "") {
            return ["\(place): \(value) is none of \(values)"]
        }
        let types = schema["type"].map { type in type.text.map { [$0] } ?? type.array.compactMap(\.text) } ?? []
        guard types.contains(where: value.isA) else { return ["\(place): \(value) is no \(types)"] }
        let items = value.array.enumerated().flatMap { faults($1, schema["items"], at: "\(place)[\($0)]") }
        let missing = (schema["required"]?.array ?? []).compactMap(\.text).filter { value[$0] == nil }
        return items + missing.map { "\(place).\($0) is missing" }
            + value.object.sorted { $0.key < $1.key }.flatMap { name, member -> [String] in
                let known =
                    schema["properties"]?[name]
                    ?? schema["additionalProperties"].flatMap { $0.isA("object") ? $0 : nil }
                guard let known else { return ["\(place).\(name) is not described"] }
                return faults(member, known, at: "\(place).\(name)")
            }
    }
}
