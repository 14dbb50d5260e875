/// Looks through the rejections of a journal for those that its log of outcomes does not have.
struct RejectionSearch {
    /// Rejections that one page reads, and for how many of them it asks the log.
    private static let (greatestRows, greatestLooks) = (8192, 256)

    private let journal: any JournalService
    private let query: OutcomeQuery
    private let limit: Int

    init(_ journal: any JournalService, _ query: OutcomeQuery, limit: Int) {
        (self.journal, self.query, self.limit) = (journal, query, limit)
    }

    /// - Parameter uid: see ``OutcomeDesk/findRejections(_:after:limit:)``.
    func page(after uid: UID) throws(JournalError) -> RejectionPage {
        guard (query.ending ?? "rejected") == "rejected" else { return RejectionPage() }
        var page = RejectionPage()
        var (rows, looks) = (0, 0)
        // Of one UID, only its own row.
        var last = max(uid, query.uid.map { UID($0.rawValue - min($0.rawValue, 1)) } ?? .none)
        while rows < Self.greatestRows {
            let found = try journal.rejections(after: last, limit: query.uid == nil ? 512 : 1)
            guard !found.isEmpty else { return page }
            rows += found.count
            for rejection in found {
                last = rejection.uid
                if let wanted = query.uid, last > wanted { return page }
                let outcome = Outcome(rejection)
                guard query.matches(outcome) else { continue }
                looks += 1
                if try !isLogged(last) { page.outcomes.append(outcome) }
                guard page.outcomes.count < limit, looks < Self.greatestLooks else {
                    page.end = last
                    return page
                }
            }
        }
        page.end = last
        return page
    }

    private func isLogged(_ uid: UID) throws(JournalError) -> Bool {
        var query = OutcomeQuery()
        query.uid = uid
        return try !journal.findOutcomes(query, before: nil, limit: 1, mostBytes: .max).outcomes.isEmpty
    }
}

extension Outcome {
    /// The end of a rejection that has no place in the log.
    fileprivate init(_ rejection: Rejection) {
        let notification = rejection.notification
        let isAttempt = rejection.cause.status != nil
        self.init(
            uid: rejection.uid, terminal: .rejected(rejection.cause.reason), cause: rejection.cause,
            history: DeliveryHistory(
                acceptedAt: rejection.acceptedAt, settledAt: rejection.cause.rejectedAt,
                attempts: rejection.attempts + (isAttempt ? 1 : 0)),
            id: notification.id ?? NotificationID(high: 0, low: 0), recipient: notification.recipient,
            topic: notification.topic, producer: rejection.producer, tag: notification.tag,
            context: notification.context)
    }
}
