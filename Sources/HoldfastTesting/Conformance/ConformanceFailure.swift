/// A rule of a contract that an implementation has broken.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The rule, as a sentence.
    public let rule: String
    /// What was looked at.
    public let what: String
    /// The value that the rule demands, as text.
    public let expected: String
    /// The value that the implementation gave, as text.
    public let found: String

    /// The whole failure as one line.
    public var description: String { "\(rule): \(what): expected \(expected), found \(found)" }
}

/// What a check throws; whoever runs the check knows the rule.
struct Deviation: Error {
    let what: String
    let expected: String
    let found: String

    init(_ what: String, expected: String, found: String) {
        self.what = what
        self.expected = expected
        self.found = found
    }

    /// An error of a check as a failure of its rule; one that the implementation threw out of turn included.
    static func failure(_ error: any Error, of rule: String) -> ConformanceFailure {
        let deviation =
            error as? Deviation ?? Deviation("an unexpected error", expected: "none", found: String(describing: error))
        return ConformanceFailure(
            rule: rule, what: deviation.what, expected: deviation.expected, found: deviation.found)
    }
}

func expect<Value: Equatable>(_ what: String, _ found: Value, is expected: Value) throws {
    guard found != expected else { return }
    throw Deviation(what, expected: String(describing: expected), found: String(describing: found))
}

func expect(_ what: String, _ condition: Bool) throws {
    guard !condition else { return }
    throw Deviation(what, expected: "to hold", found: "that it does not")
}

func unwrap<Value>(_ what: String, _ value: Value?) throws -> Value {
    guard let value else { throw Deviation(what, expected: "one", found: "none") }
    return value
}
