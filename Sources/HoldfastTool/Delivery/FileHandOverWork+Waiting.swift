internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Waits for the ends of what the owner took, as long as it is worth waiting.
extension FileHandOverWork {
    mutating func untilSettled() async throws {
        await link.release()
        while true {
            try await journal.tell(plan.ledger)
            if await plan.ledger.open == 0 { return }
            if try await lookIfDue() { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Waits so long, or until the owner says that there is room.
    mutating func waitForRoom(atMost limit: Duration) async throws {
        let end = ContinuousClock.now + limit
        roomIsTold = false
        while true {
            try await lookIfDue()
            let left = end - ContinuousClock.now
            if roomIsTold || left <= .zero { return }
            try await Task.sleep(for: min(left, Self.look))
        }
    }

    /// Tells outcomes to the ledger, and looks whether it is worth waiting, now and then.
    ///
    /// - Returns: whether nothing is left but what waits for its time, or for an operator.
    /// - Throws: ``ToolError`` when waiting should end.
    @discardableResult
    mutating func lookIfDue() async throws -> Bool {
        let now = ContinuousClock.now
        guard now >= nextLook else { return false }
        nextLook = now + Self.look
        try await journal.tell(plan.ledger)
        let awaited = try await awaited()
        let report = taken.withLock { $0 }
        let status = try await status()
        if room.look(status) { roomIsTold = true }
        let finding = watch.look(status, awaited ?? .init(), at: now - Self.epoch)
        let isGiving = !report.finished
        // While there is more to give, an owner that has gone is waited for where it is asked.
        if let error = finding.error, !isGiving || report.waitsForRoom != nil { throw error }
        let trouble = finding.trouble ?? report.waitsForRoom
        if told.isNew(trouble, at: now), let trouble, !plan.console.isInteractive {
            plan.console.warning("\(trouble); waiting")
        }
        let open = await plan.ledger.open
        plan.console.showStatus(
            "\(Format.count(report.accepted)) taken, \(Format.count(open)) waiting" + (trouble.map { ": \($0)" } ?? ""))
        return awaited == nil
    }

    /// What the first of those wait for that wait to be sent.
    ///
    /// - Returns: nil when none does.
    private mutating func awaited() async throws -> HandOverWatch.Awaited? {
        while true {
            try Task.checkCancellation()
            let (uids, next) = await plan.ledger.waiting(from: place, limit: 200)
            guard !uids.isEmpty else {
                place = 0
                return nil
            }
            var ended: [(UID, TerminalOutcome?)] = []
            var entries: [(String, EntryFate?)] = []
            for (uid, standing) in zip(uids, try await journal.reading { try await $0.standings(uids) }) {
                switch standing.fate {
                case nil: ended.append((uid, nil))
                case .settled(let end)?: ended.append((uid, end))
                default: entries.append((standing.topic ?? "", standing.fate))
                }
            }
            var awaited = HandOverWatch.Awaited(entries)
            if !ended.isEmpty {
                // Their outcomes have come by now, if they are kept.
                try await journal.tell(plan.ledger)
                for (uid, end) in ended { try await plan.ledger.settle(uid, end) }
            }
            guard awaited.count == 0 else {
                awaited.count = await plan.ledger.open
                return awaited
            }
            place = next
        }
    }

    /// - Returns: nil when nobody serves the journal.
    private mutating func status() async throws -> DeskStatus? {
        do {
            let desk = try await RemoteDesk(journal: journal.directory)
            let status = try await desk.status()
            await desk.close()
            return status
        } catch let error as ControlError where error.mayPass {
            return nil
        }
    }
}
