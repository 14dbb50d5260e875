import Foundation

/// What `Scripts/http2-faults` passes on.
struct FaultOptions {
    static let usage = """
        usage: HTTP2Faults [--count N] [--jobs N] [--only NAME[,NAME…]] [--limit SECONDS] [--list] [--verbose]
        """

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// Notifications in each trial; one in every hundred is to a bad token.
    var count = 100_000
    /// Trials at a time.
    var jobs = 1
    /// The faults to be tried, alone.
    var only: Set<String>?
    /// How long a trial may take.
    var limit = Duration.seconds(300)
    /// Whether the faults are only to be named.
    var isList = false
    /// Whether the engine's own words go to standard error.
    var isVerbose = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            switch flag {
            case "--verbose": isVerbose = true
            case "--list": isList = true
            default:
                guard let value = rest.popFirst() else { throw Wrong(description: "\(flag) needs a value") }
                try set(flag, value)
            }
        }
    }

    private mutating func set(_ flag: String, _ value: String) throws {
        switch flag {
        case "--only": only = Set(value.split(separator: ",").map(String.init))
        case "--count": count = try Self.number(flag, value, 1000...10_000_000)
        case "--jobs": jobs = try Self.number(flag, value, 1...64)
        case "--limit": limit = .seconds(try Self.number(flag, value, 1...86_400))
        default: throw Wrong(description: "\(flag) is not known")
        }
    }

    private static func number(_ flag: String, _ value: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw Wrong(description: "\(flag) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
