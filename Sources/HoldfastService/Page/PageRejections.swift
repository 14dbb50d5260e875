internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Rejections by reason and topic, with what each reason means.
enum PageRejections {
    /// Reasons and topics that are told apart; the rest is counted in the total.
    private static let greatestCount = 200

    static let operations: [PageOperation] = [
        .reading("api/rejections", PageItems.entryNames) { call in
            let filter = try call.items.filter([.rejected])
            return try PageReply.json(try await call.journal.read { try count($0, filter) })
        }
    ]

    private struct Group: Encodable {
        var reason: String
        var topic: String
        var status: Int?
        var count = 0
        var oldestAt: ExactTime
        var newestAt: ExactTime
        /// What the reason means, and what to do; sentences without a full stop.
        var meaning: String
        var advice: String?

        init(_ cause: RejectionCause, topic: String) {
            let guide = ReasonGuide.of(cause.reason, status: cause.status)
            (reason, self.topic, status) = (cause.reason.rawValue, topic, cause.status)
            (oldestAt, newestAt) = (ExactTime(cause.rejectedAt), ExactTime(cause.rejectedAt))
            (meaning, advice) = (guide.meaning, guide.advice)
        }

        mutating func add(_ cause: RejectionCause) {
            count += 1
            oldestAt = ExactTime(min(oldestAt.value, cause.rejectedAt))
            newestAt = ExactTime(max(newestAt.value, cause.rejectedAt))
        }
    }

    private struct Groups: Encodable {
        var groups: [Group]
        var total: Int
        /// Whether all was looked at, in the time that a request has.
        var isWhole: Bool
    }

    private static func count(_ reader: JournalReader, _ filter: EntryFilter) throws -> Groups {
        let deadline = PageDeadline()
        var groups: [String: Group] = [:]
        var (total, isWhole) = (0, true)
        var listing = reader.listing(matching: filter)
        while let page = try listing.next() {
            for entry in page {
                guard case .rejected(let cause) = entry.state else { continue }
                total += 1
                let topic = entry.notification.topic
                let key = "\(cause.reason.rawValue)\u{0}\(topic)"
                guard groups[key] != nil || groups.count < greatestCount else { continue }
                groups[key, default: Group(cause, topic: topic)].add(cause)
            }
            if deadline.hasPassed, listing.position != nil {
                isWhole = false
                break
            }
        }
        let sorted = groups.values.sorted { ($1.count, $0.reason, $0.topic) < ($0.count, $1.reason, $1.topic) }
        return Groups(groups: sorted, total: total, isWhole: isWhole)
    }
}
