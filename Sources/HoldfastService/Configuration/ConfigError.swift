/// All that is wrong with a configuration.
public struct ConfigError: Error, Sendable, CustomStringConvertible {
    /// Told in full, beyond which the rest is counted.
    package static let greatestCount = 100

    /// In the order of the file, those elsewhere behind them.
    public let problems: [ConfigProblem]

    /// What can be read all the same, to look for more; nil for a file that is no YAML.
    package let rest: HoldfastConfiguration?

    package init(_ problems: [ConfigProblem], rest: HoldfastConfiguration? = nil) {
        (self.problems, self.rest) = (problems, rest)
    }

    /// These, and those that a further look at the rest finds.
    package func adding(_ more: (HoldfastConfiguration) -> [ConfigProblem]) -> ConfigError {
        guard let rest else { return self }
        return ConfigError((problems + more(rest)).sorted(by: ConfigProblem.isBefore), rest: rest)
    }

    /// The line before them.
    package var heading: String { "the configuration has \(Format.plural(problems.count, "mistake")):" }

    /// One problem a line.
    package var lines: [String] {
        let lines = problems.prefix(Self.greatestCount).map(\.description)
        let rest = problems.count - lines.count
        return rest > 0 ? lines + ["and \(Format.count(rest)) more like these"] : lines
    }

    /// A heading, and one problem a line.
    public var description: String { ([heading] + lines).joined(separator: "\n") }
}
