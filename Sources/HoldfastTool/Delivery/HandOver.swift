internal import Holdfast
internal import HoldfastControl
internal import HoldfastService
internal import UnixSignals

/// Gives notifications by hand to the process that uses the journal, and waits until that has brought them to their end.
struct HandOver {
    let desk: RemoteDesk
    let journal: OwnedJournal
    /// Whether the owner's taking is all that is waited for.
    var isQueueOnly = false
    /// How long nothing may be sent, or be sent in vain, in one piece; nil for ever.
    var giveUpAfter: Duration?
    /// Whether the summary is printed as JSON.
    var json = false
    var console = Console.standard

    private typealias Entry = (uid: UID, topic: String)

    private enum Ending {
        case over(ToolError?)
        case interrupted
    }

    /// How often the owner is asked how it does.
    private static let look = Duration.milliseconds(200)

    /// - Throws: ``JournalError`` with code `notFound` where the owner delivers nothing; nothing was done then.
    func run(_ notifications: [PushNotification]) async throws -> ToolStatus {
        let start = ContinuousClock.now
        // From here on a signal ends the waiting.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        var (receipts, error) = try await submit(notifications)
        // The owner has few connections, and waiting may be long: others need them, too.
        await desk.close()
        var summary = HandOverSummary(owner: desk.owner, queueOnly: isQueueOnly)
        if !isQueueOnly, error == nil {
            console.note("\(desk.owner) uses the journal: it takes and sends")
            let topics = zip(receipts, notifications).compactMap { receipt, notification in
                receipt.awaited.map { ($0, notification.topic) }
            }
            switch await wait(for: topics, signals) {
            case .over(let trouble): error = trouble
            case .interrupted: summary.interrupted = true
            }
            console.showStatus("")
        }
        let register = await register(of: receipts, &error)
        summary.notifications = try zip(notifications, receipts).map { try NotificationReport($0, $1, in: register) }
        summary.elapsedSeconds = Double(max((ContinuousClock.now - start).wholeMilliseconds, 1)) / 1000
        summary.error = error?.message
        let status = summary.status(error: error)
        summary.exitCode = status.rawValue
        if let error { console.error(error.message) }
        console.print(json ? try JSONOutput.line(summary) : summary.text())
        return status
    }

    /// What became of them.
    ///
    /// - Returns: nil where that can't be read, with the error that says why.
    private func register(of receipts: [Receipt], _ error: inout ToolError?) async -> FateRegister? {
        let uids = receipts.compactMap(\.uid)
        guard !uids.isEmpty else { return FateRegister([:]) }
        do {
            let standings = try await journal.reading(isPatient: error == nil) { try await $0.standings(uids) }
            return FateRegister(Dictionary(zip(uids, standings), uniquingKeysWith: { $1 }))
        } catch let failure {
            error = error ?? ToolError(failure, otherwise: .inputOutput)
            return nil
        }
    }

    /// - Returns: a receipt for each. Where the owner's answer was lost, the error that says so: nobody can say then what
    ///   became of those without one.
    private func submit(_ notifications: [PushNotification]) async throws -> ([Receipt], ToolError?) {
        var receipts: [Receipt] = []
        var rest = notifications[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(OperatorDeskLimits.batch))
            do {
                receipts += try await desk.submit(batch)
            } catch let error as ControlError where [.timedOut, .disconnected, .failed].contains(error.code) {
                let lost = JournalError(.undetermined, error.message)
                receipts += Array(repeating: .undetermined(lost), count: rest.count)
                return (
                    receipts,
                    ToolError(
                        .inputOutput,
                        "nobody can say what of it was taken; again with its apns-id as --id, one goes once: \(error.message)"
                    )
                )
            }
            rest = rest.dropFirst(batch.count)
        }
        return (receipts, nil)
    }

    private func wait(for entries: [Entry], _ signals: UnixSignalsSequence) async -> Ending {
        await withTaskGroup(of: Ending?.self) { tasks in
            tasks.addTask {
                for await _ in signals { return .interrupted }
                return nil
            }
            tasks.addTask {
                do {
                    return .over(try await untilSettled(entries))
                } catch is CancellationError {
                    return nil
                } catch {
                    return .over(ToolError(error, otherwise: .inputOutput))
                }
            }
            var ending: Ending?
            while ending == nil, let next = await tasks.next() { ending = next }
            tasks.cancelAll()
            return ending ?? .interrupted
        }
    }

    /// - Returns: why it was no use to wait any longer; nil when all have met their end.
    private func untilSettled(_ entries: [Entry]) async throws -> ToolError? {
        var watch = HandOverWatch(giveUpAfter: giveUpAfter)
        var waiting = entries
        var told = ToldTrouble()
        var nextLook = ContinuousClock.now + Self.look
        var status: DeskStatus?
        while true {
            let uids = waiting.map(\.uid)
            let fates = try await journal.reading { try await $0.standings(uids) }.map(\.fate)
            let awaited = HandOverWatch.Awaited(zip(waiting.map(\.topic), fates))
            waiting = zip(waiting, fates).filter { $1?.awaitedLane != nil }.map(\.0)
            guard !waiting.isEmpty else { return nil }
            let now = ContinuousClock.now
            if now >= nextLook {
                nextLook = now + Self.look
                status = try await self.status(before: status)
                let finding = watch.look(status, awaited, at: now - Self.epoch)
                if let error = finding.error { return error }
                if told.isNew(finding.trouble, at: now), let trouble = finding.trouble, !console.isInteractive {
                    console.warning("\(trouble); waiting")
                }
                console.showStatus(
                    "\(Format.count(waiting.count)) waiting" + (finding.trouble.map { ": \($0)" } ?? ""))
            }
            try await Task.sleep(for: journal.pause)
        }
    }

    private static let epoch = ContinuousClock.now

    /// - Parameter last: stands for an owner that has no connection left to answer on.
    /// - Returns: nil when nobody serves the journal.
    private func status(before last: DeskStatus?) async throws -> DeskStatus? {
        do {
            let status = try await desk.status()
            await desk.close()
            return status
        } catch let error as ControlError where error.code == .busy {
            return last
        } catch let error as ControlError where error.mayPass {
            return nil
        }
    }

}

extension HandOverWatch.Awaited {
    /// - Parameter entries: the topic of each, and where it stands; nil when the journal knows nothing of it.
    init(_ entries: some Sequence<(String, EntryFate?)>) {
        for case (let topic, let fate?) in entries {
            guard let lane = fate.awaitedLane else { continue }
            count += 1
            lanes.insert(lane)
            guard case .deferred(_, let due, _, let reason) = fate else { continue }
            if due.isPlaceOfTopic { topics.insert(topic) } else { putOff = putOff ?? reason }
        }
    }
}

extension EntryFate {
    /// Where it waits to be sent. Nil in quarantine: until an operator decides, nothing more comes of it there; and until the
    /// time that it is scheduled for.
    fileprivate var awaitedLane: LaneKey? {
        switch self {
        case .quarantined, .scheduled: nil
        default: lane
        }
    }
}

extension Receipt {
    /// Of one that may not have met its end.
    fileprivate var awaited: UID? { if case .accepted(let uid) = self { uid } else { nil } }
}
