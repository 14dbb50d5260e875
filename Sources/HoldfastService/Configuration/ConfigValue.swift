/// What a key says, once understood.
enum ConfigValue: Equatable, Sendable {
    case text(String)
    case texts([String])
    /// A number, or bytes.
    case count(Int)
    case share(Double)
    case duration(Duration)
    case flag(Bool)
}

/// Where a value, or a mistake, is.
enum ConfigSource: Equatable, Sendable {
    case file(String, TextPlace)
    case variable(String)
    case flag(String)
    case standard
    /// Nowhere: what is missing when there is no file.
    case nowhere

    /// `holdfast.yaml:3:5`, the name of a variable or flag, `default`.
    var description: String {
        switch self {
        case .file(let name, let place): "\(name):\(place)"
        case .variable(let name), .flag(let name): name
        case .standard: "default"
        case .nowhere: "configuration"
        }
    }
}

/// A mistake in a configuration.
struct ConfigProblem: Equatable, Sendable {
    var source: ConfigSource
    /// `routes[0].rate.burst`; empty for the file as a whole.
    var path: String
    /// What is wrong, and what is allowed.
    var message: String

    /// `FILE:LINE:COLUMN: path.of.key: what is wrong`
    var description: String { "\(source.description): " + (path.isEmpty ? "" : "\(path): ") + message }

    /// In the order of the file; variables behind it.
    static func isBefore(_ lhs: ConfigProblem, _ rhs: ConfigProblem) -> Bool {
        switch (lhs.source, rhs.source) {
        case (.file(_, let left), .file(_, let right)): left < right
        case (.file, _): true
        case (_, .file): false
        default: lhs.source.description < rhs.source.description
        }
    }
}

/// Finds the name that somebody may have meant.
enum NearestName {
    /// The nearest of `names`, if it is near enough.
    static func of(_ name: String, in names: some Sequence<String>) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let bound = max(1, name.utf8.count / 3)
        return names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= bound }.min { $0.distance < $1.distance }?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours that make one of the other.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(line[column] + 1, last[column + 1] + 1, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            (before, last) = (last, line)
        }
        return last[right.count]
    }
}
