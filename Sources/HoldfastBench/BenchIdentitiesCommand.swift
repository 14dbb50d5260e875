internal import ArgumentParser
internal import Foundation
internal import HoldfastJournal
internal import Trials

struct BenchIdentitiesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ids",
        abstract: "What it costs to recognise repeats: appends with identities beside appends without.",
        discussion: """
            For each number of identities that the journal remembers beforehand, COUNT notifications are appended and \
            acknowledged without identities and with new ones, in turn. Machines differ and are noisy: the ratio is what \
            counts.

            Example:
              holdfast-bench ids --count 100000 --remembered 0 1000000
            """)

    @Option(help: "Notifications in a round.") var count = 200_000
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(parsing: .upToNextOption, help: "Identities remembered beforehand.") var remembered = [
        0, 300_000, 1_000_000,
    ]
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print a JSON object for each number of identities.") var json = false

    func validate() throws {
        guard count > 0, rounds > 0, (20...4096).contains(payload), remembered.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("--count, --rounds, --payload or --remembered is out of range")
        }
    }

    func run() throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        let bench = IdentityBench(
            directory: directory.path, count: count, payloadBytes: payload, durability: noSync ? .process : .full)
        for number in remembered {
            let runs = try bench.run(remembered: number, rounds: rounds, name: "ids-\(number)")
            let summary = IdentityBench.Summary(remembered: number, with: runs.with, without: runs.without)
            if json { try SummaryLine(summary).show() } else { print(summary.text()) }
        }
    }
}
