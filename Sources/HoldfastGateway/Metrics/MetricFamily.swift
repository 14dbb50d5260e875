/// What Prometheus' text format says under one name: a kind, a line of help, and a value for each set of labels.
public struct MetricFamily: Sendable, Equatable {
    public enum Kind: String, Sendable { case counter, gauge, histogram }

    public struct Sample: Sendable, Equatable {
        /// Behind the family's name: `_bucket`, `_sum` or `_count` of a histogram.
        var suffix = ""
        var labels: [Label]
        var value: Double

        public init(labels: [(String, String)] = [], value: Double) {
            self.labels = labels.map { Label(name: $0.0, value: $0.1) }
            self.value = value
        }

        init(suffix: String, labels: [Label], value: Double) {
            (self.suffix, self.labels, self.value) = (suffix, labels, value)
        }
    }

    struct Label: Hashable, Sendable {
        var name: String
        var value: String
    }

    public var name: String
    public var kind: Kind
    public var help: String
    public var samples: [Sample]

    public init(_ name: String, _ kind: Kind, _ help: String, samples: [Sample]) {
        (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
    }

    /// One value without labels.
    public init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.init(name, kind, help, samples: [Sample(value: value)])
    }

    /// Prometheus' text format, version 0.0.4. A family without samples says nothing.
    ///
    /// Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    func write(to text: inout String) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            text += name
            text += sample.suffix
            if !sample.labels.isEmpty {
                text += "{"
                for (index, label) in sample.labels.enumerated() {
                    text += "\(index > 0 ? "," : "")\(label.name)=\"\(Self.escaped(label.value, quotes: true))\""
                }
                text += "}"
            }
            text += " \(Self.number(sample.value))\n"
        }
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// As Go's `ParseFloat` reads it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    /// A name that Prometheus takes: what it does not is `_`.
    static func name(_ text: String) -> String { word(text, also: [":"]) }

    /// The same for a label's.
    static func labelName(_ text: String) -> String { word(text, also: []) }

    private static func word(_ text: String, also allowed: Set<Character>) -> String {
        let word = String(
            text.map { character in
                let isPlain = character.isASCII && (character.isLetter || character.isNumber)
                return isPlain || character == "_" || allowed.contains(character) ? character : "_"
            })
        return word.first.map { $0.isNumber } ?? true ? "_" + word : word
    }
}
