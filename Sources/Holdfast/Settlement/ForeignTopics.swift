/// Finds topics whose requests something else than the service answers, while the service itself answers those of others: a proxy that
/// knows a rule for one of them, or a host that serves some and not all.
///
/// A foreign answer to one topic is a *round* when others were answered by the service since the one before, and both are
/// ``apart``: what was under way when a proxy broke says nothing of any topic. So many rounds, with nothing of the topic answered by
/// the service meanwhile, are about the topic.
///
/// A pure machine, and bounded.
struct ForeignTopics: Sendable {
    /// So many rounds are about the topic.
    static let leastRounds = 3
    /// So many foreign answers to a topic, with none of the service's to anything in between, have others go first.
    static let leastAnswers = 2
    static let apart = Duration.seconds(1)
    private static let limit = 1000

    private var rounds: [UInt32: (count: Int, at: Duration)] = [:]
    /// How many foreign answers topics had since the service answered anything.
    private var answeredSince = TopicTally()

    /// Whether anything had a foreign answer since the service answered something.
    var hasForeign: Bool { !answeredSince.isEmpty }

    /// Whether this topic had.
    func hasForeign(_ topic: UInt32) -> Bool { answeredSince.contains(topic) }

    /// Whether this one had one, and one of the first topics that had: another one may fare better.
    func isFirst(_ topic: UInt32) -> Bool { answeredSince.isFirst(topic) }

    /// The topics before which others go, if anything of others is at hand.
    var behind: [UInt32] { answeredSince.topics(atLeast: Self.leastAnswers) }

    /// Something else than the service has answered an entry of the topic.
    ///
    /// - Parameter now: by the monotonic clock.
    /// - Returns: whether that is about the topic.
    mutating func foreign(_ topic: UInt32, now: Duration) -> Bool {
        guard topic != TopicBreakers.none else { return false }
        if rounds.count >= Self.limit, rounds[topic] == nil { rounds = [:] }
        let isFirst = !hasForeign(topic)
        answeredSince.add(topic)
        let round = rounds[topic]
        if isFirst, round.map({ now - $0.at >= Self.apart }) ?? true {
            rounds[topic] = ((round?.count ?? 0) + 1, now)
        }
        return rounds[topic].map { $0.count >= Self.leastRounds } ?? false
    }

    /// The service has answered an entry of the topic.
    mutating func answered(_ topic: UInt32) {
        guard !rounds.isEmpty else { return }
        answeredSince.clear()
        rounds[topic] = nil
    }
}
