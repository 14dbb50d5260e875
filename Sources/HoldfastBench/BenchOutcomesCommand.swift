internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import Trials

struct BenchOutcomesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outcomes",
        abstract: "What the log of outcomes costs, and how long it takes to find one among many.",
        discussion: """
            COUNT notifications are appended and acknowledged with and without the log, in turn. Then ENDED of them are \
            brought into the log of a new journal, and looked for by each key. Machines differ and are noisy: of the costs \
            the ratio is what counts.

            Example:
              holdfast-bench outcomes --count 200000 --ended 10000000
            """)

    @Option(help: "Notifications in a round.") var count = 200_000
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(help: "Outcomes to look for one among.") var ended = 1_000_000
    @Option(help: "Searches by each key.") var searches = 100
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Option(help: "MiB of the log of the costs; older outcomes go. Without it, it grows.") var limit: Int?
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print JSON.") var json = false

    /// What is printed as JSON.
    private struct Summary: Encodable {
        var without: OutcomeBench.Cost
        var with: OutcomeBench.Cost
        var bytesOfOutcome: Double
        var searches: [FindBench.Times]
    }

    func validate() throws {
        guard count > 0, rounds > 0, ended >= 0, searches > 0, (20...4096).contains(payload),
            limit.map((1...1 << 20).contains) ?? true
        else {
            throw ValidationError("--count, --rounds, --ended, --searches, --payload or --limit is out of range")
        }
    }

    func run() throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        let durability: LMDBJournal.Durability = noSync ? .process : .full
        let (with, without) = try costs(directory.path, durability)
        let (bytes, times) = try finds(directory.path, durability)
        let summary = Summary(without: without, with: with, bytesOfOutcome: bytes, searches: times)
        if json { return try SummaryLine(summary).show() }
        print(
            String(
                format: "append and acknowledge %.2f µs, with outcomes %.2f µs (throughput %.3f); CPU %.2f and %.2f µs",
                without.microseconds, with.microseconds, without.microseconds / with.microseconds,
                without.cpuMicroseconds, with.cpuMicroseconds))
        print(String(format: "%.1f bytes an outcome, its index included", bytes))
        for time in times {
            print(
                String(
                    format: "find by %@ among %d: median %.2f ms, greatest %.2f ms, %d found", time.key, ended,
                    time.medianMilliseconds, time.greatestMilliseconds, time.found))
        }
    }

    private func costs(
        _ path: String, _ durability: LMDBJournal.Durability
    ) throws -> (with: OutcomeBench.Cost, without: OutcomeBench.Cost) {
        let scratch = try ScratchJournal("costs", in: path, durability: durability)
        defer { scratch.remove() }
        let bench = try OutcomeBench(scratch.journal, payloadBytes: payload, limit: limit.map { $0 << 20 })
        var (with, without): ([OutcomeBench.Cost], [OutcomeBench.Cost]) = ([], [])
        var number: UInt64 = 0
        for round in 0..<2 * rounds {
            let cost = try bench.round(count, from: number, keepsOutcomes: round % 2 == 1)
            if round % 2 == 1 { with.append(cost) } else { without.append(cost) }
            number += UInt64(count)
        }
        func median(_ costs: [OutcomeBench.Cost]) -> OutcomeBench.Cost {
            OutcomeBench.Cost(
                microseconds: Quantile.median(costs.map(\.microseconds)),
                cpuMicroseconds: Quantile.median(costs.map(\.cpuMicroseconds)))
        }
        return (median(with), median(without))
    }

    private func finds(
        _ path: String, _ durability: LMDBJournal.Durability
    ) throws -> (bytes: Double, times: [FindBench.Times]) {
        guard ended > 0 else { return (0, []) }
        let scratch = try ScratchJournal("finds", in: path, durability: durability)
        defer { scratch.remove() }
        let bench = try OutcomeBench(scratch.journal, payloadBytes: 20)
        var number: UInt64 = 0
        while number < ended {
            _ = try bench.round(min(100_000, ended - Int(number)), from: number, keepsOutcomes: true)
            number = UInt64(scratch.journal.outcomeLog.count)
        }
        let figures = scratch.journal.outcomeLog
        let times = try FindBench(journal: scratch.journal, count: number, searches: searches).run()
        return (Double(figures.bytes) / Double(figures.count), times)
    }
}
