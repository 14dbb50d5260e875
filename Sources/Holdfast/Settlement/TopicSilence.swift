/// Finds topics whose requests the service leaves unanswered while it answers others.
///
/// Such a request keeps its stream until its deadline. As the first one of a connection it keeps all others waiting, too, since
/// a service may take no second request before it has answered one.
///
/// A topic is *silent* from a request that had no answer, if nothing of the topic was answered since that went out, until
/// something is. While others wait for a request, its topic counts as silent before the deadline.
///
/// Where nothing else was answered either, it may be the service. Then the topic is *on trial*: it waits, and others go. When
/// they are answered, and the topic again is not, it is *convicted*. Where too many topics are silent alike, and nothing is
/// answered, none of them is to blame, and all of them go.
///
/// A pure machine, and bounded.
struct TopicSilence: Sendable {
    /// The conclusion from a request that was not answered.
    enum Finding: Hashable, Sendable {
        case nothing
        /// The service answers others, and has not answered so many requests of the topic, one behind the other.
        case convicted(requests: Int)
        /// It may be the service: these go again.
        case acquitted([UInt32])
    }

    private struct Silence: Sendable {
        /// Without an answer, one behind the other.
        var requests = 0
        var isOnTrial = false
        var isConvicted = false
    }

    /// So many requests of a topic have no answer before it is convicted.
    static let leastRequests = 2
    /// Where more topics than this are silent, and none of the service's answers stands against them, none is to blame.
    static let greatestAlike = 3
    private static let limit = 1000

    private var silent: [UInt32: Silence] = [:]
    /// The turns in which something of each topic was answered last.
    private var answeredIn: [UInt32: UInt32] = [:]
    /// The topic that was answered last, and the turn of that answer.
    private var last: (topic: UInt32, turn: UInt32)?
    /// Nothing is put on trial before anything is answered.
    private var blamesService = false
    private var turn: UInt32 = 0

    /// Whether there is no such topic: as good as always.
    var isEmpty: Bool { silent.isEmpty }

    /// Whether the topic had no answer when it was sent last.
    func contains(_ topic: UInt32) -> Bool { silent[topic] != nil }

    /// Whether the topic waits, so that others show how they fare.
    func isOnTrial(_ topic: UInt32) -> Bool { silent[topic]?.isOnTrial ?? false }

    /// Whether others go before those that are silent.
    var letsOthersGo: Bool { !silent.isEmpty && !blamesService }

    /// It is this turn.
    mutating func look(turn: UInt32) { self.turn = turn }

    /// Something of the topic was answered.
    ///
    /// - Returns: topics on trial that now have a witness against them, and are to be tried again.
    mutating func answered(_ topic: UInt32) -> [UInt32] {
        if let last, last == (topic, turn) { return [] }
        last = (topic, turn)
        if topic != TopicBreakers.none {
            if answeredIn.count >= Self.limit { answeredIn = [:] }
            answeredIn[topic] = turn
        }
        guard !silent.isEmpty else { return [] }
        silent[topic] = nil
        blamesService = false
        let tried = silent.filter(\.value.isOnTrial).keys.sorted()
        for topic in tried { silent[topic]?.isOnTrial = false }
        return tried
    }

    /// A request of the topic has no answer yet, and others wait for it.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func hesitates(_ topic: UInt32, handedOutIn: UInt32) {
        guard topic != TopicBreakers.none, silent[topic] == nil, silent.count < Self.limit else { return }
        if let answered = answeredIn[topic], answered.isTurn(after: handedOutIn) { return }
        silent[topic] = Silence()
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
        if silent.count >= Self.limit { silent = [:] }
        var silence = silent[topic] ?? Silence()
        silence.requests += 1
        silent[topic] = silence
        guard let last, last.turn.isTurn(after: handedOutIn) else {
            // A convicted one says nothing new.
            return silence.isConvicted ? .nothing : blameService()
        }
        guard silence.requests >= Self.leastRequests else { return .nothing }
        silent[topic]?.isConvicted = true
        silent[topic]?.isOnTrial = false
        return .convicted(requests: silence.requests)
    }

    private mutating func blameService() -> Finding {
        guard !blamesService, silent.values.count(where: { !$0.isConvicted }) > Self.greatestAlike else {
            return .nothing
        }
        blamesService = true
        let tried = silent.filter(\.value.isOnTrial).keys.sorted()
        for topic in tried { silent[topic]?.isOnTrial = false }
        return .acquitted(tried)
    }

    /// Something of another topic is at hand.
    ///
    /// - Returns: the topics that are to wait.
    mutating func letOthersGo() -> [UInt32] {
        guard letsOthersGo else { return [] }
        let topics = silent.keys.sorted()
        for topic in topics where silent[topic]?.isConvicted == false { silent[topic]?.isOnTrial = true }
        return topics
    }
}
