/// What may be wrong with an engine's journal, its clock and its tags.
///
/// A pure machine, apart from the figures that it reads from memory.
struct JournalFindings: Sendable {
    /// How long a refusal counts where nothing says that there is room.
    private static let memory = Duration.seconds(30)
    /// How long nothing may be refused, and no write fail, until it is over: where room is short, small writes succeed between
    /// those that fail.
    static let calm = Duration.seconds(5)

    /// Refusals. Nobody knows which of them are of the same notification, submitted again.
    private var refused: [Reason: Int] = [:]
    private var refusedAt: Duration?
    /// Whether anything was taken since the last refusal.
    private var hasTaken = false
    /// Whether anything was written since the last refusal.
    private var hasCommitted = false
    /// Why there is no room, or was none at the last refusal.
    private var wantOfRoom: JournalError?
    private var writeFailure: (error: JournalError, at: Duration)?
    /// Whether a write succeeded since the last that failed.
    private var hasWritten = false
    private var writeFailures = 0
    /// Whether the journal is another host's now, or its database went back: it is opened anew, and no disk is to be mended.
    private var isLeft = false
    private var quarantined = 0
    private var blacklistDamage = 0
    private var historyDamage = 0
    private var heldByTag = 0
    private var tags: [TagPause] = []
    /// Why nothing is taken now, of a journal that others keep.
    private var refusal: JournalError?
    /// Why the wall clock is distrusted, and when that ends.
    private var clockDoubt: (doubt: ClockTrust.Doubt, end: WallTime)?

    /// Whether something is wrong that may end, or grow, without an event: so it is to be looked at now and then.
    var mayPass: Bool { refusedAt != nil || writeFailure != nil || wantOfRoom != nil || clockDoubt != nil }

    // MARK: What is met

    /// - Returns: whether nothing was refused before.
    mutating func refused(_ refusals: [Reason: Int], at now: Duration) -> Bool {
        let ofJournal = refusals.filter { [.journalFull, .journalFailed, .journalUnreachable].contains($0.key) }
        guard !ofJournal.isEmpty else { return false }
        defer { (refusedAt, hasTaken, hasCommitted) = (now, false, false) }
        refused.merge(ofJournal, uniquingKeysWith: +)
        return refusedAt == nil
    }

    /// The journal can't be used before it is opened anew.
    mutating func lost(_ error: JournalError) { isLeft = isLeft || error.code.isOfOwnership }

    /// - Returns: whether it is over that nothing could be reached.
    mutating func accepted() -> Bool {
        hasTaken = true
        return refused.removeValue(forKey: .journalUnreachable) != nil
    }

    /// - Returns: whether it is the first.
    mutating func failed(_ error: JournalError, at now: Duration) -> Bool {
        defer { (writeFailure, hasWritten) = ((error, now), false) }
        writeFailures += 1
        return writeFailure == nil
    }

    /// - Returns: whether it is over that nothing could be reached.
    mutating func committed() -> Bool {
        hasCommitted = true
        guard let writeFailure else { return false }
        hasWritten = true
        guard writeFailure.error.code == .unreachable else { return false }
        endFailure()
        return true
    }

    private mutating func endFailure() { (writeFailure, writeFailures, hasWritten) = (nil, 0, false) }

    mutating func look(_ sources: EngineConditions.Sources, at now: Moment) {
        let journal = sources.journal
        let current = journal.wantOfRoom
        if let at = refusedAt, isRefusalOver(at, tellsRoom: journal.tellsRoom && current == nil, now.monotonic) {
            refusedAt = nil
        }
        if let writeFailure, hasWritten, now.monotonic >= writeFailure.at + Self.calm { endFailure() }
        if current != nil || refusedAt == nil { wantOfRoom = current }
        refusal = journal.refusal
        (quarantined, blacklistDamage) = (journal.quarantinedCount, journal.blacklist.damageCount)
        (historyDamage, heldByTag) = (journal.outcomeLog.unreadable, journal.heldByTagCount)
        tags = sources.pausedTags.withLock(\.all)
        clockDoubt = sources.clockTrust.doubt.map { ($0, now.wall.advanced(by: $0.until - now.monotonic)) }
    }

    /// - Parameter tellsRoom: whether the journal says that there is room.
    private func isRefusalOver(_ at: Duration, tellsRoom: Bool, _ now: Duration) -> Bool {
        if hasTaken || tellsRoom { return now >= at + Self.calm }
        // That a disk takes nothing is over when it has taken something: where nobody writes, silence shows nothing.
        guard refused[.journalFailed] == nil || isLeft || hasCommitted else { return false }
        return now >= at + Self.memory
    }

    // MARK: What is wrong

    mutating func conditions(now: WallTime) -> [HealthCondition] {
        let found = [
            full(now), refusing(now), away(now), quarantine(now), blacklist(now), history(now), clock(now),
        ]
        if wantOfRoom == nil, refusedAt == nil { refused = [:] }
        return found.compactMap(\.self) + tags.map(tag)
    }

    private func full(_ now: WallTime) -> HealthCondition? {
        let isLimit = wantOfRoom.map { $0.code == .limitReached }
        guard isLimit ?? (refusedAt != nil && refused[.journalFull] != nil) else { return nil }
        return HealthCondition(
            .journalFull, .fault, "journal", since: now, affected: refused[.journalFull] ?? 0,
            what: wantOfRoom?.message ?? "the journal has no room: notifications are refused until it has drained",
            next: wantOfRoom?.advice?.next
                ?? "find what holds up the delivery, which drains the journal; if it is to hold more, raise its limit "
                + "(`journal.limit`)", command: wantOfRoom?.advice?.command ?? "holdfast status")
    }

    private func refusing(_ now: WallTime) -> HealthCondition? {
        let wantOfDisk = wantOfRoom.flatMap { $0.code == .limitReached ? nil : $0 }
        let failed = refusedAt != nil && !isLeft ? refused[.journalFailed] ?? 0 : 0
        // That the journal is another host's, or its database away, says nothing of a disk.
        let writeFailure = writeFailure.flatMap { $0.error.code.isOfOwnership ? nil : $0.error }
        guard wantOfDisk != nil || writeFailure != nil || failed > 0 else { return nil }
        return HealthCondition(
            .diskRefusing, .fault, "journal", since: now,
            affected: failed + (wantOfDisk == nil ? 0 : refused[.journalFull] ?? 0), failures: writeFailures,
            what: (wantOfDisk ?? writeFailure)?.message ?? "the journal can't be written",
            next:
                "make room on the journal's file system, or mend the disk; refused notifications were answered so, and accepted "
                + "ones go out", command: "df -h")
    }

    private func away(_ now: WallTime) -> HealthCondition? {
        // What it says now is closer to the truth than what it said last.
        let failure = refusal ?? writeFailure.flatMap { $0.error.code == .unreachable ? $0.error : nil }
        let refused = refusedAt != nil ? refused[.journalUnreachable] ?? 0 : 0
        guard failure != nil || refused > 0 else { return nil }
        let words = "what keeps the journal can't be reached: nothing is taken until it answers"
        return HealthCondition(
            databaseAway: failure ?? JournalError(.unreachable, words), since: now, affected: refused,
            failures: writeFailures)
    }

    private func quarantine(_ now: WallTime) -> HealthCondition? {
        guard quarantined > 0 else { return nil }
        return HealthCondition(
            .entriesQuarantined, .fault, "journal", since: now, affected: quarantined,
            what: "\(counted(quarantined, "entry whose record", "entries whose records")) can't be read",
            next: "look at them, and take back what can't be mended", command: "holdfast journal quarantine list")
    }

    private func blacklist(_ now: WallTime) -> HealthCondition? {
        guard blacklistDamage > 0 else { return nil }
        return HealthCondition(
            .blacklistDamaged, .fault, "blacklist", since: now, cause: "\(blacklistDamage)",
            what:
                "the blacklist is damaged in \(counted(blacklistDamage, "place", "places")): notifications to tokens on it "
                + "may be sent", next: "stop the service, and copy what is sound into a new journal",
            command: "holdfast journal verify --salvage NEW")
    }

    private func history(_ now: WallTime) -> HealthCondition? {
        guard historyDamage > 0 else { return nil }
        return HealthCondition(
            .historyDamaged, .warning, "history", since: now, cause: "\(historyDamage)",
            what:
                "the history is damaged: \(counted(historyDamage, "outcome", "outcomes")) can't be read, and readers are told "
                + "of a gap; no notification is affected",
            next: "see what is damaged; with --salvage NEW the command copies what is sound",
            command: "holdfast journal verify")
    }

    private func clock(_ now: WallTime) -> HealthCondition? {
        guard let (doubt, end) = clockDoubt else { return nil }
        let time = Timestamp.format(WallTime(seconds: end.seconds))
        // A clock that is set again is doubted anew, and told of again.
        let cause = "\(doubt.until)"
        guard doubt.held.count > 0 else {
            return HealthCondition(
                .clockDistrusted, .warning, "clock", since: now, cause: cause,
                what: "\(doubt.words): what looks expired waits until \(time)",
                next: "see whether the clock is right and what sets it", command: "timedatectl")
        }
        return HealthCondition(
            .clockDistrusted, .warning, "clock", since: now, affected: doubt.held.count, cause: "held \(cause)",
            what: "\(doubt.words): \(doubt.held.isAtLeast ? "at least " : "")"
                + "\(counted(doubt.held.count, "notification looks", "notifications look")) expired by it, "
                + "and those that still do at \(time) end as expired",
            next:
                "if the clock is wrong, set it right before then, and they go; if it is right, and was wrong when they "
                + "were accepted, pause the lanes before then: nothing expires in a paused lane, and what waits can be exported, "
                + "and imported with --good-for", command: "timedatectl")
    }

    private func tag(_ pause: TagPause) -> HealthCondition {
        HealthCondition(
            .tagPaused, .notice, "tag", pause.name, since: pause.since, affected: tags.count == 1 ? heldByTag : 0,
            cause: pause.reason,
            what: "an operator has paused tag \(pause.name.debugDescription)"
                + (pause.reason.isEmpty ? "" : ": \(pause.reason)"),
            next: "resume it when its time has come",
            command: TagPause.command(resuming: pause.tag))
    }
}

extension HealthCondition {
    /// What keeps a journal takes nothing now.
    package init(databaseAway error: JournalError, since: WallTime, affected: Int = 0, failures: Int = 0) {
        self.init(
            .databaseAway, .fault, "database", since: since, affected: affected, failures: failures,
            what: error.message,
            next: error.advice?.next ?? "see whether the database is there and can be reached from this host",
            command: error.advice == nil ? "holdfast postgres status" : error.advice?.command)
    }
}
