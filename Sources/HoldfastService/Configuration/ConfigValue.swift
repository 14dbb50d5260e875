/// The value of a key.
package enum ConfigValue: Equatable, Sendable {
    case text(String)
    case texts([String])
    /// A number, or bytes.
    case count(Int)
    case share(Double)
    case duration(Duration)
    case flag(Bool)
}

/// Where a value, or a mistake, is.
package enum ConfigSource: Equatable, Sendable {
    case file(String, TextPlace)
    case variable(String)
    /// An application's own, by its path.
    case value(String)
    case flag(String)
    case standard
    /// Nowhere: what is missing when there is no file.
    case nowhere

    /// `holdfast.yaml:3:5`, the name of a variable or flag, `default`.
    package var description: String {
        switch self {
        case .file(let name, let place): "\(name):\(place)"
        case .variable(let name), .value(let name), .flag(let name): name
        case .standard: "default"
        case .nowhere: "configuration"
        }
    }
}

/// A mistake in a configuration.
public struct ConfigProblem: Equatable, Sendable, CustomStringConvertible {
    package var source: ConfigSource
    /// `routes[0].rate.burst`; empty for the file as a whole.
    public internal(set) var path: String
    /// The mistake, and what is allowed.
    public internal(set) var message: String

    package init(source: ConfigSource, path: String, message: String) {
        (self.source, self.path, self.message) = (source, path, message)
    }

    /// Of a variable: repaired, as Swift reads it, its value would be the name of another file.
    static func notUTF8(_ variable: String, path: String) -> ConfigProblem {
        ConfigProblem(
            source: .variable(variable), path: path,
            message: "is not UTF-8, so it would be read as another text: write it in UTF-8")
    }

    /// `FILE:LINE:COLUMN`, the name of a variable of the environment, or the path of a value of the application's own.
    public var place: String { source.description }

    /// `FILE:LINE:COLUMN: path.of.key: what is wrong`
    public var description: String { "\(source.description): " + (path.isEmpty ? "" : "\(path): ") + message }

    /// In the order of the file; variables behind it.
    package static func isBefore(_ lhs: ConfigProblem, _ rhs: ConfigProblem) -> Bool {
        switch (lhs.source, rhs.source) {
        case (.file(_, let left), .file(_, let right)): left < right
        case (.file, _): true
        case (_, .file): false
        default: lhs.source.description < rhs.source.description
        }
    }
}
