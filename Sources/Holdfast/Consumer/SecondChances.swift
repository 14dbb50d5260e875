/// Entries whose tokens were called bad, and that were let go to be sent once more: see ``CircuitBreaker``.
///
/// Remembers the last ``limit`` of them, or those that were let go together last where these are more, and at most as many
/// again; none that was taken or rejected. One that is forgotten has one more chance, and so have all in a new process.
///
/// A pure machine.
struct SecondChances: Sendable {
    private struct Key: Hashable, Sendable {
        let lane: Int
        let uid: UID
    }

    static let limit = 10_000

    private let limit: Int
    private var young: Set<Key> = []
    private var old: Set<Key> = []

    init(limit: Int = Self.limit) { self.limit = limit }

    var isEmpty: Bool { young.isEmpty && old.isEmpty }
    var count: Int { young.count + old.count }

    /// Those are sent once more.
    mutating func give(_ flights: [SentWindow.Flight]) {
        if young.count + flights.count > limit { (young, old) = ([], young) }
        for flight in flights { young.insert(Key(lane: flight.lane, uid: flight.uid)) }
    }

    /// The entry was answered once more, or has ended.
    ///
    /// - Returns: whether it had a second chance.
    @discardableResult mutating func end(_ flight: SentWindow.Flight) -> Bool {
        guard !isEmpty else { return false }
        let key = Key(lane: flight.lane, uid: flight.uid)
        return young.remove(key) != nil || old.remove(key) != nil
    }
}
