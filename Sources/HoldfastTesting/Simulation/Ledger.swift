internal import Holdfast

/// One hand-out of one entry: what became of it in truth, and what the engine has been told.
struct Copy {
    /// The engine's knowledge.
    enum Word: Equatable {
        /// Nothing so far.
        case outstanding
        /// Taken: an answer, or an error or a barrier behind it.
        case taken
        case rejected(Reason, SendResult.Fault)
        case deferred
        case notProcessed
        /// Nobody will ever say.
        case unknown
    }

    static func isRefused(_ word: Word) -> Bool {
        switch word {
        case .rejected, .deferred: true
        case .outstanding, .taken, .notProcessed, .unknown: false
        }
    }

    /// Which life of the process.
    let life: Int
    /// Each counts its connections from 1.
    let consumer: Int
    let connection: Int
    let handedAt: Duration
    /// When its bytes left this machine.
    var leftAt: Duration?
    var isTaken = false
    var word = Word.outstanding
    /// Its connection ended, or asked for another one, with this unanswered: it may be the cause. What was certainly never
    /// written is none.
    var wasLeft = false
    /// It was refused by one answer too many of that kind: that settles nothing.
    var isDoubted = false
    /// The turn in which the engine was told at the earliest.
    var toldBeforeTurn = 0
    /// By this machine's clock.
    var toldAt: WallTime?
    /// Handed out by a host that had lost the journal: its new owner knows nothing of it but that it may be.
    var isLate = false
}

/// What the world knows about one accepted notification.
final class LedgerEntry {
    let uid: UID
    /// Another one once it was moved.
    var lane: LaneKey
    let serial: UInt64
    let notification: PushNotification
    let producer: String
    var copies: [Copy] = []
    /// By the send mark or its record's word at an opening.
    var isPossiblySentByRule = false
    var isDeferred = false
    /// Silence has confirmed it, and a late error may recall it.
    var isAside = false
    /// A late error recalls it, and nobody has seen it back: it may have had to give way before.
    var isRecallAsked = false
    /// Silence has confirmed it.
    var wasQuieted = false
    var wasDeferred = false
    /// A lane that has stopped handed it out in this life, and may have passed others by.
    var wasTriedAhead = false
    var isFlagged = false
    var attempts = 0
    var outcome: TerminalOutcome?
    /// Terminal outcomes that were asked for in this life of the process.
    var requested: [TerminalOutcome] = []
    /// The engine has asked to defer it, since it was handed out last.
    var deferralIsAsked = false
    /// Lanes that the engine has asked to move it to, and whether it was moved.
    var lanesAsked: Set<LaneKey> = []
    var wasMoved = false
    /// The engine has blamed it for ends of connections, which are attempts then.
    var wasBlamed = false
    var isDamaged = false
    /// As it came from another journal.
    var history: EntryHistory?
    /// It was seen in quarantine.
    var isQuarantined = false
    /// Outcomes that the application was given.
    var delivered: TerminalOutcome?
    /// Its route was gone and is back: nobody remembers that it was to go again.
    var isReadAfresh = false
    /// Of the last reconciliation in which it was seen on disk.
    var seen = 0

    init(uid: UID, lane: LaneKey, serial: UInt64, notification: PushNotification, producer: String) {
        self.uid = uid
        self.lane = lane
        self.serial = serial
        self.notification = notification
        self.producer = producer
    }

    /// Of those that the journal's owner has handed out.
    var lastCopy: Copy? { copies.last { !$0.isLate } }

    var isImportedAsSent: Bool { history?.isPossiblySent ?? false }

    var isImportedAsRejection: Bool { if case .rejected? = history?.place { true } else { false } }

    /// Of both the newest wins, and they have one recipient, topic and collapse id.
    func isLike(_ other: LedgerEntry) -> Bool {
        let (mine, others) = (notification, other.notification)
        return mine.newestWins && others.newestWins && mine.recipient == others.recipient && mine.topic == others.topic
            && mine.collapseID == others.collapseID
    }

    var hasOneAttempt: Bool { lane.guarantee == .atMostOnce }

    /// A copy may have been taken, and the engine was told or has to assume so.
    func mayHaveBeenTaken(life: Int) -> Bool {
        copies.contains { copy in
            switch copy.word {
            case .unknown, .taken: true
            case .outstanding: true
            case .rejected, .deferred, .notProcessed: false
            }
        }
    }

    /// Handed out in this life, and not durably settled: a crash sends it again. (One whose fate was given up as unknown
    /// goes again in any case.)
    func isInFlight(life: Int) -> Bool {
        guard outcome == nil, !isAside else { return false }
        return copies.contains { $0.life == life && ($0.word == .outstanding || $0.word == .taken) }
    }

    /// Waits to go again, by what the engine was told before this turn.
    func isRequeued(life: Int, turn: Int) -> Bool {
        guard outcome == nil, !isAside, requested.isEmpty, !isDeferred, !deferralIsAsked, !isReadAfresh,
            let last = lastCopy,
            last.life == life, last.toldBeforeTurn < turn
        else { return false }
        return last.word == .notProcessed || last.word == .unknown
    }
}

/// All accepted notifications, by UID.
struct Ledger {
    /// Ascending.
    private(set) var entries: [LedgerEntry] = []
    /// Ascending; those without a terminal outcome on disk.
    private(set) var open: [LedgerEntry] = []
    /// Those that were moved aside and have not ended.
    private(set) var quarantined: [LedgerEntry] = []
    private(set) var greatest = UID.none
    /// Devices that were under suspicion, blacklisted by the operator, lifted.
    var suspects: Set<Recipient> = []
    var blacklistedByOperator: Set<Recipient> = []
    var lifted: Set<Recipient> = []
    /// By serial number.
    private(set) var bySerial: [UInt64: [LedgerEntry]] = [:]

    /// Each look at the disk asks for all of them, and a journal gives numbers nearly without gaps: most stand where they
    /// would if there were none.
    subscript(_ uid: UID) -> LedgerEntry? {
        guard let first = entries.first?.uid, uid >= first, uid <= greatest else { return nil }
        let guess = Int(uid.rawValue - first.rawValue)
        if guess < entries.count, entries[guess].uid == uid { return entries[guess] }
        let place = place(of: uid)
        return place < entries.count && entries[place].uid == uid ? entries[place] : nil
    }

    /// Where it is, or would be.
    private func place(of uid: UID) -> Int {
        var range = entries.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = entries[middle].uid < uid ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    mutating func add(_ entry: LedgerEntry) {
        entries.insert(entry, at: entry.uid > greatest ? entries.count : place(of: entry.uid))
        open.append(entry)
        greatest = max(greatest, entry.uid)
        bySerial[entry.serial, default: []].append(entry)
    }

    mutating func setAsideQuarantined() {
        quarantined = entries.filter { $0.isQuarantined && $0.outcome == nil }
        open.removeAll(where: \.isQuarantined)
    }

    mutating func forgetEndedQuarantined() { quarantined.removeAll { $0.outcome != nil } }

    mutating func removeSettled() { open.removeAll { $0.outcome != nil } }
}
