internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Takes the entries of an export into a journal, through its desk.
struct JournalImport {
    /// The result. The names of its properties are those of the JSON.
    struct Report: Encodable, Equatable {
        var file: String
        var journal: String
        /// Lines that this run has read.
        var lines = 0
        /// The line that it went on with.
        var resumedAtLine: Int?
        /// Whether all of the file was taken before.
        var wasTakenBefore = false
        var imported = 0
        /// Lines that are no entries.
        var malformed = 0

        func text() -> String {
            if wasTakenBefore { return "\(file) was taken into \(journal) before, all of it; --restart takes it again" }
            var rows = [("imported", Format.count(imported), "entries of \(file)")]
            if let line = resumedAtLine {
                rows.append(("resumed", Format.count(line), "the line that it went on with"))
            }
            if malformed > 0 {
                rows.append(
                    (
                        "malformed", Format.count(malformed),
                        imported > 0 ? "lines, not taken" : "lines; nothing was taken"
                    ))
            }
            return DeliverySummary.table(rows)
        }
    }

    let journal: String
    let input: InputFile
    let skipsBad: Bool
    let restarts: Bool
    /// How long what waits is good for, from now on; `nil` for the times in the file.
    var goodFor: Duration?

    func run() async throws -> Report {
        let (place, noted) = try findPlace()
        var report = Report(file: input.name, journal: journal)
        report.resumedAtLine = place.progress.map { $0.lines + 1 }
        if case .alreadyFinished = place.decision {
            report.wasTakenBefore = true
            report.resumedAtLine = nil
            return report
        }
        if !skipsBad, try await !check(place, &report) { return report }
        try input.seek(to: place.progress?.offset ?? 0)
        if !FileManager.default.fileExists(atPath: journal) {
            try LMDBJournal(directory: journal, options: try KeyFileChoice.options(of: journal)).close()
        }
        try await take(place, noted: noted, &report)
        return report
    }

    /// The name of the note that says how far the file was taken; not the one by which `send` knows a file.
    private static func noteName(_ identity: FileIdentity) -> String { "import/\(identity.device)-\(identity.inode)" }

    /// - Returns: the place, and the note that says so.
    private func findPlace() throws -> (InputPlace, noted: [UInt8]?) {
        let journal = journal
        var noted = restarts ? try input.identity.flatMap { try Self.note(of: $0, in: journal) } : nil
        let place = try InputPlace.find(input, mode: input.identity == nil ? .fresh : restarts ? .restart : .resume) {
            (identity) throws(JournalError) in
            noted = try Self.note(of: identity, in: journal)
            return noted
        }
        return (place, noted)
    }

    /// The note of the file as it is now.
    private static func note(of identity: FileIdentity, in journal: String) throws(JournalError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: journal) else { return nil }
        let reader = try JournalReader(at: journal)
        defer { reader.close() }
        return try reader.note(noteName(identity))
    }

    /// Reads all of it without taking anything.
    ///
    /// - Returns: whether all lines are good.
    private func check(_ place: InputPlace, _ report: inout Report) async throws(ToolError) -> Bool {
        var reader = ImportInput(input, place)
        var faults = FaultReporter(console: .standard, name: input.name)
        while true {
            let batch = try await reader.next()
            for (line, fault) in batch.faults { faults.malformed(line: line, fault) }
            guard !batch.isLast else {
                report.lines = batch.lineCount - (place.progress?.lines ?? 0)
                break
            }
        }
        faults.finish()
        report.malformed = faults.count
        return faults.count == 0
    }

    private func take(_ place: InputPlace, noted: [UInt8]?, _ report: inout Report) async throws {
        let start = place.progress?.lines ?? 0
        var taken = Report(file: report.file, journal: report.journal)
        taken.resumedAtLine = report.resumedAtLine
        defer { report = taken }
        var reader = ImportInput(input, place)
        var faults = FaultReporter(console: .standard, name: input.name)
        var progress = WorkProgress("imported", of: nil)
        do {
            try await DeskOpener(journal: journal).withDesk { desk in
                var (isOver, before) = (false, noted)
                while !isOver {
                    let batch = try await reader.next()
                    for (line, fault) in batch.faults { faults.malformed(line: line, fault) }
                    let note = try note(batch, before: before)
                    let uids = try await desk.restore(renewed(batch.entries), note: note)
                    before = note?.value ?? before
                    taken.imported += uids.count
                    taken.lines = batch.lineCount - start
                    progress.add(batch.entries.count)
                    isOver = batch.isLast
                }
            }
        } catch {
            progress.end()
            let rest = input.identity == nil ? "" : "; the same command goes on behind them"
            Console.standard.note("\(Format.plural(taken.imported, "entry", "entries")) imported before that\(rest)")
            throw error
        }
        progress.end()
        faults.finish()
        taken.malformed = faults.count
    }

    private func renewed(_ entries: [RestoredEntry]) -> [RestoredEntry] {
        guard let goodFor else { return entries }
        let now = EngineClock.system.wall()
        return entries.map { $0.accepted(at: now, goodFor: goodFor) }
    }

    private func note(_ batch: ImportInput.Batch, before: [UInt8]?) throws -> RestoreNote? {
        guard let identity = input.identity, let progress = batch.progress else { return nil }
        return RestoreNote(name: Self.noteName(identity), value: try progress.encoded(), before: before)
    }
}

extension RestoredEntry {
    /// The entry as if it had been accepted then. What is deferred waits no longer: until when was said by another clock. A rejection
    /// stays what it is.
    func accepted(at time: WallTime, goodFor duration: Duration) -> RestoredEntry {
        if case .rejected = history.place { return self }
        var entry = self
        entry.acceptedAt = time
        entry.notification.expiration = notification.expiration?.moved(to: time.advanced(by: duration).seconds)
        if case .deferred(let due) = history.place, !due.isScheduled {
            (entry.history.place, entry.history.lastReason) = (.waiting, nil)
        }
        return entry
    }
}
