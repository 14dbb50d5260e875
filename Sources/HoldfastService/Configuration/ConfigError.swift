/// All that is wrong with a configuration.
public struct ConfigError: Error, Sendable, CustomStringConvertible {
    /// Told in full, beyond which the rest is counted.
    package static let greatestCount = 100

    /// In the order of the file, those elsewhere behind them.
    public let problems: [ConfigProblem]

    package init(_ problems: [ConfigProblem]) { self.problems = problems }

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
