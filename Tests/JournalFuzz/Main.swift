import ArgumentParser
import Foundation
import Holdfast
import Trials

/// Damages journals at random, and holds what verification and salvage make of them against what was there.
/// `Scripts/fuzz-verify` runs it at length.
@main struct JournalFuzz: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fuzz-verify")

    @OptionGroup var options: FuzzOptions

    @Option(help: "Every so manieth trial salvages as well.")
    var salvageEvery = 4

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let journals = try FuzzJournal.all(in: folder.path)
        let campaign = FuzzCampaign(options, trials: 200, trialLimit: Trial.limit, memoryLimit: 600_000)
        var tally = Tally()
        let outcome = try campaign.run { number, seed in
            var random = Xoshiro256(seed: seed)
            let salvages = number % max(1, salvageEvery) == 0
            try Trial(journals[number % journals.count], in: folder.path, salvages: salvages).run(&random, &tally)
        }
        try SummaryLine(outcome, tally).show()
        if outcome.breaches > 0 { throw ExitCode.failure }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What the trials came to.
struct Tally: Encodable {
    /// Called damaged.
    var damaged = 0
    /// Called sound, and found to be so.
    var sound = 0
    var salvages = 0
}
