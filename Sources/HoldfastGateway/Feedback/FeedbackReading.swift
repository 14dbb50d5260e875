internal import Holdfast
internal import HoldfastLegacyAPNs

/// One client's reading of the blacklist, page by page: the topic's entries that were added since the last one.
struct FeedbackReading: Sendable {
    struct Page: Sendable {
        /// The most bytes of a TLS record (RFC 8446, section 5.1).
        static let greatestRecord = 1 << 14

        /// Tuples in portions, written one by one, each a TLS record. No tuple is split: clients take the bytes of one
        /// read, which is a record, for whole tuples.
        private(set) var records: [[UInt8]] = []
        private(set) var count = 0
        /// The reading behind this page; nil when it was the last.
        var rest: FeedbackReading?

        mutating func add(_ tuple: FeedbackTuple) {
            var bytes: [UInt8] = []
            tuple.append(to: &bytes)
            count += 1
            guard let last = records.last, last.count + bytes.count <= Self.greatestRecord else {
                return records.append(bytes)
            }
            records[records.count - 1] += bytes
        }
    }

    let topic: String
    /// The push service of the topic's notifications; nil when no route serves it. The answers of another one, such as
    /// the development service, say nothing about a token here.
    let endpoint: String?
    /// Numbers of additions: the last one served before, and the last one of this reading.
    let after: UInt64
    let through: UInt64
    /// The blacklist is ordered by tokens. Behind them come other services' addresses, which this protocol has no form for.
    private(set) var position: Recipient?

    init(topic: String, endpoint: String?, after: UInt64, through: UInt64) {
        self.topic = topic
        self.endpoint = endpoint
        self.after = after
        self.through = through
    }

    /// Whether there may be new entries.
    var isOfUse: Bool { through > after }

    private func isMeant(_ entry: BlacklistEntry) -> Bool {
        entry.topic == topic && entry.scope.covers(topic: topic, endpoint: endpoint) && entry.number > after
            && entry.number <= through
    }

    /// - Parameter entries: the blacklist from behind ``position`` on.
    func page(_ entries: [BlacklistEntry], isLast: Bool) -> Page {
        var page = Page()
        // A token's entries come together; it is served once.
        var told: DeviceToken?
        for entry in entries where isMeant(entry) {
            guard let token = entry.token, token != told else { continue }
            page.add(FeedbackTuple(token: token, since: entry.since))
            told = token
        }
        if !isLast, let last = entries.last {
            var rest = self
            rest.position = last.recipient
            page.rest = rest
        }
        return page
    }
}
