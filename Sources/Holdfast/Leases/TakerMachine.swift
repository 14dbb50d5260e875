/// What a look at a journal shows.
package struct Sighting: Hashable, Sendable {
    /// Grows with each change of ownership.
    package let epoch: Int64
    /// The number of beats in the epoch.
    package let beats: Int64
    /// Whether the owner has given the journal up, or there was none yet.
    package let isFree: Bool

    package init(epoch: Int64, beats: Int64, isFree: Bool) {
        self.epoch = epoch
        self.beats = beats
        self.isFree = isFree
    }
}

/// Decides when a journal may be taken: when it is free, or when its owner's beats have stood still long enough by the taker's
/// own clock.
package struct TakerMachine: Sendable {
    private let times: LeaseTimes
    private let formerEpoch: Int64?
    private var seen: Sighting?
    /// When the first look was answered that showed it.
    private var since = Duration.zero

    /// - Parameter formerEpoch: whose owner is known to be gone.
    package init(_ times: LeaseTimes, formerEpoch: Int64? = nil) {
        self.times = times
        self.formerEpoch = formerEpoch
    }

    /// A look was answered.
    ///
    /// - Parameter now: read after the answer had come. The look may have been carried out at any time before.
    package mutating func looked(_ sighting: Sighting, at now: Duration) {
        guard sighting != seen else { return }
        seen = sighting
        since = now
    }

    /// The session with the database has ended. The next one may show an older state, such as that of a standby which was
    /// promoted without the last beats, so the waiting begins anew.
    package mutating func sessionEnded() { seen = nil }

    /// The state that may be taken now. The database takes the journal only if it has stayed so.
    package func sightingToTake(at now: Duration) -> Sighting? {
        guard let seen, seen.isFree || seen.epoch == formerEpoch || now >= since + times.takeAfter else { return nil }
        return seen
    }

    /// When the next look is due after one that was answered: the owner may give the journal up at any time.
    package func nextLook(at now: Duration) -> Duration {
        let due = since + times.takeAfter
        return seen != nil && due > now ? min(due, now + times.beat) : now + times.beat
    }
}
