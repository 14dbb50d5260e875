internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Performs a ``FileHandOver``: gives batch after batch to the owner, and waits.
struct FileHandOverWork {
    /// How often outcomes are looked for, and the owner's state.
    static let pause = Duration.milliseconds(50)
    static let look = Duration.milliseconds(200)
    static let epoch = ContinuousClock.now

    let plan: FileHandOver
    /// Where others can see how far it is.
    let taken: Monitor<FeedReport>
    var link: OwnerLink
    /// The note of the file, as the journal has it.
    var noted: [UInt8]?
    var watch: HandOverWatch
    var nextLook = ContinuousClock.now
    var told = ToldTrouble()
    /// While the owner has no room.
    var room = RoomWait()
    var roomIsTold = false
    /// While the owner takes nothing, because it ends or its journal has failed.
    private var refusal: OwnerWait?
    /// Notifications without an outcome before this place wait for nothing but their time.
    var place = 0

    init(plan: FileHandOver, taken: Monitor<FeedReport>, link: OwnerLink, noted: [UInt8]?) {
        (self.plan, self.taken, self.link, self.noted) = (plan, taken, link, noted)
        watch = HandOverWatch(giveUpAfter: plan.options.giveUpAfter)
    }

    var journal: OwnedJournal { plan.journal }
    private var file: InputFile { plan.task.input.file }

    /// - Returns: why it ended before all were taken and had their end; nil where nothing did.
    mutating func perform() async -> ToolError? {
        do {
            try await give()
            if !plan.options.isQueueOnly { try await untilSettled() }
            await link.release()
            return nil
        } catch is CancellationError {
            await link.release()
            return nil
        } catch {
            await link.release()
            return ToolError(error, otherwise: .inputOutput)
        }
    }

    // MARK: Giving

    private mutating func give() async throws {
        var input = plan.task.input
        var start = plan.task.place.progress
        let linesBefore = start?.lines ?? 0
        var reporter = FaultReporter(console: plan.console, name: file.name)
        defer { reporter.finish() }
        while true {
            let batch = try await input.next()
            for part in batch.parts(of: FileHandOver.requestCount, from: start) {
                try Task.checkCancellation()
                try await plan.ledger.willTake()
                let receipts = try await take(part)
                // Before the report is written, which may fail: what was taken counts.
                count(receipts, of: part, &reporter)
                taken.withLock { report in
                    report.lines = part.lineCount - linesBefore
                    (report.malformed, report.refused) = (reporter.malformed, reporter.refused)
                    report.finished = part.isLast
                }
                try await plan.ledger.took(part, receipts)
            }
            start = batch.progress(of: file)
            try await lookIfDue()
            if batch.isLast { return }
        }
    }

    /// - Returns: a receipt for each.
    private mutating func take(_ part: NotificationInput.Batch) async throws -> [Receipt] {
        let note = try note(part)
        // Nothing that the journal would have to know.
        guard note != nil || !part.notifications.isEmpty else { return [] }
        let start = ContinuousClock.now
        defer { taken.withLock { $0.waitsForRoom = nil } }
        while true {
            switch try await attempt(part, note) {
            case .taken(let receipts):
                noted = note?.value ?? noted
                room.taken()
                return receipts
            case .lost:
                if let receipts = try await receipts(of: part, note) {
                    noted = note?.value ?? noted
                    return receipts
                }
            case .full(let refusal):
                taken.withLock { $0.waitsForRoom = refusal.detail }
                if let limit = plan.options.fullLimit, ContinuousClock.now - start >= limit {
                    throw ToolError(.inputOutput, "\(refusal.detail). --resume goes on when there is room")
                }
                // Nothing of it is on its way, so outcomes of others are passed over; else what has ended would be looked for
                // one by one among all of them.
                await plan.ledger.didNotTake()
                let pause = room.refused(random: .random(in: 0..<1))
                let left = plan.options.fullLimit.map { $0 - (ContinuousClock.now - start) } ?? pause
                try await waitForRoom(atMost: min(pause, left))
                try await plan.ledger.willTake()
            }
        }
    }

    private enum Attempt {
        case taken([Receipt])
        /// Nobody has said whether it was taken.
        case lost
        case full(Refusal)
    }

    private mutating func attempt(_ part: NotificationInput.Batch, _ note: RestoreNote?) async throws -> Attempt {
        do {
            let receipts = try await link.connected().submit(part.notifications, as: part.producer, note: note)
            for receipt in receipts {
                switch receipt {
                case .refused(let refusal) where refusal.isForNow: return .full(refusal)
                case .refused(let refusal) where [.shuttingDown, .journalFailed].contains(refusal.reason):
                    await link.lose()
                    try await sitOut(refusal, part)
                    return .lost
                case .undetermined:
                    await link.lose()
                    return .lost
                case .accepted, .repeated, .refused: break
                }
            }
            refusal = nil
            return .taken(receipts)
        } catch let error as ControlError where error.mayHaveBeenDone {
            await link.lose()
            return .lost
        } catch let error as JournalError where error.code == .closed || error.needsReopening {
            await link.lose()
            return .lost
        } catch let error as ControlError where error.code == .unknownRequest {
            throw ToolError(
                .cannotOpen,
                "\(link.owner) uses the journal, and is of a Holdfast that takes no files: restart it with this one")
        } catch let error as JournalError where error.code == .inUse {
            // Of this run's own, of which no answer came; or of another's, which is never the same.
            guard let note,
                try await journal.reading({ try await $0.note(note.name) }) == note.value
            else { throw FileHandOver.takenByAnother(file.name) }
            return .lost
        } catch let error as JournalError where error.code == .notFound {
            throw ToolError(
                .cannotOpen,
                "\(link.owner) uses the journal and delivers nothing, so it takes no file: try again when it has ended")
        }
    }

    /// Gives the owner time to end, or to open its journal anew.
    private mutating func sitOut(_ refusal: Refusal, _ part: NotificationInput.Batch) async throws {
        let wait = self.refusal ?? OwnerWait()
        self.refusal = wait
        guard !wait.isOver else {
            throw ToolError(
                .inputOutput,
                "\(file.name): nothing was taken from line \(part.lines.first ?? part.lineCount) on: \(refusal.detail)")
        }
        try await wait.pause()
    }

    /// Finds out what became of a part of which no answer came.
    ///
    /// - Returns: nil where it was not taken.
    private mutating func receipts(
        of part: NotificationInput.Batch, _ note: RestoreNote?
    ) async throws -> [Receipt]? {
        guard let note, let progress = part.progress(of: file) else {
            throw ToolError(
                .inputOutput,
                "nobody can say what of lines \(part.lines.first ?? 0) to \(part.lineCount) was taken, and \(file.name) can't be "
                    + "read again: `holdfast journal find` and `list` say it")
        }
        // Whoever has the journal now has committed what its predecessor could.
        _ = try await link.connected()
        let cursor = await plan.ledger.cursor
        return try await journal.reading { source in
            guard try await source.note(note.name) == note.value else { return nil }
            var found = LostReceipts.Found(progress: progress)
            found.items = part.notifications.indices.map {
                LostReceipts.Found.Item(line: part.lines[$0], notification: part.notifications[$0])
            }
            try await LostReceipts(source: source, cursor: cursor, areOfThisReport: true).look(for: &found)
            return found.items.map { item in
                if let uid = item.uid { return .accepted(uid) }
                return item.isUntold
                    ? .undetermined(JournalError(.undetermined, item.detail))
                    : .refused(Refusal(item.reason ?? .receiptLost, item.detail))
            }
        }
    }

    private func note(_ part: NotificationInput.Batch) throws(ToolError) -> RestoreNote? {
        guard let identity = file.identity, let progress = part.progress(of: file) else { return nil }
        return RestoreNote(name: identity.noteName, value: try progress.noted(plan.ledger.ids), before: noted)
    }

    private func count(
        _ receipts: [Receipt], of part: NotificationInput.Batch, _ reporter: inout FaultReporter
    ) {
        for (index, receipt) in receipts.enumerated() {
            switch receipt {
            case .accepted: taken.withLock { $0.accepted += 1 }
            case .repeated: taken.withLock { $0.repeated += 1 }
            case .refused(let refusal): reporter.refused(line: part.lines[index], refusal)
            case .undetermined: break
            }
        }
        for (line, fault) in part.faults { reporter.malformed(line: line, fault) }
    }
}

extension ControlError {
    /// Whether the request may have been done although no answer came, or the owner has gone.
    fileprivate var mayHaveBeenDone: Bool { mayPass || [.timedOut, .failed].contains(code) }
}

extension Reason {
    /// A line that was refused while a connection broke, so that nobody heard why.
    fileprivate static let receiptLost = Reason(rawValue: "ReceiptLost")
}
