import Foundation

/// Prometheus' text format 0.0.4, read as strictly as its own parser does.
struct PrometheusText {
    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var types: [String: String] = [:]
    private(set) var helps: [String: String] = [:]
    private(set) var samples: [Sample] = []

    /// - Throws: ``Fault`` for a line that is none, a name twice, and samples that are not beside their family.
    init(_ text: String) throws {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Fault(description: "the last line has no end") }
        var family = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                let parts = line.split(separator: " ", maxSplits: 3)
                guard parts.count == 4, Self.isName(parts[2]) else { throw Fault(description: "\(line)") }
                let name = String(parts[2])
                switch parts[1] {
                case "HELP":
                    guard helps.updateValue(String(parts[3]), forKey: name) == nil else {
                        throw Fault(description: "\(name) has help twice")
                    }
                case "TYPE":
                    guard types.updateValue(String(parts[3]), forKey: name) == nil,
                        ["counter", "gauge", "histogram"].contains(parts[3])
                    else { throw Fault(description: "\(line)") }
                    family = name
                default: throw Fault(description: "\(line)")
                }
                continue
            }
            let sample = try Self.sample(line)
            let names = types[family] == "histogram" ? ["_bucket", "_sum", "_count"].map { family + $0 } : [family]
            guard names.contains(sample.name) else { throw Fault(description: "\(line) is not of \(family)") }
            guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
                throw Fault(description: "\(line) is there twice")
            }
            samples.append(sample)
        }
    }

    /// The value of a series; nil when it is not there.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private static func isName(_ text: Substring) -> Bool {
        text.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil
    }

    private static func sample(_ line: Substring) throws -> Sample {
        guard let match = line.wholeMatch(of: /([^{ ]+)(\{.*\})? ([^ ]+)/), isName(match.1) else {
            throw Fault(description: "\(line) is no sample")
        }
        let value = match.3 == "+Inf" ? .infinity : match.3 == "-Inf" ? -.infinity : Double(match.3)
        guard let value else { throw Fault(description: "\(match.3) is no number") }
        return Sample(name: String(match.1), labels: try labels(match.2 ?? "{}"), value: value)
    }

    private static func labels(_ text: Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text.dropFirst().dropLast()
        while !rest.isEmpty {
            guard let head = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="/) else {
                throw Fault(description: "\(rest) is no label")
            }
            rest = rest[head.range.upperBound...]
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "n": value.append("\n")
                case "\\": value.append("\\")
                case "\"": value.append("\"")
                default: throw Fault(description: "an escape that is none in \(text)")
                }
            }
            guard labels.updateValue(value, forKey: String(head.1)) == nil else {
                throw Fault(description: "\(head.1) twice in \(text)")
            }
            if rest.first == "," { rest.removeFirst() } else if !rest.isEmpty { throw Fault(description: "\(text)") }
        }
        return labels
    }
}
