internal import Holdfast
internal import HoldfastService

/// The state of a feed so far, for the progress line and the summary.
struct FeedReport: Sendable {
    var lines = 0
    var accepted = 0
    /// Taken before under the same apns-id, and over.
    var repeated = 0
    var malformed = 0
    var refused: [String: Int] = [:]
    /// How much of the input was taken, 0…1; nil when its length is not known.
    var fraction: Double?
    /// Whether the input was taken to its end.
    var finished = false
    /// The journal's refusal while a batch waits for room in it; `nil` while none waits.
    var waitsForRoom: String?
    /// Of notifications that were given by flags, one each.
    var receipts: [Receipt] = []
    /// By UID, what the service's console knows notifications by that flags gave: development environment only.
    var uniqueIDs: [UID: String] = [:]
    var error: ToolError?
}

/// Takes an input into the journal, batch by batch; each batch is one commit with the note of how far that is.
struct Feed {
    let engine: PushEngine
    let console: Console
    /// Where others can see how far it is.
    let report: Monitor<FeedReport>
    /// How long a full journal is waited for; nil for as long as it is not in vain.
    var fullLimit: Duration?
    /// Is told what was taken of a file; nil where nobody asks.
    var ledger: SendLedger?
    /// Why waiting for room in a full journal is in vain; nil while it is not.
    let whyStuck: @Sendable () -> ToolError?

    /// How long a batch that found the journal full waits for the deliveries to make room.
    private static let fullPause: Duration = .milliseconds(100)

    /// Looks in a row that must find waiting in vain, since room comes a little after the last delivery.
    private static let stuckLooks = 5

    /// Ends at the end of the input, at the first error, when the engine shuts down, and when the task is cancelled.
    func run(_ task: InputTask) async {
        var input = task.input
        let file = input.file
        let linesBefore = task.place.progress?.lines ?? 0
        var reporter = FaultReporter(console: console, name: file.name)
        do throws(ToolError) {
            var next: NotificationInput.Batch? = try await input.next()
            while let batch = next, !Task.isCancelled {
                try await ledger?.willTake()
                async let taken = taking(batch, of: file)
                // A file is read on while its last batch is on its way to the disk. A stream may have nothing for hours,
                // and what became of its last batch must not wait for that.
                let isReadingOn = !batch.isLast && !file.isStream
                let following: Result<NotificationInput.Batch, ToolError>? = isReadingOn ? await read(&input) : nil
                guard let receipts = try await taken.get(),
                    try count(receipts, of: batch, name: file.name, reporter: &reporter)
                else {
                    await ledger?.didNotTake()
                    break
                }
                // Before the report is written, which may fail: what was taken counts.
                publish(batch, of: file, linesBefore: linesBefore, reporter)
                try await ledger?.took(batch, receipts)
                if let following {
                    next = try following.get()
                } else {
                    next = batch.isLast ? nil : try await input.next()
                }
            }
        } catch {
            report.withLock { $0.error = error }
        }
        reporter.finish()
    }

    private func read(_ input: inout NotificationInput) async -> Result<NotificationInput.Batch, ToolError> {
        do throws(ToolError) { return .success(try await input.next()) } catch { return .failure(error) }
    }

    private func taking(_ batch: NotificationInput.Batch, of file: InputFile) async -> Result<[Receipt]?, ToolError> {
        do throws(ToolError) { return .success(try await take(batch, of: file)) } catch { return .failure(error) }
    }

    /// Has the journal take a batch of a file, waiting for room in it if need be.
    ///
    /// - Returns: a receipt for each notification; nil when the wait was cancelled.
    func take(_ batch: NotificationInput.Batch, of file: InputFile) async throws(ToolError) -> [Receipt]? {
        try await take(batch, note: try note(batch, of: file))
    }

    /// - Parameter note: is kept in the same commit.
    func take(
        _ batch: NotificationInput.Batch, note: (name: String, value: [UInt8])?
    ) async throws(ToolError) -> [Receipt]? {
        let start = ContinuousClock.now
        defer { report.withLock { $0.waitsForRoom = nil } }
        var stuckLooks = 0
        while true {
            let receipts = try await submit(batch, note: note)
            guard let refusal = wantOfRoom(receipts) else { return receipts }
            if let fullLimit, ContinuousClock.now - start >= fullLimit {
                let waited = fullLimit > .zero ? " and was for \(DurationText.text(fullLimit))" : ""
                throw ToolError(
                    .inputOutput,
                    "\(refusal.detail)\(waited). \(note == nil ? "Send it again" : "--resume goes on") when there is room"
                )
            }
            report.withLock { $0.waitsForRoom = refusal.detail }
            let stuck = whyStuck()
            stuckLooks = stuck == nil ? 0 : stuckLooks + 1
            if let stuck, stuckLooks >= Self.stuckLooks {
                throw ToolError(stuck.status, "\(refusal.detail); \(stuck.message)")
            }
            do { try await Task.sleep(for: Self.fullPause) } catch { return nil }
        }
    }

    private func submit(
        _ batch: NotificationInput.Batch, note: (name: String, value: [UInt8])?
    ) async throws(ToolError) -> [Receipt] {
        do {
            return try await engine.submit(batch.notifications, as: batch.producer, note: note)
        } catch {
            throw ToolError(error, otherwise: .inputOutput)
        }
    }

    private func wantOfRoom(_ receipts: [Receipt]) -> Refusal? {
        for case .refused(let refusal) in receipts where refusal.isForNow { return refusal }
        return nil
    }

    /// - Returns: false when the engine is shutting down: then nothing of the batch was taken.
    private func count(
        _ receipts: [Receipt], of batch: NotificationInput.Batch, name: String, reporter: inout FaultReporter
    ) throws(ToolError) -> Bool {
        var accepted = 0
        var repeated = 0
        for (index, receipt) in receipts.enumerated() {
            switch receipt {
            case .accepted:
                accepted += 1
            // Taken before, and over: the line is dealt with, and nothing new was taken.
            case .repeated:
                repeated += 1
            case .refused(let refusal) where refusal.reason == .shuttingDown:
                return false
            case .refused(let refusal) where refusal.reason == .journalFailed:
                throw ToolError(
                    .inputOutput, "\(name): nothing was taken from line \(batch.lines[index]) on: \(refusal.detail)")
            case .refused(let refusal):
                reporter.refused(line: batch.lines[index], refusal)
            case .undetermined(let error):
                throw ToolError(
                    .inputOutput,
                    "\(name): nobody can say whether lines \(batch.lines[0]) to \(batch.lineCount) were taken "
                        + "(--resume finds out): \(error.message)")
            }
        }
        for (line, fault) in batch.faults { reporter.malformed(line: line, fault) }
        report.withLock { report in
            report.accepted += accepted
            report.repeated += repeated
        }
        return true
    }

    private func publish(
        _ batch: NotificationInput.Batch, of file: InputFile, linesBefore: Int, _ reporter: FaultReporter
    ) {
        report.withLock { report in
            report.lines = batch.lineCount - linesBefore
            report.malformed = reporter.malformed
            report.refused = reporter.refused
            report.finished = batch.isLast
            report.fraction = batch.isLast ? 1 : file.size.map { min(1, Double(batch.offset) / Double(max($0, 1))) }
        }
    }

    private func note(_ batch: NotificationInput.Batch, of file: InputFile) throws(ToolError) -> (
        name: String, value: [UInt8]
    )? {
        guard let identity = file.identity, let progress = batch.progress(of: file) else { return nil }
        return (identity.noteName, try progress.noted(ledger?.ids))
    }
}
