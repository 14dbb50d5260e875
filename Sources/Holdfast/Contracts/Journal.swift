/// Where accepted notifications live until they are settled. One process owns it for writing.
///
/// Appends and settlements are enqueued from any thread and never block; one writer takes everything that waits, writes
/// it in one transaction with one sync, and then calls each completion, on the writer's own thread, in the order of the
/// calls (that of a trim excepted, which lets others go first, and of what takes several commits, which lets appends,
/// openings and notes go first). A completion must not block. Reads are synchronous and
/// may be called from any thread, completions excepted.
public protocol Journal: AnyObject, Sendable {
    /// Opens the lane, durably registering it the first time.
    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening

    /// Opens many lanes, durably registering those that are new. A journal should need one commit for all of them: an
    /// engine of a thousand routes opens four thousand lanes. By default they are opened one after the other.
    ///
    /// - Returns: the openings, in the order of the keys.
    func openLanes(_ keys: [LaneKey]) throws(JournalError) -> [LaneOpening]

    /// Notes whether the lane's entries go out, for whoever opens the lane next and for those who look at the journal. It
    /// holds nothing back by itself.
    ///
    /// - Parameter completion: when the commit is on disk; ``JournalError/Code/notFound`` for a lane that was never opened.
    func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Gives the Producer of this name its number, durably registering it the first time.
    ///
    /// - Parameter name: 1 to 64 bytes of UTF-8; at most ``ProducerID/greatestCount`` names in a journal.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/tooManyProducers`` for one name too many.
    func openProducer(_ name: String) throws(JournalError) -> ProducerID

    /// The secret of this journal with which ``Identity`` is computed, made with the journal and never changed: so that
    /// nobody can build two notifications that are taken for one.
    var identityKey: IdentityKey { get }

    /// Appends all notifications of `submission` in one commit and gives them consecutive UIDs, but for those whose
    /// ``Identity`` the journal remembers: these are not appended again. A submission that only inquires
    /// (``Submission/inquiries``) is answered also while the journal is full.
    ///
    /// - Parameter completion: the UIDs, when the commit is on disk at the journal's durability level; or
    ///   why not. Unless the error's code is ``JournalError/Code/undetermined``, nothing of it is in the journal.
    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void)

    /// Settles all of `batch` in one commit (a large batch in several, in order).
    ///
    /// A settlement for an entry that is gone is counted and otherwise without effect: the first durable one wins.
    ///
    /// - Parameter completion: when the commit is on disk; on failure the same batch may be settled again.
    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void)

    /// Lets the lane's send mark rise to `ceiling`, with the commits that come anyway: each commit sets the mark to the
    /// lesser of the ceiling and the lane's last UID. Forces a commit of its own only when the mark is below both.
    /// An entry may be handed out only once the mark reported by ``CommitReport`` covers it.
    func raiseMark(of lane: LaneID, to ceiling: UID)

    /// Sets the lane's send mark back to `mark`, if it is above it, and forgets its ceiling. For an orderly end: when
    /// everything that was handed out above `mark` has its settlement on disk, or was provably not processed.
    ///
    /// - Parameter completion: when the commit is on disk.
    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Moves deferred entries of the lane that are due back among the unconfirmed, oldest due first, durably.
    ///
    /// - Parameter after: only those that are due later than this; nil for all.
    /// - Parameter completion: the UIDs moved, in due order, at most `limit`.
    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    )

    /// When the lane's next deferred entry is due; nil when there is none.
    func nextDue(_ lane: LaneID) throws(JournalError) -> WallTime?

    /// Unconfirmed entries of the lane above `after`, ascending; deferred ones are not among them.
    ///
    /// - Parameters:
    ///   - through: the greatest UID wanted.
    ///   - limit: the most entries; fewer come when their bytes exceed about 1 MiB. Without any, unreadable ones included,
    ///     there are no more.
    /// - Returns: the entries, and in ``EntryBatch/unreadable`` those among them whose records cannot be read: one of
    ///   these never keeps others from being read.
    func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch

    /// Those of `uids` (ascending) that are still unconfirmed and not deferred.
    func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch

    /// Moves entries whose records cannot be read out of the way, in one commit (a large number in several): each record
    /// is kept whole, as it lies there, and counts as quarantined instead of unconfirmed. Entries that are not among the
    /// unconfirmed, or are deferred, are passed over.
    ///
    /// The quarantine has no bound of its own: what is in it was accepted within the journal's limit and counts against
    /// it until it is withdrawn or waits again.
    ///
    /// - Parameter completion: the UIDs that were moved, when the commit is on disk; on failure the same order may be
    ///   given again.
    func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void)

    /// The number of quarantined entries. From memory.
    var quarantinedCount: Int { get }

    /// The number of entries that silence has confirmed and that are kept aside: see ``JournalStatus/aside``. From memory.
    var asideCount: Int { get }

    /// Quarantined entries, ascending by UID from the first above `after`.
    func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry]

    /// Brings quarantined entries back whose records can be read after all: they are deferred, and due at once. Those that
    /// may have been sent when they were quarantined are possibly sent. (A settlement that withdraws a quarantined entry
    /// ends it; so does one that makes it *unknown*.)
    ///
    /// - Parameter completion: the UIDs that wait again, when the commit is on disk.
    func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void)

    /// How many of the lane's unconfirmed entries no reading finds, although the journal counts them: what leads to them
    /// is damaged. By default none: of a journal that has no such damage, or cannot tell.
    ///
    /// To be asked when all that can be read was read: where the order of the entries is damaged, all that are left count,
    /// those in flight too.
    ///
    /// Takes a time in proportion to the lane's entries, up to a bound beyond which only some are looked for.
    func unreachable(_ lane: LaneID) throws(JournalError) -> Int

    /// The number of the lane's unconfirmed entries, deferred ones included. From memory.
    func depth(_ lane: LaneID) -> Int

    /// The number of the Producer's unconfirmed entries, in all lanes, deferred ones included. From memory.
    func backlog(of producer: ProducerID) -> Int

    /// Every Producer that ever opened this journal, with what became of its notifications.
    func producers() throws(JournalError) -> [ProducerStatus]

    /// What became of an entry, as far as the journal still knows; nil when it knows nothing: its outcome was taken, or
    /// nobody wanted it, and its identity is not remembered.
    func fate(of uid: UID) throws(JournalError) -> EntryFate?

    /// The number of outcomes that wait to be taken. From memory.
    var outcomeCount: Int { get }

    /// Outcomes that were kept and are not yet removed, ascending by UID from the first above `after`. One whose record
    /// cannot be read is passed over, and stays.
    func outcomes(after: UID, limit: Int) throws(JournalError) -> [Outcome]

    /// Removes outcomes: they were taken. UIDs without one are passed over.
    ///
    /// - Parameter completion: when the commit is on disk.
    func removeOutcomes(_ uids: [UID], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Rejections in the order of their UIDs, from the first above `after`. One whose record cannot be read is passed
    /// over, and stays.
    func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection]

    /// Deletes rejections, durably on return; large numbers take several commits. UIDs without one are passed over.
    ///
    /// - Returns: how many there were.
    func removeRejections(_ uids: [UID]) throws(JournalError) -> Int

    /// Deletes what is beyond the bounds, in as many commits as it takes, between which others have theirs.
    ///
    /// - Parameter completion: how much was deleted, when the last commit is on disk.
    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void)

    /// The wall time of the last commit before the journal was opened; nil for a new one. A start before it means that
    /// the clock was set back, or is wrong.
    var wallTimeAtOpen: WallTime? { get }

    /// The durable storage of the blacklist. Its rules are ``TokenBlacklist``'s.
    var blacklist: any BlacklistStorage { get }

    /// What a caller left under `name`, such as how far a file has been submitted; nil when there is nothing.
    func note(_ name: String) throws(JournalError) -> [UInt8]?

    /// Stores, or with nil removes, a note, durably on return. Not for hot paths.
    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError)

    func status() throws(JournalError) -> JournalStatus

    /// Calls `observer` on the writer's thread after each commit, before the completions of what it held. One observer at a
    /// time, until ``endObserving()``: an engine observes its journal for as long as it lives, and a second one that
    /// delivered from the same journal would send everything twice.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/inUse`` while there is another observer.
    func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError)

    /// Calls the observer no more, and lets another one have its place. Idempotent.
    func endObserving()

    /// Writes what waits, then closes; later calls fail with ``JournalError/Code/closed``. Idempotent; blocks until done.
    func close()
}

extension Journal {
    public func openLanes(_ keys: [LaneKey]) throws(JournalError) -> [LaneOpening] {
        try keys.map { (key) throws(JournalError) in try openLane(key) }
    }

    public func unreachable(_ lane: LaneID) throws(JournalError) -> Int { 0 }
}
