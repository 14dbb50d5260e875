/// The answers of each connection about the tokens of one topic, and whether they count.
///
/// There are many front ends behind one address, and one of them may be misconfigured, for example for the other environment.
/// It calls every token bad, while the others take them. So refusals of a connection do not count if it has taken nothing of
/// the topic, or nothing since it began to call one token after another bad, and another connection has taken some.
///
/// If no other connection contradicts it, the share of its answers decides.
///
/// A pure machine. Nothing is allocated for a connection that is known.
struct ServiceVoices: Sendable {
    /// The number of a voice that is no connection's.
    static let nobody = 0

    private struct Voice: Sendable {
        let connection: Int
        /// Its last confirmation, as ``ServiceVoices/count`` was then; 0 for none.
        var confirmedAt: UInt64 = 0
        /// The number of entries that it has called bad for the first time since.
        var badSince = 0
        /// Whether another connection has confirmed something since.
        var isContradicted = false
        /// Whether the connection has ended.
        var isOver = false
    }

    /// Counts up with each word, so that it says of two which came first.
    private(set) var count: UInt64 = 0
    private var voices: [Voice] = []

    private func index(of connection: Int) -> Int? { voices.firstIndex { $0.connection == connection } }

    /// Whether another connection that is open has confirmed something, and its word counts.
    ///
    /// - Parameter limit: see ``counts(_:saidAt:limit:)``.
    func hasOther(than connection: Int, limit: Int) -> Bool {
        voices.contains {
            $0.connection != connection && !$0.isOver && $0.confirmedAt > 0 && !Self.isDiscredited($0, limit: limit)
        }
    }

    private static func isDiscredited(_ voice: Voice, limit: Int) -> Bool {
        voice.isContradicted && (voice.confirmedAt == 0 || voice.badSince > limit)
    }

    /// Whether what it says now of a token would not count.
    func isDiscredited(_ connection: Int, limit: Int) -> Bool {
        index(of: connection).map { Self.isDiscredited(voices[$0], limit: limit) } ?? false
    }

    /// Whether a connection's word about a token counts.
    ///
    /// - Parameters:
    ///   - saidAt: what ``calledBad(by:isNews:)`` has returned.
    ///   - limit: how many it may call bad one behind the other while another one confirms.
    func counts(_ connection: Int, saidAt: UInt64, limit: Int) -> Bool {
        guard let index = index(of: connection) else { return true }
        return voices[index].confirmedAt > saidAt || !Self.isDiscredited(voices[index], limit: limit)
    }

    func knows(_ connection: Int) -> Bool { index(of: connection) != nil }

    /// One that is new is contradicted by what others have confirmed before it said anything.
    ///
    /// - Parameter suspects: those of whose connections nothing may be forgotten.
    mutating func add(_ connection: Int, keeping suspects: [CircuitBreaker.Suspect]) {
        if voices.contains(where: \.isOver) {
            let kept = Set(suspects.map(\.voice))
            voices.removeAll { $0.isOver && !kept.contains($0.connection) }
        }
        var voice = Voice(connection: connection)
        voice.isContradicted = voices.contains { !$0.isOver && $0.confirmedAt > 0 }
        voices.append(voice)
    }

    mutating func confirmed(by connection: Int) {
        guard let index = index(of: connection) else { return }
        count += 1
        voices[index].confirmedAt = count
        voices[index].badSince = 0
        voices[index].isContradicted = false
        guard voices.count > 1 else { return }
        for other in voices.indices where other != index && voices[other].badSince > 0 {
            voices[other].isContradicted = true
        }
    }

    /// - Parameter isNews: whether it is the first time for the token. What goes once more is mostly bad, and comes in a row.
    /// - Returns: when that was, for ``counts(_:saidAt:limit:)``.
    mutating func calledBad(by connection: Int, isNews: Bool) -> UInt64 {
        count += 1
        if isNews, let index = index(of: connection) { voices[index].badSince += 1 }
        return count
    }

    mutating func ended(_ connection: Int) {
        if let index = index(of: connection) { voices[index].isOver = true }
    }
}
