package import Holdfast

/// Decides which journals of hosts that are gone a host takes over. It has no clock and no connection.
package struct TakeoverMachine: Sendable {
    private let times: LeaseTimes
    private var takers: [Int32: TakerMachine] = [:]
    /// Since when each of those that may be taken was left by all.
    private var left: [Int32: Duration] = [:]

    package init(_ times: LeaseTimes) { self.times = times }

    /// All journals were looked at.
    ///
    /// - Parameters:
    ///   - mine: those that this host has, or opens.
    ///   - ahead: those of which this host has commits that the database lacks: also if they are closed there.
    ///   - room: for how many more.
    ///   - delay: how long one must have been left by all. Those that are ahead are taken at once, since nobody else has more of them.
    ///   - now: read after the answer had come.
    /// - Returns: those that may be taken now, the longest unheard of first.
    package mutating func looked(
        _ journals: [ListedJournal], mine: Set<Int32>, ahead: Set<Int32> = [], room: Int, delay: Duration = .zero,
        at now: Duration
    ) -> [ListedJournal] {
        // One that is closed and has an owner is being opened. If that owner is gone, it is as any other's.
        let others = journals.filter { journal in
            let isOver = journal.isClosed && journal.sighting.isFree && !ahead.contains(journal.id)
            return !isOver && !mine.contains(journal.id)
        }
        let known = Set(others.map(\.id))
        takers = takers.filter { known.contains($0.key) }
        let leftBefore = left
        left = [:]
        var found: [ListedJournal] = []
        for journal in others {
            var taker = takers[journal.id] ?? TakerMachine(times)
            taker.looked(journal.sighting, at: now)
            takers[journal.id] = taker
            guard taker.sightingToTake(at: now) != nil else { continue }
            let since = leftBefore[journal.id] ?? now
            left[journal.id] = since
            if now - since >= delay || ahead.contains(journal.id) { found.append(journal) }
        }
        return Array(found.prefix(max(room, 0)))
    }

    /// The session with the database has ended: the next may be with a server that knows less.
    package mutating func sessionEnded() { (takers, left) = ([:], [:]) }
}
