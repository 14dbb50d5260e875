/// The unconfirmed entries of one connection on which only errors are answered.
///
/// Every entry has a position, 1, 2, 3 …, in the order of sending; "earlier" and "later" in a payload error mean position,
/// not UID: UID 7, requeued and sent after 50, is later than 50. Held as runs of neighbours, so that a million entries
/// take a few dozen bytes where their UIDs are consecutive. Nothing is ever evicted: a full window stops the sending.
///
/// A pure machine.
package struct CumulativeWindow: Sendable {
    /// Neighbours by position that are neighbours by UID.
    package struct Run: Hashable, Sendable {
        /// Index of the lane in its Consumer.
        let lane: Int
        let first: UID
        package internal(set) var count: Int
        let attempts: UInt16
        let possiblySentBefore: Bool
        let hasOneAttempt: Bool
        /// The number of their topic: see ``TopicBreakers``.
        let topic: UInt32
        /// Of the first of them. Others were accepted within ``greatestSpan`` of it, or their ages would be overstated.
        let acceptedAt: WallTime
        /// Of the first of them: see ``SentWindow/Flight/dueAt``.
        let dueAt: WallTime

        /// The most milliseconds between the times of entries in one run.
        private static let greatestSpan: UInt64 = 1000

        var uids: ClosedRange<UInt64> { first.rawValue...(first.rawValue + UInt64(count) - 1) }

        /// Each by itself.
        var flights: [SentWindow.Flight] {
            uids.map { uid in
                SentWindow.Flight(
                    lane: lane, uid: UID(uid), attempts: attempts, possiblySentBefore: possiblySentBefore,
                    hasOneAttempt: hasOneAttempt, topic: topic, acceptedAt: acceptedAt, dueAt: dueAt)
            }
        }

        init(_ flight: SentWindow.Flight) {
            lane = flight.lane
            first = flight.uid
            count = 1
            attempts = flight.attempts
            possiblySentBefore = flight.possiblySentBefore
            hasOneAttempt = flight.hasOneAttempt
            topic = flight.topic
            acceptedAt = flight.acceptedAt
            dueAt = flight.dueAt
        }

        private init(_ run: Run, dropping: Int, count: Int) {
            lane = run.lane
            first = UID(run.first.rawValue + UInt64(dropping))
            self.count = count
            attempts = run.attempts
            possiblySentBefore = run.possiblySentBefore
            hasOneAttempt = run.hasOneAttempt
            topic = run.topic
            acceptedAt = run.acceptedAt
            dueAt = run.dueAt
        }

        func prefix(_ length: Int) -> Run { Run(self, dropping: 0, count: length) }
        func dropping(_ length: Int) -> Run { Run(self, dropping: length, count: count - length) }

        fileprivate func isFollowed(by flight: SentWindow.Flight) -> Bool {
            lane == flight.lane && first.rawValue + UInt64(count) == flight.uid.rawValue && attempts == flight.attempts
                && possiblySentBefore == flight.possiblySentBefore && hasOneAttempt == flight.hasOneAttempt
                && topic == flight.topic && isNear(flight.acceptedAt, flight.dueAt)
        }

        func isFollowed(by run: Run) -> Bool {
            lane == run.lane && first.rawValue + UInt64(count) == run.first.rawValue && attempts == run.attempts
                && possiblySentBefore == run.possiblySentBefore && hasOneAttempt == run.hasOneAttempt
                && topic == run.topic && isNear(run.acceptedAt, run.dueAt)
        }

        private func isNear(_ acceptedAt: WallTime, _ dueAt: WallTime) -> Bool {
            acceptedAt.milliseconds.distance(to: self.acceptedAt.milliseconds).magnitude <= Self.greatestSpan
                && dueAt.milliseconds.distance(to: self.dueAt.milliseconds).magnitude <= Self.greatestSpan
        }

        /// The first by itself.
        var firstFlight: SentWindow.Flight {
            SentWindow.Flight(
                lane: lane, uid: first, attempts: attempts, possiblySentBefore: possiblySentBefore,
                hasOneAttempt: hasOneAttempt, topic: topic, acceptedAt: acceptedAt, dueAt: dueAt)
        }
    }

    /// The conclusion from a payload error for the unconfirmed entries.
    enum Conclusion: Hashable, Sendable {
        /// It names an entry of the window: what is earlier was taken, what is later was not. `named` is nil when it
        /// names the last good one, which then is among `taken`.
        case within(taken: [Run], named: SentWindow.Flight?, later: [Run])
        /// It names one that was confirmed before: all of the window was discarded, and so were `confirmedBefore` entries
        /// that had been taken for confirmed.
        case late(all: [Run], confirmedBefore: Int)
        /// It names one that was never sent: nothing can be concluded about any.
        case impossible(all: [Run])
    }

    private var runs: [Run] = []
    /// Runs before this one are gone; dropped in bulk, so that taking from the front costs no move of the rest.
    private var head = 0

    /// The position of the first unconfirmed entry.
    private(set) var firstPosition: UInt64 = 1
    /// The position of the next entry.
    private(set) var nextPosition: UInt64 = 1
    /// Entries that were concluded upon and whose settlement is not on disk yet.
    private(set) var settling = 0

    /// Entries that nothing is known of.
    var unconfirmed: Int { Int(nextPosition - firstPosition) }
    /// Entries in flight.
    package var count: Int { unconfirmed + settling }
    /// For tests: how much memory it takes.
    var runCount: Int { runs.count - head }

    package init() {}

    /// Whether nothing is known of the entry yet.
    func isUnconfirmed(lane: Int, _ uid: UID) -> Bool {
        runs[head...].contains { $0.lane == lane && $0.uids.contains(uid.rawValue) }
    }

    /// An entry goes to the connection.
    package mutating func handOut(_ flight: SentWindow.Flight) -> Ticket {
        defer { nextPosition += 1 }
        if head < runs.count, runs[runs.count - 1].isFollowed(by: flight) {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(flight))
        }
        return .position(nextPosition)
    }

    /// The entries among `uids` (ascending) of which nothing is known yet.
    package func unconfirmed(lane: Int, among uids: [UID]) -> [UID] {
        guard let first = uids.first?.rawValue, let last = uids.last?.rawValue else { return [] }
        var found: [UID] = []
        for run in runs[head...] where run.lane == lane && run.uids.overlaps(first...last) {
            found += uids.filter { run.uids.contains($0.rawValue) }
        }
        return found
    }

    /// Everything up to and including `position` was taken by the service. It counts until ``settled(_:)``.
    package mutating func confirm(through position: UInt64) -> [Run] {
        let taken = take(through: position)
        settling += taken.reduce(0) { $0 + $1.count }
        return taken
    }

    /// The settlements of so many are on disk.
    package mutating func settled(_ count: Int) { settling -= min(count, settling) }

    /// The service has refused one and discarded what came after it. The window is empty afterwards, but for what is
    /// being settled.
    mutating func conclude(_ error: PayloadError) -> Conclusion {
        let position = error.position.rawValue
        guard position > 0, position < nextPosition else { return .impossible(all: takeAll()) }
        guard position >= firstPosition else {
            // The last good one is good: only what is behind it was not taken.
            let wrongly = firstPosition - 1 - position + (error.kind == .lastGood ? 0 : 1)
            return .late(all: takeAll(), confirmedBefore: Int(clamping: wrongly))
        }
        if error.kind == .lastGood {
            return .within(taken: confirm(through: position), named: nil, later: takeAll())
        }
        let taken = confirm(through: position - 1)
        let named = take(through: position).first?.flights.first
        return .within(taken: taken, named: named, later: takeAll())
    }

    /// Empties the window: the connection has ended.
    ///
    /// - Parameter through: the last position that may have been sent; nil when that is not known.
    mutating func end(possiblySentThrough through: Ticket?) -> (possiblySent: [Run], neverSent: [Run]) {
        let sent = through.map { take(through: $0.rawValue) } ?? takeAll()
        return (sent, takeAll())
    }

    private mutating func takeAll() -> [Run] { take(through: nextPosition - 1) }

    private mutating func take(through position: UInt64) -> [Run] {
        var taken: [Run] = []
        while head < runs.count, firstPosition <= position {
            let run = runs[head]
            let wanted = Int(clamping: position - firstPosition + 1)
            if wanted >= run.count {
                taken.append(run)
                head += 1
                firstPosition += UInt64(run.count)
            } else {
                taken.append(run.prefix(wanted))
                runs[head] = run.dropping(wanted)
                firstPosition += UInt64(wanted)
            }
        }
        if head > 64, head * 2 > runs.count {
            runs.removeFirst(head)
            head = 0
        }
        return taken
    }
}
