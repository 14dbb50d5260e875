package import Holdfast

/// A journal that a simulation steps, makes fail and crashes: another one than ``InMemoryJournal``.
package protocol SimulatedDisk: AnyObject {
    /// As the engine uses it, until the next crash.
    var journal: any JournalService { get }
    /// Requests that are not answered yet; one more when a send mark waits for a commit.
    var waitingCount: Int { get }
    var waitingBlacklistCount: Int { get }
    /// The commit under way has come to its end, or none was begun.
    var isIdle: Bool { get }

    /// Takes the commit under way one moment further, or begins one of at most so many requests.
    ///
    /// - Returns: whether anything may have been written; if not, others were told of what had been.
    @discardableResult
    func step(atMost count: Int) -> Bool
    /// Commits all changes of the blacklist that wait.
    func commitBlacklist()
    /// From now on every commit of entries is refused for want of room; or none any more.
    func failWrites(_ fails: Bool)
    func failReads(_ fails: Bool)
    func failBlacklistWrites(_ fails: Bool)
    /// The next commit's fate is not known, and the journal must be reopened.
    ///
    /// - Parameter isKept: whether what it held is there then.
    func breakCommit(isKept: Bool)
    /// Kill -9, and opened again.
    ///
    /// - Parameter limit: the most settlements of one commit from now on; nil for the journal's own.
    func crash(limit: Int?) throws(JournalError)
    /// Everything that readers see now.
    ///
    /// - Parameter rejections: of the rejections, those above this UID are enough.
    func image(rejectionsAfter rejections: UID, outcomesAfter outcomes: OutcomeCursor) throws(JournalError) -> DiskImage
    /// What the journal says of itself now.
    func figures() throws(JournalError) -> DiskImage.Figures
    /// The simulation is over.
    func remove()
}

/// Everything that is in a journal.
package struct DiskImage: Sendable {
    package struct Entry: Sendable {
        package var uid: UID
        package var lane: LaneKey
        /// A packed notification.
        package var packed: [UInt8]
        package var attempts: UInt16
        /// By its record, whatever the lane's mark says.
        package var isPossiblySent: Bool
        /// Nil for one that waits.
        package var due: WallTime?
        /// Of one that was refused for good.
        package var rejection: RejectionCause?
        /// Of one that is kept aside.
        package var asideSince: WallTime?
        /// Of one whose record cannot be read.
        package var fault: RecordFault?
        /// Since when it is in quarantine, if it is.
        package var quarantinedAt: WallTime?

        package init(
            uid: UID, lane: LaneKey, packed: [UInt8], attempts: UInt16, isPossiblySent: Bool, due: WallTime? = nil,
            rejection: RejectionCause? = nil, asideSince: WallTime? = nil, fault: RecordFault? = nil,
            quarantinedAt: WallTime? = nil
        ) {
            self.fault = fault
            self.quarantinedAt = quarantinedAt
            self.asideSince = asideSince
            self.uid = uid
            self.lane = lane
            self.packed = packed
            self.attempts = attempts
            self.isPossiblySent = isPossiblySent
            self.due = due
            self.rejection = rejection
        }
    }

    /// What a journal says of itself.
    package struct Figures: Sendable {
        package var status: JournalStatus
        package var producers: [ProducerStatus]

        package init(status: JournalStatus, producers: [ProducerStatus]) {
            self.status = status
            self.producers = producers
        }
    }

    package var figures: Figures
    /// Waiting, deferred and rejected ones.
    package var entries: [Entry]
    /// Those that ended since the last image.
    package var outcomes: OutcomePage
    package var readers: [OutcomeReader]
    package var blacklist: [BlacklistEntry]

    package init(
        figures: Figures, entries: [Entry], outcomes: OutcomePage, readers: [OutcomeReader], blacklist: [BlacklistEntry]
    ) {
        self.figures = figures
        self.entries = entries
        self.outcomes = outcomes
        self.readers = readers
        self.blacklist = blacklist
    }
}

extension InMemoryDisk {
    /// The same disk as another journal has it. What no check asks for is left out.
    init(_ image: DiskImage) {
        self.init(identityKey: IdentityKey(first: 0, second: 0))
        take(image.figures)
        var last: (key: LaneKey, id: LaneID)?
        for entry in image.entries {
            // Most lie beside others of their lane.
            let id = if let last, last.key == entry.lane { last.id } else { addLane(entry.lane) }
            last = (entry.lane, id)
            let record = Record(
                packed: entry.packed, attempts: entry.attempts, producer: ProducerID(rawValue: 0),
                isPossiblySent: entry.isPossiblySent, lane: id, fault: entry.fault)
            if let at = entry.quarantinedAt {
                quarantined.insert(
                    Quarantined(
                        record: record, fault: entry.fault ?? .damaged(""), isPossiblySent: entry.isPossiblySent,
                        at: at), for: entry.uid)
                continue
            }
            if let since = entry.asideSince {
                aside.insert(AsideTable.Entry(since: since, keepsOutcome: true, record: record), for: entry.uid)
            } else if let cause = entry.rejection {
                rejections.insert((record, cause), for: entry.uid)
            } else if let due = entry.due {
                let deferred = DeferredTable.Entry(due: due, reason: .neverProcessed, record: record)
                _ = changeLane(id) { $0.deferred.insert(deferred, for: entry.uid) }
            } else {
                _ = changeLane(id) { $0.entries.insert(record, for: entry.uid) }
            }
        }
        outcomes.take(image.outcomes, image.readers)
        for entry in image.blacklist { _ = blacklist[entry.recipient, default: TokenEntries()].restore(entry) }
    }

    /// What the other journal says of itself.
    mutating func take(_ figures: DiskImage.Figures) {
        for lane in figures.status.lanes {
            let id = addLane(lane.key)
            _ = changeLane(id) { added in
                added.mark = lane.mark
                added.state = lane.state
            }
        }
        for producer in figures.producers {
            guard let id = addProducer(producer.name) else { continue }
            changeProducer(id) { $0.unconfirmed = producer.unconfirmed }
        }
        totals = figures.status.totals
    }
}
