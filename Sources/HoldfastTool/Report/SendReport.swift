internal import Foundation
internal import Holdfast
internal import HoldfastService

/// The report of a sending: begun, or gone on with, before anything is taken.
struct SendReport {
    /// As it was given.
    let path: String
    let ledger: SendLedger
    /// How far the file had been taken.
    let place: FileProgress?

    /// Makes the report of a sending that begins at a place, or goes on with the one that has come there.
    ///
    /// - Parameters:
    ///   - lock: of the report, from before the place was looked up; nil when it was not begun.
    ///   - journalPlace: where the journal is read, of which this process is not the owner yet.
    ///   - journal: its directory.
    ///   - lines: the task of reading the input from a place on, with these ids.
    /// - Throws: ``ToolError`` when it can't be written, or is not the report of this sending; nothing was done then.
    static func open(
        _ path: String, _ lock: ReportLock?, of file: InputFile, at place: InputPlace, in journalPlace: JournalPlace,
        journal: String, lines: (InputPlace, LineIDs) -> InputTask
    ) async throws -> SendReport {
        guard !path.isEmpty, path != "-" else {
            throw ToolError(.usage, "--report names a file: a later run goes on with it")
        }
        return try await journalPlace.withSourceOfMade { source in
            try await open(path, lock, of: file, at: place, in: source, journal: journal, lines: lines)
        }
    }

    private static func open(
        _ path: String, _ lock: ReportLock?, of file: InputFile, at place: InputPlace,
        in source: (any JournalSource)?, journal: String, lines: (InputPlace, LineIDs) -> InputTask
    ) async throws -> SendReport {
        let directory = resolved(journal)
        let newest = try await source?.history().newest ?? .start
        let report = try opened(path, lock, of: file, at: place, journal: directory, from: newest)
        guard let ids = report.header.ids else { throw ToolError(.internalFault, "the report has no key") }
        let state = report.state
        if OutcomeCursor(state.cursor) > newest {
            throw ToolError(
                .cannotOpen,
                "the report \(path) knows outcome \(state.cursor), and the newest of \(journal) is \(newest): it is the report "
                    + "of another journal, or this one was restored from a backup. Go on without --report")
        }
        let ledger = try SendLedger(report, ids: ids, from: newest)
        if let source, let progress = place.progress, progress.lines != state.lines || progress.part != state.part {
            let before = FileProgress(
                path: progress.path, offset: state.offset, lines: state.lines, fingerprint: 0, finished: false,
                part: state.part)
            let start = InputPlace(
                decision: .goOn(before), progress: before, history: try file.history(before: state.offset) ?? [])
            try file.seek(to: state.offset)
            var found = try await LostReceipts.lines(lines(start, ids), upTo: progress)
            try await LostReceipts(
                source: source, cursor: OutcomeCursor(state.cursor), areOfThisReport: progress.run == ids.run
            ).look(for: &found)
            try await ledger.recover(found)
        }
        return SendReport(path: path, ledger: ledger, place: place.progress)
    }

    /// The directory of a journal, the same before it is there and after: links are resolved only of what is there.
    private static func resolved(_ journal: String) -> String {
        let url = URL(fileURLWithPath: journal).standardizedFileURL
        guard !FileManager.default.fileExists(atPath: url.path) else { return url.resolvingSymlinksInPath().path }
        return url.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
            .path
    }

    /// Whether there is a report that no run goes on with.
    static func isFinished(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
            && !FileManager.default.fileExists(atPath: ReportFile.companionPath(of: path))
    }

    private static func opened(
        _ path: String, _ lock: ReportLock?, of file: InputFile, at place: InputPlace, journal: String,
        from cursor: OutcomeCursor
    ) throws(ToolError) -> ReportFile {
        let taken = place.progress
        guard let lock, !ReportFile.isUnmade(lock) else {
            if let taken, taken.lines > 0 || taken.part != nil {
                throw ToolError(
                    .usage,
                    "\(Format.plural(taken.lines, "line")) of \(file.name) were taken without the report \(path), so it could not "
                        + "have all lines: name the report that the sending was begun with, or leave --report out")
            }
            return try ReportFile.create(path, header(of: file, journal: journal), from: cursor, in: lock)
        }
        let report = try ReportFile.open(lock)
        let rest = "give another name, or remove it with \(ReportFile.companionPath(of: path))"
        guard report.header.isOf(file, journal: journal) else {
            let other = report.header.input ?? "standard input"
            throw ToolError(
                .cannotOpen,
                "\(path) is the unfinished report of \(other), by way of \(report.header.journal): \(rest)")
        }
        let state = report.state
        guard let taken, taken.lines >= state.lines else {
            guard state.lines > 0 || state.part != nil else { return report }
            let way =
                switch (taken, place.decision) {
                case (nil, .nothingToResume):
                    "The journal \(journal) knows nothing of it: put back the one that took it, or "
                case (nil, _): "--resume goes on with both; else "
                default: "The journal knows of fewer: "
                }
            throw ToolError(
                .cannotOpen,
                "\(path) is the unfinished report of an earlier sending of \(file.name), \(Format.plural(state.lines, "line")) long. "
                    + way + rest)
        }
        return report
    }

    private static func header(of file: InputFile, journal: String) -> ReportHeader {
        let key = IdentityKey.random()
        return ReportHeader(
            input: file.path, device: file.identity?.device, inode: file.identity?.inode, journal: journal,
            key: [key.first, key.second])
    }
}
