import Foundation
import HoldfastTesting

/// Runs every `jobs`-th seed, and says on standard output how far it is:
///
///     > SEED            it begins
///     < SEED STEPS LIVES ACCEPTED NAME=COUNT …   it is over, and all is well
///     ! SEED            it is over, and a promise was broken; lines with | say more
struct Worker {
    let options: SimulatorOptions

    init(_ options: SimulatorOptions) { self.options = options }

    func run() {
        let stride = UInt64(options.jobs ?? 1)
        var seed = options.from
        // `seeds` is the end here: the supervisor says so.
        while seed < options.seeds {
            say("> \(seed)")
            let report = options.medium.simulation(of: seed).run()
            if let violation = report.violation {
                let text = OneSeed.text(of: violation, report, on: options.medium, includesTail: true)
                for line in text.split(separator: "\n") { say("| \(line)") }
                say("! \(seed)")
            } else {
                let trouble = report.trouble.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: " ")
                say("< \(seed) \(report.steps) \(report.lives) \(report.accepted) \(trouble)")
            }
            seed += stride
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
