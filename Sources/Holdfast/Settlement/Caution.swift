/// Finds a notification that ends every connection that it is sent on, so that it delays no other.
///
/// The end of a connection does not say which entry caused it. When ``greatestEnds`` of the last connections that ended by
/// themselves had the same entry unanswered, the route is *careful*: one entry is sent at a time. That entry need not be the
/// first unanswered one, because with slow answers each connection may answer the first before it ends. Nor need the ends be
/// consecutive, because each of several connections may have an entry that ends it. Answers raise the limit again, and each end
/// halves it, until one entry is unanswered alone.
///
/// An entry that was unanswered alone is *accused*, and others are sent before it. When the service has answered one of them,
/// the accused entry is sent alone, on a connection of its own: its *trial*. If that connection ends too, the entry is
/// guilty. It is deferred with an attempt counted, and gets another trial later. (If nothing was answered meanwhile, no
/// attempt is counted.) A trial takes a connection, and nothing else is sent during it, so before each trial twice as many
/// other entries are answered as before the last, if others wait. Connections that were given up in vain for a trial count as
/// one. No connection is given up before another one may be made: see ``TrialConnection``.
///
/// There may be so many accused entries that their trials alone would take every connection that may be made. So an entry after
/// which others were answered does not return to its place, however many more are accused; these entries take turns.
///
/// If nothing is answered, the service ends every connection whatever it carries, and no entry is to blame: the accused are
/// sent again in turn, and nothing is counted.
///
/// A pure machine, and bounded. It has work only when a connection has ended.
struct Caution: Sendable {
    /// Whether the end of a connection makes the route careful.
    enum Finding: Hashable, Sendable {
        case nothing
        /// From now on one entry goes at a time, since so many connections have left this one behind.
        case careful(EntryKey, ends: Int)
    }

    /// So many ends with the same entry unanswered make a route careful.
    static let greatestEnds = 3
    /// So many connections that ended last are looked at.
    static let greatestRecent = 16
    private static let greatestCount = 1000
    /// The most that are answered before a trial.
    static let greatestAnswers = 1000
    private static let firstBound = 3
    private static let greatestDebt = 1 << 20
    /// The longest that one waits on disk which is only to let others go first.
    private static let greatestPause = Duration.seconds(10)

    /// The entries that the last connections that ended by themselves left unanswered, the newest last. Only the first ranges
    /// are kept, since they are sent again first.
    private var recent: [EntryRanges] = []
    /// The most entries in flight; nil when the window alone counts.
    private(set) var limit: Int?
    /// The most that a connection has left behind since the route is careful.
    private var most = 1
    /// The number of answers that do not raise the limit: one for each entry that the last connection left unanswered, since
    /// one of these may have ended it.
    private var owed = 0
    /// The value of ``owed`` after the last end. Each end that leaves several entries doubles it. Otherwise answers to others,
    /// before those entries are sent again, would raise the limit as fast as ends lower it.
    private var debt = 0
    private(set) var suspects: [EntryKey: Suspect] = [:]
    /// As it was when something was to go out last.
    var trialConnection = TrialConnection.fresh
    /// Whether a connection has ended unused while an accused entry waited for one that another may follow.
    private(set) var hasWaitedInVain = false
    /// The number of entries unanswered alone, without an answer since the first, beyond which none of them is to blame. It
    /// doubles each time, since as many guilty entries may follow each other.
    private var bound = firstBound

    /// Whether one entry goes at a time, or a few.
    var isCareful: Bool { limit != nil }
    var hasSuspects: Bool { !suspects.isEmpty }
    /// For tests: how much memory is taken by what connections have left behind.
    var rangeCount: Int { recent.reduce(0) { $0 + $1.rangeCount } }
    /// Whether answers change anything.
    var wantsAnswers: Bool { isCareful || hasSuspects }

    // MARK: What goes out

    mutating func invite(_ key: EntryKey) { suspects[key]?.isGuest = true }

    /// Connections are given up so that the entry goes alone on the next one.
    mutating func madeRoom(for key: EntryKey) {
        suspects[key]?.rooms += 1
        suspects[key]?.answers = 0
    }

    /// A connection has ended that carried nothing.
    mutating func endedUnused() { hasWaitedInVain = hasWaitedInVain || !waitingForConnection.isEmpty }

    /// It came up and has to wait. While nothing is answered the pauses double: each is written to disk.
    mutating func pause(of key: EntryKey, _ retry: RetrySchedule) -> Duration {
        let waits = suspects[key]?.waits ?? 0
        suspects[key]?.waits = waits + 1
        return max(min(retry.minimum * (1 << min(waits, 20)), retry.maximum, Self.greatestPause), retry.minimum)
    }

    /// It waits on disk, until ``returned(_:)``.
    mutating func putAside(_ key: EntryKey) { suspects[key]?.stage = .aside }

    /// It is over.
    mutating func forget(_ key: EntryKey) { suspects[key] = nil }

    /// Entries have come back that had to wait.
    mutating func returned(_ keys: some Sequence<EntryKey>) {
        for key in keys where suspects[key]?.stage == .aside { suspects[key]?.stage = .accused }
    }

    /// It goes to a connection.
    mutating func handedOut(_ key: EntryKey) {
        hasWaitedInVain = false
        suspects[key]?.isOut = true
        suspects[key]?.rooms = 0
    }

    /// Forgets accused entries that were settled in another way.
    mutating func look(isOut: (EntryKey) -> Bool, isWaiting: (EntryKey) -> Bool) {
        for (key, suspect) in suspects where suspect.stage == .accused {
            let isOut = suspect.isOut && isOut(key)
            suspects[key] = isOut || isWaiting(key) ? suspect : nil
            suspects[key]?.isOut = isOut
        }
    }

    // MARK: What came of it

    /// The service has answered so many.
    ///
    /// - Parameter isOut: whether an entry is still with a connection.
    mutating func answered(_ count: Int, isOut: (EntryKey) -> Bool) {
        guard count > 0 else { return }
        for (key, suspect) in suspects where suspect.isOut && !isOut(key) { suspects[key] = nil }
        for key in suspects.keys {
            suspects[key]?.hasWitness = true
            suspects[key]?.isOutlived = true
            suspects[key]?.answers += count
            suspects[key]?.waits = 0
        }
        bound = Self.firstBound
        guard let limit else { return }
        let paid = min(owed, count)
        owed -= paid
        let wider = limit + count - paid
        if wider > most { calmDown() } else { self.limit = wider }
    }

    private mutating func calmDown() { (limit, most, owed, debt, recent) = (nil, 1, 0, 0, []) }

    /// A connection has ended by itself.
    ///
    /// - Parameters:
    ///   - left: what it left without an answer.
    ///   - wasAlone: whether it was never given anything but one entry.
    mutating func ended(_ left: Leftover, wasAlone: Bool) -> Finding {
        guard left.count > 0 else { return .nothing }
        let suspect = suspects[left.first]
        let hasWitness = suspect?.hasWitness == true
        let wasGuest = suspect.map { $0.isGuest && $0.isOut } ?? false
        for key in suspects.keys {
            suspects[key]?.hasWitness = false
            suspects[key]?.isOut = false
            suspects[key]?.isGuest = false
        }
        if left.count == 1, wasGuest || wasAlone && (hasWitness || suspect?.goesAlone == true) {
            convict(left.first, counts: wasAlone && hasWitness)
            if isCareful { limit = 1 }
            return .nothing
        }
        if isCareful {
            most = max(most, left.count)
            debt = left.count == 1 ? 1 : max(left.count, min(debt * 2, Self.greatestDebt))
            (limit, owed) = (max(left.count / 2, 1), debt)
            if left.count == 1 { accuse(left.first, ends: 1) }
            return .nothing
        }
        guard suspects[left.first] == nil || left.count > 1 else {
            becomeCareful(left, ends: 1)
            return .nothing
        }
        guard let first = common(left.entries) else { return .nothing }
        becomeCareful(left, ends: Self.greatestEnds)
        return .careful(first, ends: Self.greatestEnds)
    }

    /// A connection has ended with the refusal of a topic. Whatever it left without an answer has not ended it.
    mutating func endedByRefusal() {
        for key in suspects.keys {
            suspects[key]?.isOut = false
            suspects[key]?.isGuest = false
        }
    }

    private mutating func convict(_ key: EntryKey, counts: Bool) {
        suspects[key]?.stage = .guilty
        suspects[key]?.trials += 1
        suspects[key]?.answers = 0
        suspects[key]?.counts = counts
        suspects[key]?.ends += 1
    }

    /// - Returns: the first entry that this connection and two others of the last ones have left behind.
    private mutating func common(_ left: EntryRanges) -> EntryKey? {
        let met = recent.map { $0.intersection(left) }.filter { !$0.isEmpty }
        recent = recent.suffix(Self.greatestRecent - 1) + [left.prefix(Self.greatestCount)]
        var first: EntryKey?
        for (index, some) in met.enumerated() {
            for others in met.dropFirst(index + 1) {
                guard let key = some.intersection(others).first, first.map({ key.uid < $0.uid }) ?? true else {
                    continue
                }
                first = key
            }
        }
        return first
    }

    /// - Parameter ends: connections in a row that ended with it.
    private mutating func becomeCareful(_ left: Leftover, ends: Int) {
        (limit, most, owed, debt) = (1, left.count, 0, 0)
        if left.count == 1 { accuse(left.first, ends: ends) }
    }

    private mutating func accuse(_ key: EntryKey, ends: Int) {
        if suspects[key] != nil {
            suspects[key]?.stage = .accused
            suspects[key]?.ends += ends
        } else {
            // A thousand guilty ones are put aside on disk: whoever is forgotten here is found again.
            if suspects.count >= Self.greatestCount { suspects = [:] }
            suspects[key] = Suspect(ends: ends)
        }
        // Those are left accused behind which others were answered: each would end one more connection.
        let accused = suspects.filter { $0.value.stage == .accused && !$0.value.isOutlived }
        guard accused.count > bound else { return }
        for key in accused.keys { suspects[key] = nil }
        bound = min(bound * 2, Self.greatestCount / 2)
    }
}
