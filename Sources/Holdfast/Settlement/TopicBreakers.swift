/// Decides on the tokens of each topic of a route by the answers to that topic alone.
///
/// Each hand-out carries its topic's number, so that an answer is counted without reading its entry. Numbers rise and are never
/// reused. A route may have any number of topics: the ``limit`` topics that were handed out last have a breaker, and those with
/// suspects keep theirs. All others are forgotten: late answers to them are ignored, and when they are handed out again, it is
/// only known whether they have proven themselves.
///
/// ``ProvenTopics`` outlive the process.
///
/// A pure machine. Nothing is allocated for a topic that has its number.
struct TopicBreakers: Sendable {
    private struct Record: Sendable {
        let topic: [UInt8]
        var breaker: CircuitBreaker
        /// Answers that tokens are gone, one behind the other.
        var gone = UniformRefusals()
        /// The turn in which it was asked for last, as far as that is written down.
        var usedIn: UInt32
    }

    /// The most topics that are told apart.
    static let limit = 1000
    /// The number of a topic that has none.
    static let none: UInt32 = 0

    var policy: SuspectPolicy {
        didSet { for number in records.keys { records[number]?.breaker.policy = policy } }
    }
    private let limit: Int
    /// What may be wrong where many tokens are called bad, in the service's terms.
    private let suspicion: String
    private var records: [UInt32: Record] = [:]
    /// By the topics' hashes.
    private var numbers: [UInt64: UInt32] = [:]
    private var greatest: UInt32 = 0
    /// The topic that was asked for last: where there is one only, all that is done for it is to compare its bytes.
    private var last: (number: UInt32, topic: [UInt8]) = (Self.none, [])
    /// Topics with suspects.
    private var suspected: Set<UInt32> = []
    private var turn: UInt32 = 0
    private(set) var proven: ProvenTopics
    private var chances = SecondChances()

    init(
        policy: SuspectPolicy, proven: ProvenTopics = ProvenTopics(), limit: Int = Self.limit,
        suspicion: String = CircuitBreaker.suspicion
    ) {
        self.policy = policy
        self.suspicion = suspicion
        self.proven = proven
        self.limit = max(limit, 2)
    }

    // MARK: Topics

    /// The number of a topic; ``none`` when every place is taken by a topic with suspects.
    ///
    /// - Parameter topic: where its bytes are.
    mutating func number(of topic: Range<Int>, in bytes: [UInt8]) -> UInt32 {
        if last.number != Self.none, last.topic.equals(topic, of: bytes) { return last.number }
        let hash = Fingerprint.of(bytes[topic])
        if let number = numbers[hash], let record = records[number] {
            // Two topics of one hash: the later one is not told apart.
            guard record.topic.equals(topic, of: bytes) else { return Self.none }
            noteUse()
            last = (number, record.topic)
            return number
        }
        if records.count >= limit { forgetSome() }
        guard records.count < limit, greatest < .max else { return Self.none }
        noteUse()
        greatest += 1
        let new = Array(bytes[topic])
        records[greatest] = Record(
            topic: new, breaker: CircuitBreaker(policy: policy, isProven: proven.contains(hash), suspicion: suspicion),
            usedIn: turn)
        numbers[hash] = greatest
        last = (greatest, new)
        return greatest
    }

    mutating func number(of topic: String) -> UInt32 {
        let bytes = Array(topic.utf8)
        return number(of: bytes.indices, in: bytes)
    }

    /// The topic of a number; nil for one that is forgotten.
    func name(of number: UInt32) -> String? { records[number].map { String(decoding: $0.topic, as: UTF8.self) } }

    private mutating func noteUse() { records[last.number]?.usedIn = turn }

    /// Half of them at once, those that were not used for longest, so that a route with more topics looks seldom.
    private mutating func forgetSome() {
        noteUse()
        let idle = records.filter { !suspected.contains($0.key) }.sorted {
            (turn &- $0.value.usedIn, $1.key) > (turn &- $1.value.usedIn, $0.key)
        }
        for (number, record) in idle.prefix(max(limit / 2, 1)) {
            records[number] = nil
            numbers[Fingerprint.of(record.topic[...])] = nil
            if last.number == number { last = (Self.none, []) }
        }
    }

    // MARK: Answers

    /// It is this turn.
    mutating func look(turn: UInt32) { self.turn = turn }

    /// Whether the time of a hand-out matters: see ``isEvidence(_:)``.
    var isJudging: Bool { !suspected.isEmpty }

    /// Whether the entry was handed out after those that are judged in its topic had been answered.
    func isEvidence(_ flight: SentWindow.Flight) -> Bool { records[flight.topic]?.breaker.isEvidence(flight) ?? false }

    /// The service has taken so many of a topic.
    ///
    /// - Parameters:
    ///   - voice: see ``CircuitBreaker/Suspect/voice``.
    ///   - evidence: how many of them are evidence, see ``isEvidence(_:)``.
    mutating func confirmed(_ count: Int, of topic: UInt32, by voice: Int = ServiceVoices.nobody, evidence: Int = 0) {
        guard count > 0, topic != Self.none else { return }
        if records[topic]?.breaker.isProven == false { note(topic, isProven: true) }
        records[topic]?.breaker.look(turn: turn)
        records[topic]?.breaker.confirmed(count, by: voice, evidence: evidence)
        records[topic]?.gone.confirmed()
    }

    private mutating func note(_ topic: UInt32, isProven: Bool) {
        guard let record = records[topic] else { return }
        let hash = Fingerprint.of(record.topic[...])
        if isProven { proven.insert(hash) } else { proven.remove(hash) }
    }

    /// The proven topics to store, if they have changed since the last call.
    mutating func takeNews() -> ProvenTopics? { proven.takeNews() ? proven : nil }

    /// The service says that a token of the topic is gone.
    ///
    /// - Returns: how often it has said so now, when that is too often to be believed.
    mutating func gone(_ topic: UInt32, _ reason: Reason?) -> Int? {
        guard records[topic]?.gone.refused(.notification(reason), policy: policy) == true else { return nil }
        return records[topic]?.gone.count
    }

    // MARK: Suspects

    /// All of them, by topic.
    var suspects: [CircuitBreaker.Suspect] { suspected.sorted().flatMap { records[$0]?.breaker.suspects ?? [] } }

    var heldCount: Int { suspected.reduce(0) { $0 + (records[$1]?.breaker.heldCount ?? 0) } }

    func suspect(_ uid: UID, lane: Int) -> CircuitBreaker.Suspect? {
        suspects.first { $0.flight.uid == uid && $0.flight.lane == lane }
    }

    /// - Returns: whether it is held. It is not when the topic has no number.
    mutating func hold(_ suspect: CircuitBreaker.Suspect, now: Duration) -> Bool {
        let number = number(of: suspect.token.topic)
        guard number != Self.none else { return false }
        var suspect = suspect
        suspect.chance = chances.end(suspect.flight)
        records[number]?.breaker.look(turn: turn)
        records[number]?.breaker.hold(suspect, now: now)
        suspected.insert(number)
        return true
    }

    /// Whether anything is sent once more of which it is to be told that it has ended: see ``ended(_:)``.
    var hasChances: Bool { !chances.isEmpty }

    /// It was not called bad again.
    mutating func ended(_ flight: SentWindow.Flight) { chances.end(flight) }

    /// It was taken.
    mutating func taken(_ flight: SentWindow.Flight, now: Duration) {
        if let chance = chances.end(flight) { records[flight.topic]?.breaker.taken(chance, now: now) }
    }

    /// A connection has ended.
    mutating func ended(voice: Int) {
        for number in records.keys { records[number]?.breaker.ended(voice: voice) }
    }

    /// The record of an entry that is sent once more because its token was called bad.
    func chance(lane: Int, _ uid: UID) -> SecondChances.Chance? { chances.chance(lane: lane, uid) }

    /// Whether the route has sent to more than one topic, as far as is known.
    var tellsTopicsApart: Bool { records.count > 1 }

    /// Whether a connection's word about a token of the topic would not count.
    func isDiscredited(_ voice: Int, topic: UInt32) -> Bool { records[topic]?.breaker.isDiscredited(voice) ?? false }

    /// When suspects are judged at the latest.
    var judgementAt: Duration? { suspected.compactMap { records[$0]?.breaker.judgementAt }.min() }

    /// The decisions on all topics with enough evidence.
    mutating func judge(now: Duration) -> [CircuitBreaker.Judgement] {
        var judgements: [CircuitBreaker.Judgement] = []
        for number in suspected.sorted() {
            while let judgement = records[number]?.breaker.judge(now: now) {
                judgements.append(judgement)
                switch judgement {
                case .convict: break
                case .giveChance(let suspects), .postpone(let suspects): giveChance(suspects, topic: number)
                // A new start must not forget that the topic has gone wrong.
                case .trip: note(number, isProven: false)
                }
            }
            forgetIfClear(number)
        }
        return judgements
    }

    private mutating func giveChance(_ suspects: [CircuitBreaker.Suspect], topic: UInt32) {
        guard let breaker = records[topic]?.breaker else { return }
        chances.give(
            suspects.map { suspect in
                var chance = breaker.chance(of: suspect)
                chance.topic = topic
                return (suspect.flight, chance)
            })
    }

    private mutating func forgetIfClear(_ number: UInt32) {
        if records[number]?.breaker.heldCount ?? 0 == 0 { suspected.remove(number) }
    }

    /// Lets one go without a judgement: it is not to be sent any more.
    ///
    /// - Returns: whether it was one of them.
    mutating func release(_ uid: UID, now: Duration) -> Bool {
        for number in suspected where records[number]?.breaker.release(uid, now: now) == true {
            forgetIfClear(number)
            return true
        }
        return false
    }

    /// Lets all suspects go without a judgement.
    mutating func release() -> [CircuitBreaker.Suspect] {
        defer {
            for number in suspected { _ = records[number]?.breaker.release() }
            suspected = []
        }
        return suspects
    }
}
