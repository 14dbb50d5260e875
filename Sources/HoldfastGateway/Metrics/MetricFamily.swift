/// A family of Prometheus' text format: a name, a kind, a line of help, and a value for each set of labels. Made by
/// ``Gateway/metricFamilies`` and ``ProcessMetrics/families``, and written by ``MetricsRegistry/text(_:)``.
public struct MetricFamily: Sendable, Equatable {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package struct Sample: Sendable, Equatable {
        /// The suffix of the family's name: `_bucket`, `_sum` or `_count` of a histogram.
        var suffix = ""
        var labels: [Label]
        var value: Double

        package init(labels: [(String, String)] = [], value: Double) {
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

    package var name: String
    package var kind: Kind
    package var help: String
    package var samples: [Sample]

    package init(_ name: String, _ kind: Kind, _ help: String, samples: [Sample]) {
        (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
    }

    /// Creates a family with one value without labels.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.init(name, kind, help, samples: [Sample(value: value)])
    }

    /// Prometheus' text format, version 0.0.4. A family without samples writes nothing.
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

    /// The form that Go's `ParseFloat` reads.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    /// A valid metric name: every other character becomes `_`.
    static func name(_ text: String) -> String { word(text, also: [":"]) }

    /// A valid label name: every other character becomes `_`.
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
