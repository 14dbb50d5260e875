package import ArgumentParser
import Foundation

/// Which trials a fuzzer is to make.
package struct FuzzOptions: ParsableArguments {
    @Option(
        help: "Of the whole run; each trial has its own, by its number. (default: another each time)")
    package var seed = UInt64.random(in: 0...UInt64.max)
    @Option(help: "How many. (default: the program's own)")
    package var trials: Int?
    @Option(help: "Goes on until so many seconds are over, however many trials that makes.")
    package var seconds: Int?
    @Option(help: "The number of the one trial to make: what a breach names.")
    package var only: Int?

    package init() {}
}

/// Trials at random, one after the other: says what any of them found, which took too long, and whether memory grew.
package struct FuzzCampaign {
    /// What they came to, for the line of JSON at the end.
    package struct Outcome: Encodable {
        package fileprivate(set) var trials = 0
        package fileprivate(set) var breaches = 0
        fileprivate(set) var peakKilobytes = 0
        fileprivate(set) var slowestMilliseconds = 0
        /// Its number.
        fileprivate(set) var slowestTrial = 0
        fileprivate(set) var seconds = 0
    }

    package let options: FuzzOptions
    private let standardTrials: Int
    private let trialLimit: Duration
    private let memoryLimit: Int

    /// - Parameters:
    ///   - trials: how many without a word of the caller's.
    ///   - trialLimit: what hangs takes longer.
    ///   - memoryLimit: kilobytes of the whole process at its peak: far more than it takes, far less than a careless one
    ///     could be made to ask for.
    package init(_ options: FuzzOptions, trials: Int, trialLimit: Duration, memoryLimit: Int) {
        self.options = options
        standardTrials = trials
        self.trialLimit = trialLimit
        self.memoryLimit = memoryLimit
    }

    /// - Parameter trial: given its number, counted from 0, and its seed. What it throws is a breach.
    package func run(_ trial: (_ number: Int, _ seed: UInt64) throws -> Void) throws -> Outcome {
        Self.say("seed \(options.seed)")
        let begin = ContinuousClock.now
        var outcome = Outcome()
        var slowest = Duration.zero
        var number = options.only ?? 0
        while isWanted(number, begin) {
            let start = ContinuousClock.now
            do {
                try trial(number, options.seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
            } catch {
                breach(number, "\(error)", &outcome)
            }
            let spent = ContinuousClock.now - start
            if spent > slowest { (slowest, outcome.slowestTrial) = (spent, number) }
            if spent > trialLimit { breach(number, "took \(spent)", &outcome) }
            outcome.trials += 1
            number += 1
        }
        outcome.peakKilobytes = try PeakMemory.kilobytes()
        if outcome.peakKilobytes > memoryLimit {
            outcome.breaches += 1
            Self.say("breach: \(outcome.peakKilobytes) KB of memory at the peak")
        }
        outcome.slowestMilliseconds = Int(slowest / .milliseconds(1))
        outcome.seconds = Int((ContinuousClock.now - begin) / .seconds(1))
        return outcome
    }

    private func isWanted(_ number: Int, _ begin: ContinuousClock.Instant) -> Bool {
        if let only = options.only { return number == only }
        if let seconds = options.seconds { return ContinuousClock.now - begin < .seconds(seconds) }
        return number < options.trials ?? standardTrials
    }

    private func breach(_ number: Int, _ what: String, _ outcome: inout Outcome) {
        outcome.breaches += 1
        Self.say("breach: --seed \(options.seed) --only \(number): \(what)")
    }

    package static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}

package enum PeakMemory {
    /// Of this process, so far.
    package static func kilobytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
