/// The durable store of accepted notifications, as an engine uses it: the calls behind a ``Journal``. One process owns it for
/// writing.
///
/// Few members have a default: where the module of a journal is not imported, a default would hide the journal's own member.
///
/// `LMDBJournal` (module `HoldfastJournal`) implements it, and for tests `InMemoryJournal` (module `HoldfastTesting`). It is not
/// public: the records that its calls exchange are those of this package's engine.
///
/// Appends and settlements are enqueued from any thread and never block. One writer takes everything that waits, writes it in
/// one transaction with one sync, and then calls each completion on its own thread, in the order of the calls. Two kinds of
/// calls let others go first: a trim, and one that needs several commits. A completion must not block. Reads are synchronous,
/// and may be called from any thread except in a completion.
package protocol JournalService: Journal {
    /// Opens a lane, and registers it durably the first time.
    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening

    /// Opens many lanes, and registers new ones durably. A journal should need one commit for all of them, since an engine
    /// with a thousand routes opens four thousand lanes. By default they are opened one after the other.
    ///
    /// - Returns: the openings, in the order of the keys.
    func openLanes(_ keys: [LaneKey]) throws(JournalError) -> [LaneOpening]

    /// Stores the state of a lane, for the next opening and for readers of the journal. It stops nothing by itself.
    ///
    /// - Parameter completion: called when the commit is durable; with ``JournalError/Code/notFound`` for a lane that was
    ///   never opened.
    func setState(
        of lane: LaneID, to state: LaneState, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Returns the number of a Producer, and registers its name durably the first time.
    ///
    /// - Parameter name: 1 to 64 bytes of UTF-8; at most ``ProducerID/greatestCount`` names in a journal.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/tooManyProducers`` for a name beyond that.
    func openProducer(_ name: String) throws(JournalError) -> ProducerID

    /// The secret key of this journal's identities, so that nobody can build two notifications that pass for one. Made with
    /// the journal and never changed.
    var identityKey: IdentityKey { get }

    /// The secret key of the identities by which repeats are recognised: one for all journals that share what they remember.
    /// That of a journal that shares nothing is its ``identityKey``.
    var repeatKey: IdentityKey { get }

    /// Appends the notifications of `submission` in one commit, with consecutive UIDs. Those whose ``Identity`` the journal
    /// remembers are not appended again. A submission with nothing but ``Submission/inquiries`` is answered even if the
    /// journal is full.
    ///
    /// - Parameter completion: gets the UIDs when the commit is on disk, at the journal's durability level; or the error.
    ///   Unless its code is ``JournalError/Code/undetermined``, nothing of the submission is in the journal.
    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void)

    /// Settles a batch in one commit (a large one in several, in order).
    ///
    /// The first durable settlement of an entry wins: a later one is counted as gone, and has no effect.
    ///
    /// - Parameter completion: called when the commit is durable. After a failure the same batch may be settled again.
    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void)

    /// The instant of ``EngineClock``'s monotonic time before which entries may be handed out; `nil` for any time. Waits for
    /// nothing, and is asked before each hand-out.
    ///
    /// After the instant it is not known whether this process is the journal's owner. A later one may follow, and then work
    /// goes on. The fence that reaches the wire is the send mark; this keeps duplicates rare.
    var handOutUntil: Duration? { get }

    /// Lets the lane's send mark rise to `ceiling`. Each commit sets the mark to the lesser of the ceiling and the lane's last
    /// UID; the call forces a commit only if the mark is below both. An entry may be handed out only when the mark that
    /// ``CommitReport`` gives covers it.
    func raiseMark(of lane: LaneID, to ceiling: UID)

    /// Lowers the lane's send mark to `mark`, if it is higher, and resets its ceiling. For an orderly end, when everything
    /// that was handed out above `mark` is durably settled, or was provably not processed.
    ///
    /// - Parameter completion: called when the commit is durable.
    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Ends the deferral of the lane's due entries, the longest due first.
    ///
    /// - Parameter after: skips entries due at or before this time; `nil` skips none.
    /// - Parameter completion: gets the UIDs, in due order, at most `limit`, when the commit is durable.
    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    )

    /// The due time of the lane's next deferred entry that is due after `after`; `nil` if there is none.
    ///
    /// - Parameter after: `nil` for the first of all.
    func nextDue(_ lane: LaneID, after: WallTime?) throws(JournalError) -> WallTime?

    /// Reads unconfirmed entries of the lane above `after`, ascending, without deferred ones.
    ///
    /// - Parameters:
    ///   - through: the greatest UID wanted.
    ///   - limit: the most entries; fewer come if their bytes exceed about 1 MiB. An empty batch, without unreadable entries
    ///     either, means that there are no more.
    /// - Returns: the entries, with unreadable ones in ``EntryBatch/unreadable``. An unreadable record never prevents others
    ///   from being read.
    func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch

    /// Reads the entries among `uids` (ascending) that are still unconfirmed and not deferred.
    func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch

    /// Moves entries with unreadable records into quarantine, in one commit (a large number in several). Each record is kept
    /// whole, and counts as quarantined in place of unconfirmed. Entries that are deferred or not unconfirmed are skipped.
    ///
    /// The quarantine has no limit of its own: its entries count against the journal's limit until they are withdrawn or wait
    /// again.
    ///
    /// - Parameter completion: gets the UIDs that were moved, when the commit is durable. After a failure the same order may
    ///   be given again.
    func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void)

    /// Whether ``wantOfRoom`` is always what it is now.
    var tellsRoom: Bool { get }

    /// Why appends are refused for want of room, as of the last append or look; `nil` when there is room, or the journal does
    /// not say. From memory.
    var wantOfRoom: JournalError? { get }

    /// Why nothing is taken now, of a journal that others keep; `nil` when it is, and for one of this machine alone. From memory.
    var refusal: JournalError? { get }

    /// The UID of the first entry of the journal, such as 1.
    var firstUID: UID { get }

    /// The number of quarantined entries. From memory.
    var quarantinedCount: Int { get }

    /// The number of entries kept aside: see ``JournalStatus/aside``. From memory.
    var asideCount: Int { get }

    /// The number of scheduled entries: see ``JournalStatus/scheduled``. From memory.
    var scheduledCount: Int { get }

    /// The number of entries that wait in the places of paused tags: see ``JournalStatus/heldByTag``. From memory.
    var heldByTagCount: Int { get }

    /// The number of the lane's entries in the places of paused tags. From memory.
    func heldCount(_ lane: LaneID) -> Int

    /// Counts the lane's entries that are due at exactly this time, one by one.
    func deferredCount(_ lane: LaneID, dueAt due: WallTime) throws(JournalError) -> Int

    /// Lists quarantined entries, ascending by UID from the first above `after`.
    func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry]

    /// Brings back quarantined entries whose records can be read now. They are deferred and due at once, and stay possibly sent
    /// if they were. (To end a quarantined entry, settle it as withdrawn or *unknown*.)
    ///
    /// - Parameter completion: gets the UIDs that wait again, when the commit is durable.
    func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void)

    /// The number of the lane's unconfirmed entries that cannot be found, because a page that leads to them is damaged.
    /// Default: 0, for a journal that cannot tell.
    ///
    /// Call it when everything readable was read: if the order of the entries is damaged, all that are left count, including
    /// those in flight. The time grows with the lane's entries, up to a limit beyond which only some are looked for.
    func unreachable(_ lane: LaneID) throws(JournalError) -> Int

    /// The number of the lane's unconfirmed entries, deferred ones included. From memory.
    func depth(_ lane: LaneID) -> Int

    /// The number of the Producer's unconfirmed entries, in all lanes, deferred ones included. From memory.
    func backlog(of producer: ProducerID) -> Int

    /// Every Producer that was ever opened, with the counts of its notifications.
    func producers() throws(JournalError) -> [ProducerStatus]

    /// The state of an entry, as far as the journal still knows. `nil` if it knows nothing: the outcome is not in the log, and
    /// the identity is not remembered.
    func fate(of uid: UID) throws(JournalError) -> EntryFate?

    /// The entries with this key that have not ended, of which the newest wins; `nil` if there are none.
    func newest(_ key: NewestKey) throws(JournalError) -> NewestEntries?

    /// The bounds of the log of outcomes. From memory.
    var outcomeLog: OutcomeLogFigures { get }

    /// Lists outcomes in the order in which they ended, from the first after `cursor` that is still in the log. Unreadable
    /// records are skipped, and stay. Outcomes are numbered without gaps: a number between `cursor` and the page's end that
    /// is not in the page, nor deleted by ``outcomeLog``, can't be read, and a reader is told so. The page passes it also where
    /// nothing follows.
    ///
    /// - Parameter limit: the most outcomes; fewer come if their bytes exceed about 1 MiB. An end of the page equal to
    ///   `cursor` means that there are no more.
    func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage

    /// Looks for outcomes, the newest first.
    ///
    /// By UID, `apns-id`, recipient or tag it takes milliseconds among millions; by Producer, topic or time the parts of the
    /// log without any are skipped.
    ///
    /// - Parameters:
    ///   - before: looks at older ones only; `nil` starts at the newest.
    ///   - limit: the most outcomes.
    ///   - mostBytes: of the log to look through; the page then ends early.
    /// - Returns: the outcomes found; the page's end is the oldest place that was looked at: continue with it as `before`. It
    ///   is ``OutcomeCursor/start`` when nothing is left to look at. ``OutcomePage/unreadable`` counts outcomes that may match
    ///   and can't be read.
    func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int
    ) throws(JournalError) -> OutcomePage

    /// The readers that are known, by name. From memory.
    var outcomeReaders: [OutcomeReader] { get }

    /// Registers a reader durably the first time, at the newest outcome, and sets whether it is waited for.
    ///
    /// - Parameter name: 1 to 64 bytes of UTF-8; at most ``OutcomeReader/greatestCount`` readers in a journal.
    /// - Returns: how far it has come.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/invalidEntry`` for another name, or a reader beyond that.
    func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor

    /// Stores how far a reader has come, or forgets it. Cursors may go back.
    ///
    /// - Parameters:
    ///   - cursor: at most the newest outcome; `nil` forgets the reader.
    ///   - completion: called when the commit is durable; with ``JournalError/Code/notFound`` for a reader that was never
    ///     opened, or ``JournalError/Code/invalidEntry`` for a cursor beyond the newest outcome.
    func setReader(
        _ name: String, to cursor: OutcomeCursor?, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Lists rejections, ascending by UID from the first above `after`. Unreadable records are skipped, and stay.
    func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection]

    /// Deletes rejections, durably on return; large numbers take several commits. UIDs without one are skipped.
    ///
    /// - Returns: how many there were.
    func removeRejections(_ uids: [UID]) throws(JournalError) -> Int

    /// Deletes records beyond the limits, in several commits if need be, between which other requests get theirs.
    ///
    /// - Parameter completion: gets the counts when the last commit is durable.
    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void)

    /// The wall time of the last commit before the journal was opened; `nil` for a new journal. A present time before it means
    /// that the clock was set back, or is wrong.
    var wallTimeAtOpen: WallTime? { get }

    /// The durable storage of the blacklist, for ``TokenBlacklist``.
    var blacklist: any BlacklistStorage { get }

    /// Reads a note, such as how far a file has been submitted; `nil` if there is none.
    func note(_ name: String) throws(JournalError) -> [UInt8]?

    /// Stores a note, or removes it with `nil`, durably on return. Not for hot paths.
    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError)

    /// Reads all counts of the journal.
    func status() throws(JournalError) -> JournalStatus

    /// Calls `observer` on the writer's thread after each commit, before the completions of its requests.
    ///
    /// There is one observer at a time, until ``endObserving()``: a second engine on the same journal would send everything
    /// twice.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/inUse`` while there is another observer.
    func observeCommits(_ observer: @escaping @Sendable (CommitReport) -> Void) throws(JournalError)

    /// Removes the observer, so that there can be another one. Idempotent.
    func endObserving()

    /// Writes all waiting requests, then closes. Blocks until done; later calls fail with ``JournalError/Code/closed``.
    /// Idempotent.
    func close()
}

extension JournalService {
    /// The number of outcomes in the log.
    package var outcomeCount: Int { outcomeLog.count }

    /// The number of outcomes that a reader that is waited for has not read; 0 without such a reader.
    package var unreadOutcomeCount: Int { outcomeLog.unread(by: outcomeReaders) }
    /// The due time of the lane's next deferred entry; `nil` if there is none.
    package func nextDue(_ lane: LaneID) throws(JournalError) -> WallTime? { try nextDue(lane, after: nil) }

    /// How far the reader behind ``PushEngine/outcomes`` has come; the start if there is none.
    package var engineCursor: OutcomeCursor {
        outcomeReaders.first { $0.name == OutcomeReader.engineName }?.cursor ?? .start
    }

    /// A handle of this journal itself.
    package var handle: JournalHandle { JournalHandle(self) }

    /// Opens the lanes one after the other, with a commit for each that is new.
    package func openLanes(_ keys: [LaneKey]) throws(JournalError) -> [LaneOpening] {
        try keys.map { (key) throws(JournalError) in try openLane(key) }
    }

    /// 0, by default: a journal that cannot tell reports no damage.
    package func unreachable(_ lane: LaneID) throws(JournalError) -> Int { 0 }
}
