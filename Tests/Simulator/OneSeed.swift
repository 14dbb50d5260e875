import Foundation
import HoldfastTesting

/// Replays one seed for people.
struct OneSeed {
    let seed: UInt64
    let medium: SimulatorOptions.Medium
    let isVerbose: Bool

    /// - Returns: the exit code.
    func run() -> Int32 {
        var say: (@Sendable (String) -> Void)?
        if isVerbose { say = { print($0) } }
        let report = medium.simulation(of: seed).run(say: say)
        guard let violation = report.violation else {
            print(
                "seed \(seed): all promises kept in \(report.steps) steps, \(report.lives) lives, "
                    + "\(report.accepted) notifications; digest \(String(report.digest, radix: 16))")
            return 0
        }
        print(Self.text(of: violation, report, on: medium, includesTail: !isVerbose))
        return 1
    }

    static func text(
        of violation: Violation, _ report: SimulationReport, on medium: SimulatorOptions.Medium, includesTail: Bool
    ) -> String {
        var lines = ["seed \(report.seed), \(violation)"]
        if includesTail { lines += report.tail.suffix(40).map { "    " + $0 } }
        let journal = medium == .both ? "" : " --journal \(medium.rawValue)"
        lines.append("replay with: Scripts/simulate --seed \(report.seed)\(journal) --verbose")
        return lines.joined(separator: "\n")
    }
}
