/// How often requests of each topic fared badly, since any fared well.
///
/// A pure machine, and bounded: of more topics than this nothing is known.
struct TopicTally: Sendable {
    /// While so few fare badly, one behind the other, the next one may fare better.
    static let greatestAlike = 9
    private static let limit = 1000

    private var counts: [UInt32: Int] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// Whether so few topics fare badly that it may be their own doing.
    var isOfFew: Bool { counts.count <= Self.greatestAlike }

    func contains(_ topic: UInt32) -> Bool { counts[topic] != nil }

    /// Whether the topic fared badly once, and is one of the first: another one may fare better.
    func isFirst(_ topic: UInt32) -> Bool { counts[topic] == 1 && isOfFew }

    /// The topics that fared badly so often, or more often.
    func topics(atLeast count: Int) -> [UInt32] { counts.filter { $0.value >= count }.keys.sorted() }

    /// A request of the topic fared badly.
    mutating func add(_ topic: UInt32) {
        guard topic != TopicBreakers.none, contains(topic) || counts.count < Self.limit else { return }
        counts[topic, default: 0] += 1
    }

    /// Something fared well.
    mutating func clear() { if !counts.isEmpty { counts = [:] } }
}
