internal import Holdfast

/// The ownership of the journal by the process of this life, and what threatens it.
struct SimulatedOwner {
    /// Why beats stand still.
    enum Trouble {
        /// The process is stopped, with all that it was about to do.
        case stopped
        /// It is cut off from the store, and not from the service: commits wait.
        case cutOff
        /// The beats have a connection of their own, which is lost. Commits go on.
        case beatsOnly
    }

    /// A time without beats.
    struct Standstill {
        let trouble: Trouble
        let since: Duration
        let until: Duration
        var taker: SimulatedTaker
        /// A beat that was sent before, if it is yet to be carried out.
        var beat: (carriedOutAt: Duration, answeredAt: Duration)?
        /// It is over, and the first beat behind it is on its way.
        var isEnding = false
    }

    private(set) var lease: LeaseMachine
    let times: LeaseTimes
    private var beats: Int64 = 0
    var standstill: Standstill?

    init(_ times: LeaseTimes, takenAt now: Duration) {
        self.times = times
        lease = LeaseMachine(takenBySending: now, times)
    }

    /// What a look at the store shows.
    var sighting: Sighting { Sighting(epoch: 0, beats: beats, isFree: false) }

    var isStopped: Bool { standstill.map { $0.trouble == .stopped && !$0.isEnding } ?? false }
    var isCutOff: Bool { standstill.map { $0.trouble != .beatsOnly && !$0.isEnding } ?? false }

    /// Until when it may hand out, by its own clock.
    func handOutUntil() -> Duration { lease.handOutUntil ?? .zero }

    /// The beats of a time in which nothing was wrong: of those that nobody had to see, the last one counts.
    mutating func beat(at now: Duration) {
        guard standstill == nil, now >= lease.nextBeat else { return }
        lease.beatSent(at: max(lease.nextBeat, now - times.beat / 2))
        lease.beatAnswered(at: now)
        beats += 1
    }

    /// No beat arrives any more, but perhaps the one that is under way.
    mutating func stand(_ trouble: Trouble, at now: Duration, _ dice: inout Dice) {
        beat(at: now)
        let length = times.takeAfter * (0.3 + dice.unit() * 3)
        var standing = Standstill(
            trouble: trouble, since: now, until: now + length, taker: SimulatedTaker(times, at: now, &dice))
        if dice.chance(0.5) {
            let arrives = now + times.answer * dice.unit()
            // A stopped process reads the answer when it goes on.
            let read =
                trouble == .stopped
                ? max(standing.until, arrives) : arrives + (now + times.answer - arrives) * dice.unit()
            lease.beatSent(at: now)
            standing.beat = (arrives, read)
        }
        standstill = standing
    }

    /// A beat that was under way arrives, and its answer.
    mutating func carryOutBeat(at now: Duration) {
        guard let beat = standstill?.beat else { return }
        if beat.carriedOutAt <= now, beat.carriedOutAt > .zero {
            beats += 1
            standstill?.beat?.carriedOutAt = .zero
        }
        guard standstill?.beat?.carriedOutAt == .zero, beat.answeredAt <= now else { return }
        lease.beatAnswered(at: now)
        standstill?.beat = nil
    }

    /// Sends the first beat after a standstill.
    mutating func resume(at now: Duration, _ dice: inout Dice) {
        standstill?.isEnding = true
        guard standstill?.beat == nil else { return }
        lease.beatSent(at: now)
        let arrives = now + times.answer * dice.unit()
        standstill?.beat = (arrives, arrives + times.answer * dice.unit())
    }
}

/// The engine of a host that has lost the journal, and may not know it.
final class FormerOwner {
    let life: Int
    let core: EngineCore
    let journal: InMemoryJournal
    let consumers: [Int]
    var peers: [any Peer]
    /// As the new owner found it.
    let found: InMemoryDisk
    /// Nothing happens in it before.
    let resumesAt: Duration
    /// It reaches the store again.
    let reconnectsAt: Duration
    /// Until when it believes that it may hand out.
    let handOutUntil: Duration
    /// Its clock stood still while it was stopped, as that of a virtual machine may, or it was stopped between its look at the
    /// clock and the write: it hands out beside the new owner, and only the mark is a fence.
    let isDeceived: Bool
    /// A commit of its was refused, and it was told.
    var wasRefused = false

    init(
        life: Int, core: EngineCore, journal: InMemoryJournal, consumers: [Int], peers: [any Peer], found: InMemoryDisk,
        resumesAt: Duration, reconnectsAt: Duration, handOutUntil: Duration, isDeceived: Bool
    ) {
        self.life = life
        self.core = core
        self.journal = journal
        self.consumers = consumers
        self.peers = peers
        self.found = found
        self.resumesAt = resumesAt
        self.reconnectsAt = reconnectsAt
        self.handOutUntil = handOutUntil
        self.isDeceived = isDeceived
    }
}
