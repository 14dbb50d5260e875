/// Entries whose tokens were called bad, and that were let go to be sent once more: see ``CircuitBreaker``.
///
/// Remembers the last ``limit`` of them, or those that were let go together last where these are more, and at most as many
/// again; none that was taken or rejected. One that is forgotten has one more chance, and so have all in a new process.
///
/// A pure machine.
struct SecondChances: Sendable {
    /// The record of an entry that is sent once more.
    struct Chance: Hashable, Sendable {
        /// The connection whose word it has.
        let voice: Int
        /// Whether that word counts: see ``ServiceVoices``.
        let counts: Bool
        /// The number of its topic.
        var topic: UInt32 = TopicBreakers.none
    }

    private struct Key: Hashable, Sendable {
        let lane: Int
        let uid: UID
    }

    static let limit = 10_000

    private let limit: Int
    private var young: [Key: Chance] = [:]
    private var old: [Key: Chance] = [:]

    init(limit: Int = Self.limit) { self.limit = limit }

    var isEmpty: Bool { young.isEmpty && old.isEmpty }
    var count: Int { young.count + old.count }

    /// Records that these entries are sent once more.
    mutating func give(_ chances: [(flight: SentWindow.Flight, chance: Chance)]) {
        if young.count + chances.count > limit { (young, old) = ([:], young) }
        for (flight, chance) in chances { young[Key(lane: flight.lane, uid: flight.uid)] = chance }
    }

    /// The record of an entry that was not answered since; `nil` if it has none.
    func chance(lane: Int, _ uid: UID) -> Chance? {
        let key = Key(lane: lane, uid: uid)
        return young[key] ?? old[key]
    }

    /// The entry was answered once more, or has ended.
    ///
    /// - Returns: the second chance that it had.
    @discardableResult mutating func end(_ flight: SentWindow.Flight) -> Chance? {
        guard !isEmpty else { return nil }
        let key = Key(lane: flight.lane, uid: flight.uid)
        let (new, former) = (young.removeValue(forKey: key), old.removeValue(forKey: key))
        return new ?? former
    }
}
