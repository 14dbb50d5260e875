/// Finds topics that the service refuses for now, each time, while it takes others: a 429 or a 5xx that is about the topic.
///
/// The route's throttle would have all others wait for them. Where the entries of such a topic are all that is tried, nothing
/// shows that others are taken. Then the topic is *on trial*: it waits, and others go. It is *convicted* when in three
/// rounds others were taken and it was not, for three devices or more; a round begins with a request that went out when
/// one was taken that was behind the first refusal of the last round. So a quota that others have used up convicts nobody. Neither does one
/// that is for all, of which some topic has had bad luck: the others' share of refusals has to make that unlikely. A topic of
/// which anything is taken is the throttle's.
///
/// A pure machine, and bounded. While nothing is refused it knows nothing.
struct TopicRefusals: Sendable {
    private struct Record: Sendable {
        /// Answers of the last few hundred of all topics.
        var taken = 0
        var refused = 0
        /// The turn of the hand-outs of what was taken last, and of what was refused last.
        var takenIn: UInt32?
        var refusedIn: UInt32 = 0
        /// Since anything of it was taken: refusals, turns of hand-outs that they are of, rounds, the turn in which the last of these
        /// began, and some of the devices.
        var requests = 0
        var tries = 0
        var rounds = 0
        var roundIn: UInt32 = 0
        var devices: [UInt64] = []
        var isOnTrial = false
        /// For how long those had been out, at most, that its refusals have cost their connection.
        var cost = Duration.zero
    }

    /// So many rounds, and devices, convict.
    static let least = 3
    /// The greatest probability of bad luck.
    static let doubt = 0.01
    /// Where more topics than this are refused, and nothing is taken, none of them is tried sooner for being another one.
    static let greatestHurried = 10
    private static let limit = 1000
    /// Between two refusals that end connections, others have so many times the time that one of them costs.
    private static let worth = 4
    /// Older answers count half from so many on.
    private static let memory = 500
    /// So many taken with nothing refused, and all is forgotten.
    private static let oblivion = 10_000

    private var records: [UInt32: Record] = [:]
    private var answers = 0
    private var takenSince = 0

    /// Whether nothing was refused: as good as always.
    var isEmpty: Bool { records.isEmpty }

    /// Whether the topic's last request was refused, and nothing of it was taken since.
    func contains(_ topic: UInt32) -> Bool { records[topic].map { $0.requests > 0 } ?? false }

    /// Whether there are topics that may be put on trial, so that others go first.
    ///
    /// - Parameter tries: how often one must have been tried. Where one is on trial, once is enough.
    func letsOthersGo(tries: Int) -> Bool {
        guard !records.isEmpty else { return false }
        let least = records.values.contains(where: \.isOnTrial) ? 1 : tries
        return records.values.contains { $0.tries >= least && !$0.isOnTrial }
    }

    /// Whether this was the first try of a topic, behind another one that was refused: then the next try need not wait longer.
    func isHurried(_ topic: UInt32) -> Bool {
        guard records[topic]?.tries == 1 else { return false }
        return (2...Self.greatestHurried).contains(records.values.count { $0.requests > 0 })
    }

    /// Something of the topic was taken, or refused for a reason of its own.
    ///
    /// - Parameter handedOutIn: the turn in which it went out.
    mutating func taken(_ topic: UInt32, handedOutIn turn: UInt32) {
        guard !records.isEmpty else { return }
        takenSince += 1
        guard takenSince < Self.oblivion else {
            records = [:]
            return
        }
        guard topic != TopicBreakers.none, add(topic) else { return }
        records[topic]!.taken += 1
        if records[topic]!.takenIn.map({ turn.isTurn(after: $0) }) ?? true { records[topic]!.takenIn = turn }
        guard records[topic]!.requests > 0 else { return }
        (records[topic]!.requests, records[topic]!.tries, records[topic]!.rounds) = (0, 0, 0)
        (records[topic]!.devices, records[topic]!.isOnTrial, records[topic]!.cost) = ([], false, .zero)
        if !records.values.contains(where: { $0.requests > 0 }) { records = [:] }
    }

    /// An entry of the topic was refused for now.
    ///
    /// - Parameters:
    ///   - device: its mark, see ``RefusedEntries``.
    ///   - handedOutIn: the turn in which it went out.
    /// - Returns: how many requests of the topic were refused, one behind the other, if it is convicted.
    mutating func refused(_ topic: UInt32, device: UInt64, handedOutIn turn: UInt32) -> Int? {
        guard topic != TopicBreakers.none, add(topic) else { return nil }
        takenSince = 0
        var record = records[topic]!
        record.refused += 1
        record.requests += 1
        let isAnotherTry = record.tries == 0 || turn.isTurn(after: record.refusedIn)
        if isAnotherTry {
            if record.tries == 0 || isWitnessed(since: record, of: topic) {
                (record.rounds, record.roundIn) = (record.rounds + 1, turn)
            }
            record.tries += 1
            record.refusedIn = turn
        }
        let isNewDevice = device == RefusedEntries.nobody || !record.devices.contains(device)
        if record.devices.count < Self.least, isNewDevice { record.devices.append(device) }
        records[topic] = record
        return record.rounds >= Self.least && isProven(record, topic) ? record.requests : nil
    }

    /// Something of another topic was taken that went out behind the refusal that began the round.
    private func isWitnessed(since record: Record, of topic: UInt32) -> Bool {
        records.contains { other, its in
            other != topic && its.takenIn.map { $0.isTurn(after: record.roundIn) } ?? false
        }
    }

    /// Whether bad luck is unlikely, by the share of refusals of the topics of which anything is taken.
    private func isProven(_ record: Record, _ topic: UInt32) -> Bool {
        guard record.devices.count >= Self.least else { return false }
        let others = records.filter { $0.key != topic && $0.value.taken > 0 }.values
        let refused = others.reduce(0) { $0 + $1.refused }
        let share = Double(refused) / Double(max(others.reduce(refused) { $0 + $1.taken }, 1))
        return share.raised(to: record.rounds) <= Self.doubt
    }

    /// Whether anything of topics was refused of which others were taken.
    func areOthersRefused(than topic: UInt32) -> Bool {
        records.contains { $0.key != topic && $0.value.taken > 0 && $0.value.refused > 0 }
    }

    /// A refusal of the topic has ended its connection, on which others had been out for so long.
    mutating func endedConnection(_ topic: UInt32, cost: Duration) {
        guard let record = records[topic] else { return }
        records[topic]!.cost = max(record.cost, cost)
    }

    /// How long the topic is not tried, at least, so that others lose a small part of their time by its refusals.
    func pause(of topic: UInt32) -> Duration { (records[topic]?.cost ?? .zero) * Self.worth }

    /// Something of another topic is at hand.
    ///
    /// - Returns: the topics that are to wait.
    mutating func letOthersGo() -> [UInt32] {
        let topics = records.filter { $0.value.requests > 0 }.keys.sorted()
        for topic in topics { records[topic]?.isOnTrial = true }
        return topics
    }

    /// - Returns: whether there is a record of the topic now.
    private mutating func add(_ topic: UInt32) -> Bool {
        answers += 1
        if answers >= Self.memory {
            answers /= 2
            for topic in records.keys {
                records[topic]!.taken /= 2
                records[topic]!.refused /= 2
            }
        }
        if records[topic] == nil {
            guard records.count < Self.limit else { return false }
            records[topic] = Record()
        }
        return true
    }
}

extension Double {
    /// How probable it is that something of this probability happens so many times, one behind the other.
    func raised(to count: Int) -> Double { (0..<count).reduce(1) { product, _ in product * self } }
}

extension UInt32 {
    /// Whether this number of a turn comes after another one. Numbers begin anew when there are no greater ones.
    func isTurn(after other: UInt32) -> Bool { Int32(bitPattern: self &- other) > 0 }
}
