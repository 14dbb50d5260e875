/// Finds the topics that the refusals of a throttled route are of, where that is no accident: one with a quota of its own, say.
///
/// A pure machine, and bounded.
struct RefusalShares: Sendable {
    private struct Count: Sendable {
        var taken = 0
        /// Turns of hand-outs of which something was refused: what went out together is refused together.
        var refused = 0
        var refusedIn: UInt32?
    }

    /// The greatest probability that topics are blamed by accident.
    private static let accident = 0.0001
    /// Older answers count half from so many on.
    private static let memory = 500
    private static let limit = 1000

    private var counts: [UInt32: Count] = [:]
    private var all = Count()

    /// Something of the topic was taken, or refused for a reason of its own.
    mutating func taken(_ topic: UInt32) { add(topic) { $0.taken += 1 } }

    /// Something of the topic was refused for now.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func refused(_ topic: UInt32, handedOutIn turn: UInt32) {
        guard counts[topic]?.refusedIn != turn else { return }
        add(topic) { ($0.refused, $0.refusedIn) = ($0.refused + 1, turn) }
    }

    private mutating func add(_ topic: UInt32, _ change: (inout Count) -> Void) {
        guard topic != TopicBreakers.none, counts[topic] != nil || counts.count < Self.limit else { return }
        change(&counts[topic, default: Count()])
        change(&all)
        guard all.taken + all.refused >= Self.memory else { return }
        all = Count()
        for (topic, count) in counts {
            let half = Count(taken: count.taken / 2, refused: count.refused / 2)
            counts[topic] = half.taken + half.refused > 0 ? half : nil
            (all.taken, all.refused) = (all.taken + half.taken, all.refused + half.refused)
        }
    }

    /// The topics that all refusals are of; none where the refusals may be of any topic.
    var blamed: [UInt32] {
        let topics = counts.filter { $0.value.refused > 0 }
        let answers = topics.values.reduce(0) { $0 + $1.taken + $1.refused }
        let share = Double(answers) / Double(max(all.taken + all.refused, 1))
        // Refusals that might be of any notification would all be of these so often.
        return share.raised(to: all.refused) <= Self.accident ? Array(topics.keys) : []
    }
}
