internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

struct BenchBulkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bulk",
        abstract: "How long a bulk settlement holds up what is submitted meanwhile.",
        discussion: """
            Journals COUNT notifications, then settles all of them at once, as silence or an operator does, and appends one \
            notification behind the other until that is on disk. Reported are the time that the settlement took, and the \
            median and the greatest time of an append, beside the same number of appends to the journal at rest.

            Example:
              holdfast-bench bulk --count 1000000
            """)

    @Option(help: "Notifications that are settled at once.") var count = 1_000_000
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        guard count > 0 else { throw ValidationError("--count is out of range") }
    }

    func run() throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        let journal = try ScratchJournal("bulk", in: directory.path, durability: noSync ? .process : .full)
        defer { journal.remove() }
        let run = try BulkBench(journal.journal).run(count)
        let fields = [
            ("count", Double(count)), ("settlementMilliseconds", run.settlement),
            ("appendsMeanwhile", Double(run.meanwhile.count)),
            ("medianMilliseconds", Quantile.median(run.meanwhile)), ("greatestMilliseconds", run.meanwhile.max() ?? 0),
            ("medianAtRestMilliseconds", Quantile.median(run.atRest)),
            ("greatestAtRestMilliseconds", run.atRest.max() ?? 0),
        ]
        if json { return print(JSONFigures.object(fields, fullSync: !noSync)) }
        print(
            String(
                format: "%d settled in %.0f ms; %d appends meanwhile: median %.2f ms, greatest %.1f ms "
                    + "(at rest %.2f and %.1f ms)",
                count, run.settlement, run.meanwhile.count, Quantile.median(run.meanwhile), run.meanwhile.max() ?? 0,
                Quantile.median(run.atRest), run.atRest.max() ?? 0))
    }
}

/// Appends beside a settlement of very many. All times are milliseconds.
struct BulkBench {
    struct Run {
        var settlement = 0.0
        var meanwhile: [Double] = []
        var atRest: [Double] = []
    }

    private let journal: LMDBJournal
    private let appends: TimedAppends

    init(_ journal: LMDBJournal) throws {
        self.journal = journal
        appends = try TimedAppends(journal, payload: DeliveryBench.payload(200))
    }

    func run(_ count: Int) throws -> Run {
        let first = try journal.status().nextUID.rawValue
        for start in stride(from: 0, to: count, by: 5000) { _ = try appends.append(min(5000, count - start)) }
        var run = Run()
        let isOver = Monitor<Result<SettlementReport, JournalError>?>(nil)
        let start = ContinuousClock.now
        journal.settle(
            SettlementBatch(
                acknowledging: (first..<(first + UInt64(count))).map { EntryKey(lane: appends.lane, uid: UID($0)) })
        ) { result in isOver.withLock { $0 = result } }
        while isOver.withLock({ $0 == nil }) { run.meanwhile.append(try appends.append(1).seconds * 1000) }
        run.settlement = (ContinuousClock.now - start).seconds * 1000
        if case .failure(let error)? = isOver.withLock({ $0 }) { throw error }
        for _ in 0..<max(run.meanwhile.count, 100) { run.atRest.append(try appends.append(1).seconds * 1000) }
        return run
    }
}
