/// Decides whether a refusal of the credentials is about the topic of the refused entry: a key may be good for some topics
/// of a route and not for others.
///
/// A topic of which nothing was taken with these credentials, while others are taken with them, is refused for its own sake.
/// A topic of which something was taken says by a refusal that the credentials were revoked: see ``CredentialTrial``. Unless others
/// go on being taken: then they are good for it no longer.
///
/// A pure machine, and bounded.
struct CredentialTopics: Sendable {
    enum Finding: Hashable, Sendable {
        /// The refusal is about the credentials as a whole.
        case credentials
        /// It may be about the topic: the entry waits for a moment.
        case doubtful
        /// It is about the topic.
        case topic
    }

    /// So many refusals of a topic are about the topic.
    static let leastRefusals = 3
    private static let limit = 1000

    /// Topics of which something was taken with these credentials, since they were convicted last.
    private var proven: Set<UInt32> = []
    /// Refusals of topics that are not proven.
    private var refusals: [UInt32: Int] = [:]
    /// Proven topics that are refused while others are taken: how often, with others taken in between, and when that was last.
    private var doubts: [UInt32: (rounds: Int, at: Duration)] = [:]
    /// Two such refusals are so far apart: what was under way when the credentials were revoked says nothing.
    private static let apart = Duration.seconds(1)
    /// How often topics were refused since anything was taken.
    private var refusedSince = TopicTally()
    /// The topic of which something was taken last, with no refusal since.
    private var last = TopicBreakers.none

    /// Whether anything was refused since something was taken.
    var hasRefused: Bool { !refusedSince.isEmpty }

    /// Whether something of the topic was taken with these credentials.
    func isProven(_ topic: UInt32) -> Bool { proven.contains(topic) }

    /// Whether this topic was refused since anything was taken.
    func hasRefused(_ topic: UInt32) -> Bool { refusedSince.contains(topic) }

    /// Whether this one was, once, and is one of the first topics that were: another one may fare better.
    func isFirst(_ topic: UInt32) -> Bool { refusedSince.isFirst(topic) }

    /// Other credentials are in use: nothing is known of them.
    mutating func begin() { self = CredentialTopics() }

    /// Something of the topic was taken.
    mutating func confirmed(_ topic: UInt32) {
        refusedSince.clear()
        guard topic != last, topic != TopicBreakers.none else { return }
        last = topic
        refusals[topic] = nil
        if !doubts.isEmpty { doubts[topic] = nil }
        if proven.count >= Self.limit { proven = [] }
        proven.insert(topic)
    }

    /// The credentials were refused for an entry of the topic.
    ///
    /// - Parameter now: by the monotonic clock.
    mutating func refused(_ topic: UInt32, now: Duration) -> Finding {
        last = TopicBreakers.none
        if proven.contains(topic), !hasRefused(topic) { doubt(topic, now: now) }
        refusedSince.add(topic)
        guard isUnproven(topic) else { return .credentials }
        if refusals.count >= Self.limit { refusals = [:] }
        refusals[topic, default: 0] += 1
        return finding(topic)
    }

    private mutating func doubt(_ topic: UInt32, now: Duration) {
        let doubt = doubts[topic]
        guard doubt.map({ now - $0.at >= Self.apart }) ?? true else { return }
        if doubts.count >= Self.limit { doubts = [:] }
        doubts[topic] = ((doubt?.rounds ?? 0) + 1, now)
        guard doubts[topic]!.rounds >= Self.leastRefusals, proven.count > 1 else { return }
        proven.remove(topic)
        doubts[topic] = nil
        refusals[topic] = Self.leastRefusals
    }

    /// The conclusion from the topic's refusals up to now.
    func finding(_ topic: UInt32) -> Finding {
        guard isUnproven(topic) else { return .credentials }
        return refusals[topic, default: 0] >= Self.leastRefusals ? .topic : .doubtful
    }

    /// The credentials are convicted: what they were good for before says nothing any more.
    mutating func convicted() {
        proven = []
        refusals = [:]
        doubts = [:]
        last = TopicBreakers.none
    }

    private func isUnproven(_ topic: UInt32) -> Bool {
        topic != TopicBreakers.none && !proven.isEmpty && !proven.contains(topic)
            && refusedSince.isOfFew
    }
}
