internal import Holdfast

/// The disk of a simulated world, of whichever kind: in memory, or a real journal that is stepped.
final class SimulatedStorage {
    private enum Kind {
        case memory(InMemoryJournal)
        case disk(any SimulatedDisk)
    }

    private var kind: Kind
    private var commitLimit: Int?
    /// What readers saw last, of a real journal; nil when it may have changed since.
    private var seen: InMemoryDisk?
    /// What the journal says of itself may have changed since; what lies in it has not.
    private var areFiguresOld = false
    /// How often something was written, or may have been.
    private(set) var changes = 0
    /// A commit's fate is not known: nothing can be read before it is opened again.
    private var isBroken = false
    private var last: InMemoryDisk?
    /// The store can't be reached, and commits are refused for it.
    private(set) var refusesCutOff = false
    /// Reads are to fail, but not those of the world.
    private var readsFail = false

    init(_ disk: (any SimulatedDisk)?, identityKey: IdentityKey, commitLimit: Int?) {
        self.commitLimit = commitLimit
        if let disk {
            kind = .disk(disk)
        } else {
            kind = .memory(InMemoryJournal(mode: .manual, identityKey: identityKey))
        }
        if case .memory(let journal) = kind { journal.limitCommits(to: commitLimit) }
    }

    var journal: any JournalService {
        switch kind {
        case .memory(let journal): journal
        case .disk(let disk): disk.journal
        }
    }

    /// As readers see it now.
    ///
    /// - Parameters:
    ///   - rejections: rejections up to this UID may be missing.
    ///   - outcomes: outcomes up to here may be missing.
    /// - Throws: what a real journal says that cannot be read.
    func snapshot(
        rejectionsAfter rejections: UID, outcomesAfter outcomes: OutcomeCursor
    ) throws(JournalError) -> InMemoryDisk {
        switch kind {
        case .memory(let journal): return journal.state.withLock(\.disk)
        case .disk(let disk):
            if isBroken, let last { return last }
            if let seen, !areFiguresOld { return seen }
            if readsFail { disk.failReads(false) }
            defer { if readsFail { disk.failReads(true) } }
            return try look(at: disk, rejectionsAfter: rejections, outcomesAfter: outcomes)
        }
    }

    private func look(
        at disk: any SimulatedDisk, rejectionsAfter rejections: UID, outcomesAfter outcomes: OutcomeCursor
    ) throws(JournalError) -> InMemoryDisk {
        last = nil
        var now: InMemoryDisk
        if let known = seen {
            // Let go of, so that it is changed in its place.
            seen = nil
            now = known
            now.take(try disk.figures())
        } else {
            let start = min(outcomes, journal.outcomeLog.newest)
            now = InMemoryDisk(try disk.image(rejectionsAfter: rejections, outcomesAfter: start))
        }
        areFiguresOld = false
        seen = now
        last = now
        return now
    }

    /// Something was written.
    func changed() {
        seen = nil
        changes += 1
    }

    // MARK: Commits

    var waitingCount: Int {
        switch kind {
        case .memory(let journal): journal.waitingCount
        case .disk(let disk): disk.waitingCount
        }
    }

    var waitingBlacklistCount: Int {
        switch kind {
        case .memory(let journal): journal.waitingBlacklistCount
        case .disk(let disk): disk.waitingBlacklistCount
        }
    }

    /// A commit is on disk, and not all were told.
    var isBetweenMoments: Bool {
        switch kind {
        case .memory(let journal): journal.moment != nil
        case .disk(let disk): !disk.isIdle
        }
    }

    func beginCommit(atMost count: Int) {
        finishCommit()
        changed()
        switch kind {
        case .memory(let journal): journal.beginCommit(atMost: count)
        case .disk(let disk): disk.step(atMost: count)
        }
        changed()
    }

    func stepCommit() {
        switch kind {
        case .memory(let journal): journal.stepCommit()
        case .disk(let disk):
            // A call that is durable on return may have ended the commit under way: then this begins another one.
            if disk.step(atMost: .max) { return changed() }
            // What the journal says of itself follows what it has written.
            areFiguresOld = true
            changes += 1
        }
    }

    func finishCommit() { while isBetweenMoments { stepCommit() } }

    func commit(atMost count: Int = .max) {
        beginCommit(atMost: count)
        finishCommit()
    }

    func commitBlacklist() {
        changed()
        switch kind {
        case .memory(let journal): journal.commitBlacklist()
        case .disk(let disk): disk.commitBlacklist()
        }
        changed()
    }

    // MARK: Owners

    /// Whether another host can take it.
    var canBeTaken: Bool { if case .memory = kind { true } else { false } }

    /// Another host takes the journal.
    ///
    /// - Returns: the former owner's.
    func takeOver() -> InMemoryJournal? {
        guard case .memory(let journal) = kind else { return nil }
        // The former owner reaches the store again at a time of its own.
        cutOff(false)
        failWrites(false)
        failReads(false)
        failBlacklistWrites(false)
        let next = journal.takenOver()
        next.limitCommits(to: commitLimit)
        kind = .memory(next)
        changed()
        return journal
    }

    /// From now on every commit is refused because the store can't be reached; or none any more.
    func cutOff(_ isCutOff: Bool) {
        guard case .memory(let journal) = kind, refusesCutOff != isCutOff else { return }
        refusesCutOff = isCutOff
        journal.failWrites(with: isCutOff ? JournalError(.unreachable, "the store can't be reached") : nil)
    }

    // MARK: Faults

    func failWrites(_ fails: Bool) {
        switch kind {
        case .memory(let journal): journal.failWrites(with: fails ? Self.full : nil)
        case .disk(let disk): disk.failWrites(fails)
        }
    }

    func failReads(_ fails: Bool) {
        readsFail = fails
        switch kind {
        case .memory(let journal):
            journal.failReads(with: fails ? JournalError(.inputOutput, "a read failed") : nil)
        case .disk(let disk): disk.failReads(fails)
        }
    }

    func failBlacklistWrites(_ fails: Bool) {
        switch kind {
        case .memory(let journal): journal.failBlacklistWrites(with: fails ? Self.full : nil)
        case .disk(let disk): disk.failBlacklistWrites(fails)
        }
    }

    private static let full = JournalError(.diskFull, "the disk is full")

    /// A real journal has its limit for good.
    func limitEntries(to greatest: Int?) {
        if case .memory(let journal) = kind { journal.limitEntries(to: greatest) }
    }

    /// A commit of which nobody knows what it left.
    ///
    /// - Returns: whether there was one.
    func breakCommit(isKept: Bool) -> Bool {
        finishCommit()
        defer { changed() }
        switch kind {
        case .memory(let journal):
            journal.breakNextCommit(leaving: isKept ? .all : .nothing)
            journal.commit()
            return journal.state.withLock { $0.broken != nil }
        case .disk(let disk):
            guard disk.waitingCount > 0 else { return false }
            disk.breakCommit(isKept: isKept)
            isBroken = true
            disk.step(atMost: .max)
            finishCommit()
            return true
        }
    }

    /// Kill -9: what was committed is there, and nothing else.
    func crash() throws(JournalError) {
        changed()
        readsFail = false
        isBroken = false
        refusesCutOff = false
        switch kind {
        case .memory(let journal):
            let next = journal.crashed()
            next.limitCommits(to: commitLimit)
            kind = .memory(next)
        case .disk(let disk): try disk.crash(limit: commitLimit)
        }
    }

    /// Damages the record of an entry that waits, in memory only.
    ///
    /// - Parameter isNoticed: whether a checksum notices.
    /// - Returns: whether it did.
    func damage(_ uid: UID, _ lane: LaneKey, isNoticed: Bool) -> Bool {
        changed()
        guard case .memory(let journal) = kind else { return false }
        return journal.state.withLock { state in
            guard let id = state.disk.laneID(of: lane) else { return false }
            return state.disk.changeLane(id) { lane in
                guard var record = lane.entries.remove(uid) else { return false }
                if isNoticed { record.fault = .damaged("its checksum is wrong") } else { record.packed[0] = 0x7F }
                lane.entries.insert(record, for: uid)
                return true
            } ?? false
        }
    }

    func remove() {
        if case .disk(let disk) = kind { disk.remove() }
    }
}
