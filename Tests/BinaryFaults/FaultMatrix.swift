import ArgumentParser
import Foundation
import Trials

/// Sends through the binary protocol to a service that misbehaves: every fault, with each way of confirming that makes
/// sense, over one connection and over four. See Scripts/binary-faults.
@main struct FaultMatrix: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "binary-faults")

    @OptionGroup var options: FaultOptions

    private struct Figures: Encodable {
        var duplicates = 0
        /// To late errors that silence was mistaken about.
        var lostToSilence = 0
        var notifications = 0
    }

    private var trials: [Trial] {
        Fault.all.filter { options.only == nil || $0.name == options.only }.flatMap { fault in
            [true, false].filter { $0 ? fault.withBarrier : fault.withQuiet }.flatMap { usesBarrier in
                (options.isHalf ? [usesBarrier ? 4 : 1] : [1, 4]).map { connections in
                    Trial(fault: fault, usesBarrier: usesBarrier, connections: connections, options: options)
                }
            }
        }
    }

    func run() async throws {
        let trials = trials
        guard !trials.isEmpty else { throw ValidationError("no fault is called \(options.only ?? "")") }
        var figures = Figures()
        let table = TrialTable("binary-faults", head: TrialResult.head, trials: trials, jobs: options.jobs)
        let outcome = await table.run { trial, result in
            figures.notifications += result.notifications
            figures.duplicates += result.duplicates
            if trial.isFooled { figures.lostToSilence += result.lost }
        }
        try SummaryLine(outcome, figures).show()
        if !outcome.isGood { throw ExitCode.failure }
    }
}
