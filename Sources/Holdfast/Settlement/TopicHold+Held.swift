/// What is known of a topic that is set aside, and where its entries wait.
extension TopicHold {
    /// Where entries wait: a lane, one of its two generations, and a side of the topic. A sweep moves all from one generation
    /// to the other.
    struct Place: Hashable, Sendable {
        let lane: Int
        let generation: Int
        let side: Int
    }

    /// An order to bring back a lane's deferred entries: at most `limit`, due after `after` and up to `through`.
    struct Call: Hashable, Sendable {
        let after: WallTime
        let through: WallTime
        let limit: Int
        /// Whether the order is for one entry, as a probe.
        let isForProbe: Bool
        let slot: Int?
        let generation: Int
        let side: Int
    }

    enum Check: Hashable, Sendable {
        case goes
        case waits(until: WallTime)
    }

    /// The consequences of a refusal of a topic.
    struct Refusal: Hashable, Sendable {
        /// When the entry is due again.
        let due: WallTime
        /// Whether the topic was not set aside before.
        let isNews: Bool
    }

    enum State: Sendable {
        case waiting(until: Duration)
        /// The next entry of the topic goes out.
        case ready
        case out(Flight, connection: Int, deadline: Duration)
        /// The service takes it again; those that wait are being called back.
        case returning
    }

    struct Flight: Hashable, Sendable {
        let lane: Int
        let uid: UID
    }

    struct Held: Sendable {
        let slot: Int
        var cause: Cause
        var words: String
        var since: WallTime
        var state: State
        /// Of the last pause.
        var waitsSince = Duration.zero
        var failures = 0
        /// Probes that follow without a pause when one has failed.
        var run = 0
        /// Whether each that waited was tried once.
        var isThrough = false
        /// Entries that go out without a pause, as probes.
        var spare: Int
        /// The side from which probes come.
        var side = 0
        var nextProbeAt: WallTime?
        var refusedAt: Duration
        /// Where entries of it wait, on disk.
        var places: Set<Place> = []
        /// Whether one has waited anywhere.
        var hasWaited = false
        /// Whether nothing of it waits any more, as far as is known. Nobody is told.
        var isDeserted = false
        /// It lets others go first, to learn how they fare: see ``TopicSilence`` and ``TopicRefusals``. Nobody is told at first.
        var isOnTrial = false
        /// Since when.
        var triedSince = Duration.zero
        /// Others were taken meanwhile, and it has waited for so long that it is told what is known.
        var isTold = false

        /// Whether its next entry goes out as a probe.
        var isReady: Bool { if case .ready = state { true } else { false } }

        /// Whether the topic is not likely to recover by itself: each waiting entry was tried, or so many pauses were in vain.
        var isInVain: Bool {
            isThrough || failures >= (cause == .tokens ? TopicHold.tellingRuns : TopicHold.tellingProbes)
        }
    }

    struct Lane: Sendable {
        var generation = 0
        /// The number of generations still to be moved into the other one.
        var sweeps = 0
        /// Whether something is known to be there to be moved.
        var isSweepDue = false
        var sweptAt: Duration
    }
}
