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

    /// The damage of the ledgers, a sentence each, for people.
    private(set) var damages: [String] = []

    private enum CodingKeys: CodingKey { case expected, taken, accepted, lost, duplicates, unexpected, damaged }

    /// - Throws: ``ToolError`` when the input or a ledger cannot be read, is something else, or has nothing to do with the other.
    init(comparing input: InputFile, with ledgers: [InputFile]) async throws(ToolError) {
        var ledger = LedgerIndex()
        for file in ledgers { try await ledger.read(file) }
        (taken, damaged, damages) = (ledger.lineCount, ledger.damagedCount, ledger.damages)

        var services: Set<LedgerLine.Service> = []
        // Lines without an apns-id got one at submission, so any unclaimed one of their recipient matches. A message of Google's
        // may have gone with an id of the sender's own.
        var anonymous: [Recipient: Int] = [:]
        var renamed: [Recipient: Int] = [:]
        try await Self.forEachNotification(of: input) { notification in
            expected += 1
            services.insert(LedgerLine.Service(notification.recipient))
            if ledger.take(notification) {
                accepted += 1
            } else if notification.id == nil {
                anonymous[notification.recipient, default: 0] += 1
            } else {
                renamed[notification.recipient, default: 0] += 1
            }
        }
        try ledger.check(services, of: input.name)
        for (recipient, count) in renamed { accepted += ledger.take(count, of: recipient, haveIDs: true) }
        for (recipient, count) in anonymous { accepted += ledger.take(count, of: recipient, haveIDs: false) }
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
        var input = NotificationInput(file, defaults: LineDefaults(topic: "any", project: "any"))
        let validator = NotificationValidator()
        while true {
            let batch = try await input.next()
            for notification in batch.notifications {
                // A message of Google's was read as such with its line.
                if notification.recipient.serviceAddress == nil {
                    do throws(Refusal) {
                        try validator.validate(notification, now: WallTime(seconds: 0))
                    } catch {
                        continue
                    }
                }
                body(notification)
            }
            if batch.isLast { break }
        }
    }
}
