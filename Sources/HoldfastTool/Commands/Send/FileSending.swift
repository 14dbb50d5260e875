internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// A file that is sent: where in it to begin, its report, and how it is given to the process that uses the journal.
struct FileSending {
    /// The journal's directory.
    let journal: String
    /// Where the journal is read.
    let source: JournalPlace
    let mode: ResumeMode
    /// The values of lines that do not give them.
    let defaults: LineDefaults
    var console = Console.standard

    // MARK: The report

    /// Begins the report of a file, or goes on with it, before this process owns the journal.
    ///
    /// - Parameter path: nil for none.
    /// - Returns: nil for none, and for one that was finished together with its file.
    func report(_ path: String?, of input: InputFile) async throws -> SendReport? {
        guard let path else { return nil }
        let lock = try ReportLock.existing(path)
        return try await report(path, lock, of: input, at: try await place(of: input).place)
    }

    private func report(
        _ path: String, _ lock: ReportLock?, of input: InputFile, at place: InputPlace
    ) async throws -> SendReport? {
        if case .alreadyFinished = place.decision, SendReport.isFinished(path) {
            console.note("the report \(path) is finished, too: nothing is added to it")
            return nil
        }
        return try await SendReport.open(path, lock, of: input, at: place, in: source, journal: journal) { place, ids in
            task(of: input, at: place, ids: ids)
        }
    }

    // MARK: The place

    /// The task of taking the file from where the journal has come to.
    func task(
        of input: InputFile, in journal: LMDBJournal, ids: LineIDs?, defaults: LineDefaults
    ) throws -> InputTask {
        let place = try InputPlace.find(input, in: journal, mode: mode)
        say(place, of: input)
        return InputTask(input, defaults: defaults, ids: ids, place)
    }

    private func task(of input: InputFile, at place: InputPlace, ids: LineIDs?) -> InputTask {
        InputTask(
            input, defaults: defaults, ids: ids, limit: FileHandOver.requestCount,
            place)
    }

    /// Looks up the place without owning the journal.
    private func place(of input: InputFile) async throws -> (place: InputPlace, noted: [UInt8]?) {
        // One that was never completely made has taken nothing.
        let noted = try await source.withSourceOfMade { (source) -> [UInt8]? in
            guard let source, let identity = input.identity else { return nil }
            return try await source.note(identity.noteName)
        }
        return (try InputPlace.find(input, mode: mode) { (_) throws(JournalError) in noted }, noted)
    }

    private func say(_ place: InputPlace, of input: InputFile) {
        switch place.decision {
        case .nothingToResume:
            console.note("\(input.name): nothing of it was taken so far; beginning with its first line")
        case .goOn(let progress):
            console.note("\(input.name): going on with line \(Format.count(progress.lines + 1))")
        case .alreadyFinished(let progress):
            console.note(
                "\(input.name): all of its \(Format.plural(progress.lines, "line")) were taken before; "
                    + "delivering what is left in the journal")
        case .fromStart, .refuse:
            break
        }
    }

    // MARK: Beside the process that uses the journal

    /// - Returns: nil when that process delivers nothing, and nothing was done.
    func handOver(
        _ input: InputFile, to desk: RemoteDesk, report path: String?, isStrict: Bool, _ options: FileHandOver.Options
    ) async throws -> ToolStatus? {
        guard try await desk.status().routes.isEmpty == false else { return nil }
        let log = try await desk.outcomeLog()
        guard log.isKept else {
            throw ToolError(
                .usage,
                "\(desk.owner) uses the journal and keeps no history (journal.history), so nobody could tell what becomes of a "
                    + "file's lines: turn it on, or send the lines to the gateway's address")
        }
        // Before the place is looked up, which another run may move on.
        let lock = if let path { try ReportLock.existing(path) } else { nil as ReportLock? }
        let (place, noted) = try await place(of: input)
        if isStrict, try await !isWellFormed(input, at: place) { return .badInput }
        let report: SendReport? = if let path { try await report(path, lock, of: input, at: place) } else { nil }
        let ledger =
            try report?.ledger
            ?? SendLedger(nil, ids: LineIDs(key: .random()), from: log.newest)
        say(place, of: input)
        try input.seek(to: place.progress?.offset ?? 0)
        let handOver = FileHandOver(
            journal: OwnedJournal(directory: journal, at: source), task: task(of: input, at: place, ids: ledger.ids),
            noted: noted, ledger: ledger,
            report: report?.path, options: options, console: console)
        return try await handOver.run(desk)
    }

    /// Only the owner knows its routes: here a line is bad that is not what the reference describes.
    private func isWellFormed(_ input: InputFile, at place: InputPlace) async throws(ToolError) -> Bool {
        try input.seek(to: place.progress?.offset ?? 0)
        return try await StrictCheck(console: console, routes: []).passes(task(of: input, at: place, ids: nil))
    }
}
