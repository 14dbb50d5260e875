import Foundation

/// What `Scripts/binary-faults` passes on.
struct FaultOptions {
    static let usage = """
        usage: BinaryFaults [--notifications N] [--window N] [--quiet MS] [--jobs N] [--only NAME] [--limit SECONDS] [--half] [--verbose]
        """

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// In each trial; one in every thousand is to a bad token.
    var notifications = 100_000
    /// Of each connection.
    var window = 20_000
    var quietPeriod = Duration.seconds(3)
    /// Trials at a time.
    var jobs = 1
    /// The fault to be tried, alone.
    var only: String?
    /// How long a trial may take.
    var limit = Duration.seconds(300)
    /// Half the trials: barriers over four connections, silence over one.
    var isHalf = false
    /// Whether the engine's own words go to standard error.
    var isVerbose = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            if flag == "--verbose" || flag == "--half" {
                if flag == "--half" { isHalf = true } else { isVerbose = true }
                continue
            }
            guard let value = rest.popFirst() else { throw Wrong(description: "\(flag) needs a value") }
            switch flag {
            case "--only": only = value
            case "--notifications": notifications = try Self.number(flag, value, 2000...10_000_000)
            case "--window": window = try Self.number(flag, value, 10...1_000_000)
            case "--quiet": quietPeriod = .milliseconds(try Self.number(flag, value, 10...600_000))
            case "--jobs": jobs = try Self.number(flag, value, 1...64)
            case "--limit": limit = .seconds(try Self.number(flag, value, 1...86_400))
            default: throw Wrong(description: "\(flag) is not known")
            }
        }
    }

    private static func number(_ flag: String, _ value: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw Wrong(description: "\(flag) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
