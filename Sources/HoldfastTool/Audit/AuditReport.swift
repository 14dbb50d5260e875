internal import Holdfast
internal import HoldfastService

/// The comparison of a service's ledger with the input. The names of its properties are those of the JSON.
struct AuditReport: Encodable, Equatable {
    /// Notifications in the input; malformed lines and those that `send` would refuse are not among them.
    var expected = 0
    /// Lines of the ledgers: how often any notification was taken.
    var taken = 0
    /// Notifications of the input that were taken, once or more often.
    var accepted = 0
    /// Notifications of the input that were never taken.
    var lost = 0
    /// How often a notification was taken after its first time.
    var duplicates = 0
    /// Notifications that were taken and are not in the input.
    var unexpected = 0
    /// Lines of the ledgers that are torn or damaged.
    var damaged = 0

    /// - Throws: ``ToolError`` when the input or a ledger cannot be read.
    init(comparing input: InputFile, with ledgers: [InputFile]) async throws(ToolError) {
        var ledger = LedgerIndex()
        for file in ledgers { try await ledger.read(file) }
        taken = ledger.lineCount
        damaged = ledger.damagedCount

        // Lines without an apns-id got one at submission, so any unclaimed one of their recipient matches.
        var anonymous: [Recipient: Int] = [:]
        try await Self.forEachNotification(of: input) { notification in
            expected += 1
            if let id = notification.id, ledger.take(id, notification.recipient) {
                accepted += 1
            } else if ledger.take(payload: notification.payload, notification.recipient) {
                accepted += 1
            } else if notification.id == nil {
                anonymous[notification.recipient, default: 0] += 1
            }
        }
        for (recipient, count) in anonymous {
            let found = min(count, ledger.remaining(of: recipient))
            ledger.take(found, of: recipient)
            accepted += found
        }
        lost = expected - accepted
        unexpected = ledger.remainingCount
        duplicates = ledger.lineCount - ledger.distinctCount
    }

    func text() -> String {
        var rows = [
            ("expected", Format.count(expected), "notifications in the input"),
            ("accepted", Format.count(accepted), "of them by the push service"),
            ("lost", Format.count(lost), ""),
            ("duplicates", Format.count(duplicates), "taken again"),
        ]
        if unexpected > 0 { rows.append(("unexpected", Format.count(unexpected), "not in the input")) }
        if damaged > 0 { rows.append(("damaged", Format.count(damaged), "lines of the ledger")) }
        return DeliverySummary.table(rows)
    }

    private static func forEachNotification(
        of file: InputFile, _ body: (PushNotification) -> Void
    ) async throws(ToolError) {
        // The topic does not matter here, and what has expired since was not expired when it was sent.
        var input = NotificationInput(file, defaultTopic: "any")
        let validator = NotificationValidator()
        while true {
            let batch = try await input.next()
            for notification in batch.notifications {
                do throws(Refusal) {
                    try validator.validate(notification, now: WallTime(seconds: 0))
                } catch {
                    continue
                }
                body(notification)
            }
            if batch.isLast { break }
        }
    }
}
