internal import Holdfast
internal import HoldfastService
internal import Logging

extension DeliveryRun {
    /// Unconfirmed entries of the whole journal; what its lanes hold that no route serves is part of them. Nil when the
    /// journal can't say.
    func unconfirmedNow(_ outcome: inout Outcome) -> Int? {
        do throws(JournalError) {
            let status = try journal.status()
            if !options.routes.isEmpty {
                let lanes = UnservedLane.find(in: status, routes: options.routes.map(\.name))
                outcome.summary.unserved = lanes.isEmpty ? nil : lanes
            }
            outcome.summary.quarantined = status.quarantined > 0 ? status.quarantined : nil
            return status.unconfirmed
        } catch {
            outcome.error = outcome.error ?? ToolError(error)
            return nil
        }
    }

    /// Adds the outcome of each notification that flags gave, if the journal took or refused it.
    func fill(_ outcome: inout Outcome, _ notifications: [PushNotification], from taken: FeedReport) {
        guard !taken.receipts.isEmpty else { return }
        do throws(JournalError) {
            var reports: [NotificationReport] = []
            for (notification, receipt) in zip(notifications, taken.receipts) {
                var report = try NotificationReport(notification, receipt, in: FateRegister(journal))
                report.uniqueID = receipt.uid.flatMap { taken.uniqueIDs[$0] }
                reports.append(report)
            }
            outcome.summary.notifications = reports
            // Trouble of other entries is no failure of these.
            if let error = outcome.error, [.configuration, .entriesLeft].contains(error.status),
                !reports.contains(where: \.isLeft)
            {
                console.warning("\(error.message); this concerns what else the journal holds")
                outcome.error = nil
            }
        } catch {
            outcome.error = outcome.error ?? ToolError(error)
        }
    }

    /// The UID of what is submitted next; nil when the journal can't say.
    func nextUID() -> UID? {
        do throws(JournalError) {
            return try journal.status().nextUID
        } catch {
            logger.warning("it can't be told which notifications are new: \(error)")
            return nil
        }
    }

    /// Notes by which ids the service's console knows what is submitted from `first` on.
    func noteUniqueIDs(
        _ events: AsyncStream<EngineEvent>, from first: UID, in report: Monitor<FeedReport>
    ) async -> Event {
        for await event in events {
            // A backlog may be of any size.
            guard case .identified(_, let uid, let uniqueID) = event, uid >= first else { continue }
            report.withLock { $0.uniqueIDs[uid] = uniqueID }
        }
        return .watchEnded
    }

    func fill(_ summary: inout DeliverySummary, from taken: FeedReport, elapsed: Duration) {
        let status = engine.status()
        summary.lines = taken.lines
        summary.inputFinished = taken.finished
        summary.accepted = taken.accepted
        summary.repeated = taken.repeated
        summary.malformed = taken.malformed
        summary.refused = taken.refused
        summary.confirmed = status.confirmed
        summary.confirmedByAnswer = status.confirmed - status.confirmedByBarrier - status.confirmedByQuiet
        summary.confirmedByBarrier = status.confirmedByBarrier
        summary.confirmedByQuiet = status.confirmedByQuiet
        summary.wronglyConfirmed = status.wronglyConfirmed
        summary.rejected = Dictionary(uniqueKeysWithValues: status.rejected.map { ($0.key.rawValue, $0.value) })
        summary.expired = status.expired
        summary.unknown = status.unknown
        summary.withdrawn = status.withdrawn
        summary.superseded = status.superseded > 0 ? status.superseded : nil
        summary.possibleDuplicates = status.possibleDuplicates
        if !options.feedback.isEmpty { summary.feedback = options.feedback.reduce(0) { $0 + $1.status().tuples } }
        if options.routes.count > 1 {
            summary.routes = options.routes.map { DeliverySummary.Route($0, status) }
        }
        let milliseconds = max(elapsed.wholeMilliseconds, 1)
        summary.elapsedSeconds = Double(milliseconds) / 1000
        summary.perSecond = status.settled * 1000 / Int(milliseconds)
    }
}
