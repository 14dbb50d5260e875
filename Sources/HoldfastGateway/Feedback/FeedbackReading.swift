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
    /// Numbers of additions: told before; and the last one of this reading.
    let after: UInt64
    let through: UInt64
    /// The blacklist is ordered by tokens.
    private(set) var position: DeviceToken?

    init(topic: String, after: UInt64, through: UInt64) {
        self.topic = topic
        self.after = after
        self.through = through
    }

    /// Whether there is anything new to look for.
    var isOfUse: Bool { through > after }

    /// - Parameter entries: of the blacklist, from the first behind ``position`` on.
    func page(_ entries: [BlacklistEntry], isLast: Bool) -> Page {
        var page = Page()
        for entry in entries where entry.topic == topic && entry.number > after && entry.number <= through {
            FeedbackTuple(token: entry.token, since: entry.since).append(to: &page.bytes)
            page.count += 1
        }
        if !isLast, let last = entries.last {
            var rest = self
            rest.position = last.token
            page.rest = rest
        }
        return page
    }
}
