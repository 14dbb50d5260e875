/// Finds topics whose requests the service leaves unanswered while it answers others.
///
/// Such a request keeps its stream until its deadline. As the first one of a connection it keeps all others waiting, too, since
/// a service may take no second request before it has answered one.
///
/// A topic is *silent* from a request that had no answer, if nothing of the topic was answered since that went out, until
/// something is. While others wait for a request, its topic counts as silent before the deadline: after ``patience(now:)``.
///
/// Where nothing else was answered either, it may be the service. Then the topic is *on trial*: it waits, and those go that were
/// tried less often. When others are answered, and the topic again is not, it is *convicted*. Where all that is at hand was tried
/// as often, and nothing is answered, the service is to blame: all of them go again, each in its turn.
///
/// A pure machine, and bounded.
struct TopicSilence: Sendable {
    /// The conclusion from a request that was not answered.
    enum Finding: Hashable, Sendable {
        case nothing
        /// The service answers others, and has not answered so many requests of the topic, one behind the other.
        case convicted(requests: Int)
    }

    private struct Silence: Sendable {
        /// Without an answer until their deadlines, one behind the other.
        var requests = 0
        /// Requests that others waited for in vain, these included.
        var tries = 0
        /// The turn in which the last of them was handed out, and when.
        var triedIn: UInt32 = 0
        var triedAt: Duration?
        /// Of the tries, those that the service has never processed.
        var drops = 0
        /// The service's word to the last of them; nil for none.
        var word: SendResult?
        /// The entry that a connection has left last.
        var leftUID: UID?
        var isOnTrial = false
        /// Others were answered since it is silent.
        var hasWitness = false
        var isConvicted = false

        mutating func count(handedOutIn turn: UInt32, at time: Duration?) {
            guard tries == 0 || turn.isTurn(after: triedIn) else { return }
            (tries, triedIn, triedAt) = (tries + 1, turn, time)
        }
    }

    /// So many requests of a topic are never processed, in as many turns and with none answered, before it waits: what is never
    /// processed goes again at once.
    static let greatestDrops = 3
    /// So many requests of a topic have no answer before it is convicted.
    static let leastRequests = 2
    /// How long others wait for the first answer on a connection, and how long where another topic is silent already.
    static let firstPatience = Duration.seconds(10)
    static let nextPatience = Duration.seconds(2)
    /// How long it is remembered that the service was slow, and not silent.
    private static let memory = Duration.seconds(10 * 60)
    private static let limit = 1000

    private var silent: [UInt32: Silence] = [:]
    /// The turns in which something of each topic was answered last.
    private var answeredIn: [UInt32: UInt32] = [:]
    /// The topic that was answered last, and the turn of that answer.
    private var last: (topic: UInt32, turn: UInt32)?
    /// All that is at hand was tried since anything was answered. Until something is, others wait for the deadlines: more requests
    /// would change nothing, and each of them may be processed in silence.
    private var blamesService = false
    /// The turn in which that went out which was answered first after such a time: what went out before says nothing of its topic.
    private var backIn: UInt32?
    /// Twice as long as an answer took that others had not waited for.
    private var slowness: (patience: Duration, until: Duration)?
    /// Topics that were tried less often than this go before those that keep a connection.
    private var level = 1
    private var turn: UInt32 = 0

    /// Whether there is no such topic: as good as always.
    var isEmpty: Bool { silent.isEmpty }

    /// Whether the topic had no answer when it was sent last.
    func contains(_ topic: UInt32) -> Bool { silent[topic] != nil }

    /// Whether the topic does not go before those that keep a connection: see ``compare(with:)``.
    func isBehind(_ topic: UInt32) -> Bool { silent[topic].map { $0.isConvicted || $0.tries >= level } ?? false }

    /// Whether the topic waits, so that others show how they fare.
    func isOnTrial(_ topic: UInt32) -> Bool { silent[topic]?.isOnTrial ?? false }

    /// Whether a silent topic is neither on trial nor convicted.
    var hasUntold: Bool { silent.values.contains { !$0.isOnTrial && !$0.isConvicted } }

    /// Whether more than one request of a topic was tried in vain, or one until its deadline.
    var isRepeated: Bool { silent.values.contains { $0.requests > 0 || $0.tries > 1 } }

    /// How long others wait for an answer on a connection on which nothing was taken; nil for as long as the request may take.
    func patience(now: Duration) -> Duration? {
        guard !blamesService else { return nil }
        let least = silent.values.contains { !$0.isConvicted } ? Self.nextPatience : Self.firstPatience
        guard let slowness, now < slowness.until else { return least }
        return max(least, slowness.patience)
    }

    /// It is this turn.
    mutating func look(turn: UInt32) { self.turn = turn }

    /// - Parameter topics: those that keep connections; nil where none is kept, and none of a connection that was kept until just
    ///   now.
    /// - Returns: whether others may go before them that might not before.
    mutating func compare(with topics: [UInt32]?) -> Bool {
        let before = level
        level = topics.map { $0.compactMap { silent[$0]?.tries }.min() ?? level } ?? 1
        return level > before
    }

    /// Something of the topic was answered.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    /// - Returns: topics on trial that now have a witness against them, and are to be tried again.
    mutating func answered(_ topic: UInt32, handedOutIn: UInt32, now: Duration) -> [UInt32] {
        if let last, last == (topic, turn) { return [] }
        let before = last?.turn
        last = (topic, turn)
        if topic != TopicBreakers.none {
            if answeredIn.count >= Self.limit { answeredIn = [:] }
            answeredIn[topic] = turn
        }
        guard !silent.isEmpty else { return [] }
        if let silence = silent[topic], silence.requests == 0, silence.triedIn == handedOutIn, let at = silence.triedAt
        {
            slowness = ((now - at) * 2, until: now + Self.memory)
        }
        let doubted = silent.filter { doubted in
            !doubted.value.isConvicted && before.map { doubted.value.triedIn.isTurn(after: $0) } ?? true
        }
        if blamesService || doubted.count > 1 {
            backIn = handedOutIn
            for topic in doubted.keys { silent[topic]!.requests = 0 }
        }
        silent[topic] = nil
        blamesService = false
        let tried = silent.filter(\.value.isOnTrial).keys.sorted()
        for topic in tried { silent[topic]?.isOnTrial = false }
        for topic in silent.keys { silent[topic]?.hasWitness = true }
        return tried
    }

    /// A request of the topic has no answer yet, and others wait for it.
    ///
    /// - Parameters:
    ///   - handedOutIn: the turn in which it went out.
    ///   - time: when that was; nil where no answer will come.
    mutating func hesitates(_ topic: UInt32, handedOutIn: UInt32, at time: Duration?) {
        guard topic != TopicBreakers.none, silent[topic] != nil || silent.count < Self.limit else { return }
        if let answered = answeredIn[topic], answered.isTurn(after: handedOutIn) { return }
        silent[topic, default: Silence()].count(handedOutIn: handedOutIn, at: time)
        level = silent[topic]!.tries
    }

    /// A request of the topic had no answer until its deadline.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func unanswered(_ topic: UInt32, handedOutIn: UInt32) -> Finding {
        guard topic != TopicBreakers.none else { return .nothing }
        // A turn takes answers before it hands out.
        if let answered = answeredIn[topic], answered.isTurn(after: handedOutIn) {
            silent[topic] = nil
            return .nothing
        }
        if let backIn, !handedOutIn.isTurn(after: backIn), handedOutIn != backIn { return .nothing }
        if silent.count >= Self.limit { silent = [:] }
        var silence = silent[topic] ?? Silence()
        silence.requests += 1
        silence.count(handedOutIn: handedOutIn, at: nil)
        silent[topic] = silence
        level = silence.tries
        guard let last, last.turn.isTurn(after: handedOutIn), silence.requests >= Self.leastRequests else {
            return .nothing
        }
        silent[topic]?.isConvicted = true
        silent[topic]?.isOnTrial = false
        return .convicted(requests: silence.requests)
    }

    /// A connection was over before anything was taken on it, and has left an entry of the topic. Where it is the same entry each time,
    /// it is not its topic: see ``Caution``.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func left(_ topic: UInt32, _ uid: UID, handedOutIn: UInt32) {
        guard silent[topic]?.leftUID != uid else { return }
        hesitates(topic, handedOutIn: handedOutIn, at: nil)
        silent[topic]?.leftUID = uid
    }

    /// A request of the topic was not processed, and the connection goes on.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func dropped(_ topic: UInt32, handedOutIn: UInt32) {
        let tries = silent[topic]?.tries ?? 0
        hesitates(topic, handedOutIn: handedOutIn, at: nil)
        if let silence = silent[topic], silence.tries > tries { silent[topic]?.drops += 1 }
    }

    /// The service has not processed the topic's last request, with this word; nil for none.
    mutating func said(_ word: SendResult?, to topic: UInt32) { silent[topic]?.word = word }

    /// The service's word to the topic's last request that was not processed; nil for none.
    func word(for topic: UInt32) -> SendResult? { silent[topic]?.word }

    /// Whether a topic goes on that is never processed.
    var hasDropped: Bool { silent.values.contains { isDropped($0) } }

    private func isDropped(_ silence: Silence) -> Bool {
        silence.drops >= Self.greatestDrops && !silence.isOnTrial && !silence.isConvicted
    }

    /// - Returns: the topics that are to wait since they are never processed.
    mutating func holdDropped() -> [UInt32] {
        let topics = silent.filter { isDropped($0.value) }.keys.sorted()
        for topic in topics { silent[topic]?.isOnTrial = true }
        return topics
    }

    /// Something of another topic is at hand.
    ///
    /// - Returns: the topics that are to wait.
    mutating func letOthersGo() -> [UInt32] {
        let topics = silent.keys.filter { isBehind($0) }.sorted()
        for topic in topics where silent[topic]?.isConvicted == false { silent[topic]?.isOnTrial = true }
        return topics
    }

    /// All that is at hand was tried as often as what keeps the connections.
    ///
    /// - Returns: the topics that go again.
    mutating func foundNoOthers() -> [UInt32] {
        // Where others were answered, it is not the service.
        let tried = silent.filter { $0.value.isOnTrial && !$0.value.hasWitness }.keys.sorted()
        guard !tried.isEmpty else { return [] }
        blamesService = true
        for topic in tried { silent[topic]?.isOnTrial = false }
        return tried
    }
}
