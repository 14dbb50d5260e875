internal import Holdfast
internal import HoldfastControl
internal import HoldfastService
internal import UnixSignals

/// Gives a file to the process that uses the journal, which sends it by its own routes, and waits for the ends of what it took.
struct FileHandOver {
    /// The most notifications of one request: the largest fit its bytes.
    static let requestCount = 500

    struct Options: Sendable {
        /// Whether the owner's taking is all that is waited for.
        var isQueueOnly = false
        /// How long nothing may be sent, or be sent in vain, in one piece; nil for ever.
        var giveUpAfter: Duration?
        /// How long a full journal is waited for; nil for as long as it is not in vain.
        var fullLimit: Duration?
        /// Whether the summary is printed as JSON.
        var json = false
    }

    let journal: OwnedJournal
    let task: InputTask
    /// The note of the file, as it was read.
    let noted: [UInt8]?
    let ledger: SendLedger
    /// The report's path; nil for none.
    var report: String?
    var options = Options()
    var console = Console.standard

    static func takenByAnother(_ name: String) -> ToolError {
        ToolError(
            .cannotOpen,
            "another `send` takes the same file, \(name): this one takes no more of it. Wait for the other, or end it; then "
                + "--resume goes on")
    }

    private enum Ending {
        case over(ToolError?)
        case interrupted
    }

    func run(_ desk: RemoteDesk) async throws -> ToolStatus {
        let start = ContinuousClock.now
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        console.note("\(desk.owner) uses the journal: it takes the file and sends it")
        let taken = Monitor(FeedReport())
        let work = FileHandOverWork(
            plan: self, taken: taken, link: OwnerLink(desk, of: journal.directory, console: console), noted: noted)
        let ending = await withTaskGroup(of: Ending?.self) { tasks in
            tasks.addTask {
                for await _ in signals { return .interrupted }
                return nil
            }
            tasks.addTask {
                var work = work
                return await .over(work.perform())
            }
            var ending: Ending?
            while let next = await tasks.next() {
                if ending == nil, let next { ending = next }
                if ending != nil { tasks.cancelAll() }
            }
            return ending ?? .interrupted
        }
        console.showStatus("")
        var summary = DeliverySummary()
        var error: ToolError?
        switch ending {
        case .over(let trouble): error = trouble
        case .interrupted: summary.interrupted = true
        }
        await fill(&summary, desk.owner, taken.withLock { $0 }, &error, ContinuousClock.now - start)
        if let error { console.error(error.message) }
        console.print(options.json ? try JSONOutput.line(summary) : summary.text())
        return summary.status(error: error)
    }

    private func fill(
        _ summary: inout DeliverySummary, _ owner: String, _ taken: FeedReport, _ error: inout ToolError?,
        _ elapsed: Duration
    ) async {
        summary.owner = owner
        summary.file = task.input.file.name
        summary.resumedAtLine = task.place.progress.map { $0.lines + 1 }
        summary.queueOnly = options.isQueueOnly
        (summary.lines, summary.inputFinished) = (taken.lines, taken.finished)
        (summary.accepted, summary.repeated) = (taken.accepted, taken.repeated)
        (summary.malformed, summary.refused) = (taken.malformed, taken.refused)
        do throws(ToolError) {
            try await finish(&summary)
        } catch let failure {
            error = error ?? failure
        }
        let counts = await ledger.counts
        summary.confirmed = counts.confirmed
        summary.confirmedByAnswer = counts.confirmed
        summary.rejected = counts.rejected
        (summary.expired, summary.unknown, summary.withdrawn) = (counts.expired, counts.unknown, counts.withdrawn)
        summary.superseded = counts.superseded > 0 ? counts.superseded : nil
        summary.untold = counts.untold > 0 ? counts.untold : nil
        let milliseconds = max(elapsed.wholeMilliseconds, 1)
        summary.elapsedSeconds = Double(milliseconds) / 1000
        summary.perSecond = await (ledger.told * 1000) / Int(milliseconds)
        summary.error = error?.message
        summary.exitCode = summary.status(error: error).rawValue
    }

    /// Looks a last time what became of it, and writes the rest of the report.
    private func finish(_ summary: inout DeliverySummary) async throws(ToolError) {
        await ledger.didNotTake()
        do {
            try await journal.tell(ledger)
            let lanes = try await journal.reading { try await $0.laneTroubles() }
            let standing = try await ledger.finish(
                isWhole: summary.inputFinished,
                fates: { (uids) throws(ToolError) in try await fates(of: uids) }, troubles: lanes)
            summary.reportOpen = report == nil ? nil : standing.open
            summary.report = report
            summary.left = standing.open - standing.scheduled
            summary.scheduled = standing.scheduled > 0 ? standing.scheduled : nil
        } catch {
            throw ToolError(error, otherwise: .inputOutput)
        }
    }

    private func fates(of uids: [UID]) async throws(ToolError) -> [EntryFate?] {
        do {
            return try await journal.reading { try await $0.standings(uids) }.map(\.fate)
        } catch {
            throw ToolError(error, otherwise: .inputOutput)
        }
    }
}
