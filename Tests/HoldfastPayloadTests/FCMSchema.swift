import Foundation

/// Judges JSON by Google's table of fields.
struct FCMSchema {
    /// The form of each field of each type.
    let types: [String: [String: String]]

    init() {
        var types: [String: [String: String]] = [:]
        for line in FCMFieldTable.text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let name = parts[0].split(separator: ".").map(String.init)
            types[name[0], default: [:]][name[1]] = parts[1]
        }
        self.types = types
    }

    /// What Google's interface does not have, each by its place; and the fields that are there, as `Type.field`.
    func judge(_ json: [UInt8]) throws -> (faults: [String], fields: Set<String>) {
        var verdict = Verdict(types: types)
        verdict.look(try JSONDecoder().decode(JSONTree.self, from: Data(json)), "Message", at: "message")
        return (verdict.faults, verdict.fields)
    }

    private struct Verdict {
        let types: [String: [String: String]]
        var faults: [String] = []
        var fields: Set<String> = []

        mutating func look(_ value: JSONTree, _ form: String, at place: String) {
            switch (value, form.first) {
            case (.object(let members), "{"):
                for (name, member) in members {
                    look(member, String(form.dropFirst().dropLast()), at: "\(place).\(name)")
                }
            case (.array(let members), "["):
                for member in members { look(member, String(form.dropFirst().dropLast()), at: place) }
            case (.object(let members), _) where types[form] != nil || form == "AndroidBackgroundSyncMessage":
                for (name, member) in members {
                    guard let inner = types[form]?[name] else {
                        faults.append("\(place).\(name) is no field")
                        continue
                    }
                    fields.insert("\(form).\(name)")
                    look(member, inner, at: "\(place).\(name)")
                }
            default:
                if !isScalar(value, form) { faults.append("\(place) is no \(form)") }
            }
        }

        private func isScalar(_ value: JSONTree, _ form: String) -> Bool {
            switch (value, form) {
            case (_, "any"), (.text, "string"), (.flag, "boolean"), (.number, "number float"),
                (.integer, "number float"):
                true
            case (.integer(let number), "integer int32"): Int32(exactly: number) != nil
            case (.text(let bytes), "string google-duration"):
                String(decoding: bytes, as: UTF8.self).wholeMatch(of: /-?\d{1,12}(\.\d{1,9})?s/) != nil
            case (.text(let bytes), "string google-datetime"):
                String(decoding: bytes, as: UTF8.self)
                    .wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z/) != nil
            case (.text(let bytes), _):
                form.split(separator: "|").contains { $0.utf8.elementsEqual(bytes) }
            default: false
            }
        }
    }
}
