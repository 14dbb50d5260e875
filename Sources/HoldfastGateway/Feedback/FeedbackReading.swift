internal import Holdfast
internal import HoldfastLegacyAPNs

/// One client's reading of the blacklist, page by page: the topic's entries that were added since the last one.
struct FeedbackReading: Sendable {
    struct Page: Sendable {
        /// Tuples.
        var bytes: [UInt8] = []
        var count = 0
        /// Behind this page; nil when it was the last.
        var rest: FeedbackReading?
    }

    let topic: String
    /// The push service that the topic's notifications go to; nil when no route serves it. What another one has said of a
    /// token, such as that of development, says nothing of it here.
    let endpoint: String?
    /// Numbers of additions: told before; and the last one of this reading.
    let after: UInt64
    let through: UInt64
    /// The blacklist is ordered by tokens.
    private(set) var position: DeviceToken?

    init(topic: String, endpoint: String?, after: UInt64, through: UInt64) {
        self.topic = topic
        self.endpoint = endpoint
        self.after = after
        self.through = through
    }

    /// Whether there is anything new to look for.
    var isOfUse: Bool { through > after }

    private func isMeant(_ entry: BlacklistEntry) -> Bool {
        entry.topic == topic && entry.scope.covers(topic: topic, endpoint: endpoint) && entry.number > after
            && entry.number <= through
    }

    /// - Parameter entries: of the blacklist, from the first behind ``position`` on.
    func page(_ entries: [BlacklistEntry], isLast: Bool) -> Page {
        var page = Page()
        // A token's entries come together, and it is told once.
        var told: DeviceToken?
        for entry in entries where isMeant(entry) && entry.token != told {
            FeedbackTuple(token: entry.token, since: entry.since).append(to: &page.bytes)
            page.count += 1
            told = entry.token
        }
        if !isLast, let last = entries.last {
            var rest = self
            rest.position = last.token
            page.rest = rest
        }
        return page
    }
}
