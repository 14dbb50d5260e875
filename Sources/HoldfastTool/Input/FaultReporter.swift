internal import Holdfast
internal import HoldfastService

/// Names what was not taken, line by line: a bounded number of lines, and counts the rest.
struct FaultReporter {
    /// Lines named before the rest is only counted.
    static let limit = 20

    private let console: Console
    private let name: String
    private var printed = 0
    private(set) var malformed = 0
    /// By reason.
    private(set) var refused: [String: Int] = [:]

    init(console: Console, name: String) {
        self.console = console
        self.name = name
    }

    var count: Int { malformed + refused.values.reduce(0, +) }

    mutating func malformed(line: Int, _ fault: LineFault) {
        malformed += 1
        report(line: line, fault.description)
    }

    mutating func refused(line: Int, _ refusal: Refusal) {
        refused[refusal.reason.rawValue, default: 0] += 1
        report(line: line, refusal.description)
    }

    /// Says how many were not named.
    func finish() {
        if printed > Self.limit {
            console.note("\(name): \(Format.count(printed - Self.limit)) more like these are not shown")
        }
    }

    private mutating func report(line: Int, _ text: String) {
        printed += 1
        if printed <= Self.limit { console.note("\(name):\(line): \(text)") }
    }
}
