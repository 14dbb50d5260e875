/// The suspects of a topic, and what has been answered since the first of them.
extension CircuitBreaker {
    /// One that was called bad and waits for the judgement.
    struct Suspect: Sendable {
        let connection: Int
        let ticket: Ticket
        let flight: SentWindow.Flight
        let token: TokenOfTopic
        let result: SendResult
        /// By the wall clock: since when the token is bad, if it is convicted.
        let answeredAt: WallTime
        /// The record of its first refusal, if it was called bad before and is sent once more.
        var chance: SecondChances.Chance?
        /// Where its entry goes if the token is found bad; nil to the rejections.
        var otherLane: LaneID?
        /// Whose word it is: the connection's, or the route's, where each error ends its connection.
        let voice: Int
        /// When that was, among all words of the topic.
        var saidAt: UInt64 = 0

        var hadChance: Bool { chance != nil }

        init(
            connection: Int, ticket: Ticket, flight: SentWindow.Flight, token: TokenOfTopic, result: SendResult,
            answeredAt: WallTime, voice: Int? = nil
        ) {
            (self.connection, self.ticket, self.flight, self.token) = (connection, ticket, flight, token)
            (self.result, self.answeredAt, self.voice) = (result, answeredAt, voice ?? connection)
        }
    }

    /// Suspects that are judged together.
    struct Batch: Sendable {
        var suspects: [Suspect] = []
        /// When the first of them was answered, and in which turn.
        var firstAt: Duration
        var turn: UInt32
        /// Confirmed since then, and in the same turn before: one turn's answers have no order between kinds.
        var confirmedMeanwhile: Int
        /// Whether the topic had proven itself when the first of them was answered.
        let wasProven: Bool
        /// Whether each of these gets a second chance, since those that were judged before them got one.
        var isSpared = false
        /// The number of entries that are called bad for the first time.
        private(set) var firstCount = 0

        mutating func add(_ suspect: Suspect) {
            suspects.append(suspect)
            if !suspect.hadChance { firstCount += 1 }
        }

        mutating func remove(_ uid: UID) -> Bool {
            guard let index = suspects.firstIndex(where: { $0.flight.uid == uid }) else { return false }
            if !suspects.remove(at: index).hadChance { firstCount -= 1 }
            return true
        }

        /// - Returns: those that are such, which are not among them any more.
        mutating func remove(where isSuch: (Suspect) -> Bool) -> [Suspect] {
            let removed = suspects.filter(isSuch)
            guard !removed.isEmpty else { return [] }
            suspects.removeAll(where: isSuch)
            firstCount = suspects.count { !$0.hadChance }
            return removed
        }
    }

    /// The answers to what was handed out after the accused had been answered: they show what the service does now.
    struct Evidence: Sendable {
        /// When that was, and in which turn.
        var since = Duration.zero
        var turn: UInt32 = 0
        var confirmed = 0
        var suspect = 0

        var count: Int { confirmed + suspect }
        var share: Double { Double(suspect) / Double(max(count, 1)) }
    }
}
