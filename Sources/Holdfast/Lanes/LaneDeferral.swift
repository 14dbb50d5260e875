/// Knows when deferred entries of a lane are to come back: those that are due, and those that are *stranded*.
///
/// A clock that was ahead leaves due times that no backoff makes, each of its own. So from time to time whatever is due later
/// than the longest backoff from now comes back: it is stranded.
///
/// Scheduled entries lie behind all of them, and come back by the earliest time that it can be: a clock that is ahead, and is
/// distrusted, sends none before its own time.
///
/// A pure machine.
struct LaneDeferral: Sendable {
    /// When the first deferred entry is due, by both clocks.
    struct Due: Hashable, Sendable {
        var monotonic: Duration
        var wall: WallTime
    }

    /// Nil while nothing is deferred that falls due.
    private(set) var due: Due?
    /// The first time that an entry is scheduled for; nil while none is.
    private(set) var scheduledFor: WallTime?
    /// Scheduled entries could not be brought back, and are not before then.
    private var scheduledRetry = Duration.zero
    /// Whether scheduled entries came back last, and not ones that were due.
    var scheduledHadTurn = false
    /// When to look for stranded entries.
    private(set) var strandedLookAt = Duration.zero
    /// Stranded entries are looked for behind what is held for the clock.
    private var looksBehindHeld = false
    /// A promotion has just ended: what is ahead in the lane is handed out before the next one begins.
    var hasJustReturned = false
    /// Whether due entries came back last, and not ones that had waited for their topic or for the clock.
    var hadItsTurn = false

    /// What is due up to then comes back at once, by an operator's word, as long as nothing of it is deferred again.
    private var hurriedThrough: WallTime?

    /// The first deferred entry is due then; nil when nothing is deferred that falls due.
    ///
    /// - Parameter longest: the longest that any entry waits for its turn.
    mutating func found(_ wall: WallTime?, longest: Duration, at now: Moment) {
        if let wall, let hurriedThrough, wall <= hurriedThrough {
            due = Due(monotonic: now.monotonic, wall: hurriedThrough)
            return
        }
        hurriedThrough = nil
        due = wall.map { wall in
            Due(monotonic: now.monotonic + min(max(wall.since(now.wall), .zero), longest), wall: wall)
        }
    }

    /// The journal could not be read: something is deferred, so it is looked for again.
    mutating func unread(tryingAgainAt time: Duration) {
        due = Due(monotonic: time, wall: WallTime(milliseconds: .min))
    }

    /// Records that entries could not be brought back.
    mutating func failed(tryingAgainAt time: Duration) {
        due?.monotonic = time
        scheduledRetry = time
    }

    /// What waits for another attempt is due now, up to `through`: all of it, part by part, unless the service goes on
    /// refusing.
    mutating func hurry(through: WallTime, now: Duration) {
        guard let due, due.wall <= through else { return }
        self.due = Due(monotonic: now, wall: through)
        hurriedThrough = through
    }

    /// An entry of the lane was put off: what has not come back yet waits for its own time.
    mutating func wasPutOff() { hurriedThrough = nil }

    func isDue(_ now: Duration) -> Bool { due.map { $0.monotonic <= now } ?? false }

    // MARK: Scheduled entries

    /// A clock may be set meanwhile, so it is looked at again from time to time.
    static let longestLook = Duration.seconds(60)

    mutating func foundScheduled(_ time: WallTime?) { scheduledFor = time }

    /// - Parameter earliest: the earliest time that it may be.
    func isScheduledDue(earliest: WallTime, now: Duration) -> Bool {
        scheduledFor.map { $0 <= earliest } ?? false && scheduledRetry <= now
    }

    /// When to look whether a scheduled entry has come to its time.
    func nextScheduledLook(earliest: WallTime, now: Duration) -> Duration? {
        scheduledFor.map { max(scheduledRetry, now + min(max($0.since(earliest), .zero), Self.longestLook)) }
    }

    // MARK: Stranded entries

    /// Stranded entries are to be looked for from then on.
    mutating func lookForStranded(from time: Duration) { strandedLookAt = time }

    func looksForStranded(_ now: Duration) -> Bool { due != nil && strandedLookAt <= now }

    /// Whether all that is deferred is stranded, and to be looked for now.
    ///
    /// - Parameter latest: no backoff of now is due later.
    func isStranded(latest: WallTime, now: Duration) -> Bool {
        due.map { $0.wall > latest } ?? false && strandedLookAt <= now
    }

    /// Where stranded entries lie: due above `after`, up to `through`. What is held for the clock lies there too, and would
    /// come and go again and again.
    ///
    /// - Parameters:
    ///   - latest: no backoff of now is due later.
    ///   - held: when all that is held for the clock is due; nil while nothing is.
    ///   - end: no entry that falls due lies beyond.
    func strandedRange(latest: WallTime, held: WallTime?, end: WallTime) -> (after: WallTime, through: WallTime) {
        guard let held else { return (latest, end) }
        if looksBehindHeld { return (max(latest, held), end) }
        return (latest, max(latest, WallTime(milliseconds: held.milliseconds - 1)))
    }

    /// There may be more of them than came back at once, and more behind what is held for the clock.
    mutating func lookedForStranded(found count: Int, isHeld: Bool, now: Duration) {
        let isThrough = count == 0 && (!isHeld || looksBehindHeld)
        if !isThrough { strandedLookAt = now }
        if isThrough { looksBehindHeld = false } else if count == 0 { looksBehindHeld = true }
    }
}
