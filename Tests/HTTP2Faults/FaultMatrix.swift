import ArgumentParser
import Foundation
import Trials

/// Sends over HTTP/2 to a service that misbehaves: every fault, with each guarantee for which it makes a difference. See
/// Scripts/http2-faults.
@main struct FaultMatrix: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "http2-faults")

    @OptionGroup var options: FaultOptions

    private struct Figures: Encodable {
        var duplicates = 0
        var faults = 0
        var lost = 0
        var notifications = 0
    }

    private var trials: [Trial] {
        let faults =
            options.only.map { only in (Fault.all + Fault.liars).filter { only.contains($0.name) } } ?? Fault.all
        return faults.flatMap { fault in
            fault.guarantees.map { Trial(fault: fault, guarantee: $0, options: options) }
        }
    }

    func run() async throws {
        let trials = trials
        guard !trials.isEmpty else {
            throw ValidationError("no fault is called \(options.only?.sorted().joined(separator: ", ") ?? "")")
        }
        guard !options.isList else {
            for fault in Fault.all { print("\(fault.name)\t\(fault.what)") }
            return
        }
        var figures = Figures(faults: Set(trials.map(\.fault.name)).count)
        let table = TrialTable("http2-faults", head: TrialResult.head, trials: trials, jobs: options.jobs)
        let outcome = await table.run { _, result in
            figures.notifications += result.count
            figures.duplicates += result.duplicates
            figures.lost += result.lost
        }
        try SummaryLine(outcome, figures).show()
        if !outcome.isGood { throw ExitCode.failure }
    }
}
