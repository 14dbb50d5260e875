/// The log of outcomes for operators: searches, listings, and its readers. Part of every ``OperatorDesk``.
public protocol OutcomeDesk: Sendable {
    /// Looks for ended notifications, the newest first.
    ///
    /// - Parameters:
    ///   - before: looks at older ones only; `nil` starts at the newest.
    ///   - limit: the most outcomes, at most ``OperatorDesk/greatestBatch``.
    /// - Returns: the outcomes found. The page's end is the oldest place that was looked at: go on with it as `before`. It is
    ///   ``OutcomeCursor/start`` when nothing is left to look at.
    func findOutcomes(_ query: OutcomeQuery, before: OutcomeCursor?, limit: Int) async throws -> OutcomePage

    /// Looks for rejections that the log does not have. The journal keeps rejections apart: for longer than the log, and also
    /// while nothing is written to it.
    ///
    /// - Parameters:
    ///   - uid: looks at those of greater UIDs only.
    ///   - limit: the most rejections, at most ``OperatorDesk/greatestBatch``.
    /// - Returns: the rejections found, by UID.
    func findRejections(_ query: OutcomeQuery, after uid: UID, limit: Int) async throws -> RejectionPage

    /// Lists outcomes in the order in which they ended.
    ///
    /// - Parameters:
    ///   - cursor: begins with the first after this one that is still there; `nil` begins with the oldest. Where those after
    ///     it were deleted or can't be read, the listing says how many: ``OutcomeListing/missed``. Without a cursor none count as
    ///     deleted.
    ///   - limit: the most outcomes, at most ``OperatorDesk/greatestBatch``.
    ///   - producers: the names of the Producers whose outcomes are wanted; `nil` for all.
    ///   - wait: how long to wait at most where there are none yet. Ends when the log is turned on or off. Without an engine
    ///     none come, and nobody waits.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/invalidEntry`` for a cursor beyond the newest outcome.
    func outcomes(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?, waitingAtMost wait: Duration
    ) async throws -> OutcomeListing

    /// The bounds of the log, and its readers.
    func outcomeLog() async throws -> OutcomeLogStatus

    /// Registers a reader at the newest outcome, durably on return. One that is known stays where it is.
    ///
    /// - Returns: how far it has come.
    func openOutcomeReader(_ name: String) async throws -> OutcomeCursor

    /// Moves a reader's cursor, forward or back, durably on return.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a reader that is not known, and
    ///   ``JournalError/Code/invalidEntry`` for a cursor beyond the newest outcome.
    func moveOutcomeReader(_ name: String, to cursor: OutcomeCursor) async throws

    /// Forgets a reader, durably on return. The next one of its name begins anew.
    ///
    /// - Throws: ``JournalError`` with code ``JournalError/Code/notFound`` for a reader that is not known, and
    ///   ``JournalError/Code/inUse`` for the engine's own.
    func forgetOutcomeReader(_ name: String) async throws
}

/// Rejections that the log of outcomes does not have, and how far the journal was looked through for them.
public struct RejectionPage: Hashable, Sendable {
    /// The rejections as outcomes, by UID. They have no place in the log: their cursors are ``OutcomeCursor/start``.
    public var outcomes: [Outcome]
    /// Where to go on: the UID of the last one that was looked at; `nil` if nothing is left.
    public var end: UID?

    package init(outcomes: [Outcome] = [], end: UID? = nil) { (self.outcomes, self.end) = (outcomes, end) }
}

/// Outcomes in the order in which they ended, and how far the log was read for them.
public struct OutcomeListing: Hashable, Sendable {
    /// The outcomes.
    public var outcomes: [Outcome]
    /// Where to go on: everything up to here was read, unwanted and unreadable outcomes included.
    public var end: OutcomeCursor
    /// The number of outcomes after the cursor, and before the first of these, that were not read: the history's bounds left no
    /// room for them until then, or they are ``unreadable``.
    public var missed: Int
    /// The number of those that can't be read, or were lost in a salvage, since the journal is damaged.
    public var unreadable: Int
    /// Whether outcomes are missing right before these, nobody knows how many: they ended while the log was off.
    public var wasOff: Bool
    /// The newest outcome of the log.
    public var newest: OutcomeCursor
    /// Whether outcomes are written to the log: while they are not, none come.
    public var isKept: Bool

    package init(
        outcomes: [Outcome], end: OutcomeCursor, missed: Int = 0, unreadable: Int = 0, wasOff: Bool = false,
        newest: OutcomeCursor, isKept: Bool = true
    ) {
        (self.outcomes, self.end, self.newest) = (outcomes, end, newest)
        (self.missed, self.unreadable, self.wasOff, self.isKept) = (missed, unreadable, wasOff, isKept)
    }
}

/// The bounds of the log of outcomes, and its readers.
public struct OutcomeLogStatus: Hashable, Sendable {
    /// Everything up to here was deleted. Equal to ``newest`` in an empty log.
    public var deleted: OutcomeCursor
    /// The newest outcome.
    public var newest: OutcomeCursor
    /// When the oldest outcome that is there ended; `nil` in an empty log.
    public var oldestAt: WallTime?
    /// Bytes of the journal that the log and its index take.
    public var bytes: Int
    /// The number of outcomes between the bounds that are lost: a salvage has not found them.
    public var lost: Int
    /// The number of outcomes that were met and can't be read, since the journal was opened. Anything but 0 is damage.
    public var unreadable: Int
    /// Whether outcomes are written to the log: ``EngineConfiguration/history``, or an application that takes them.
    public var isKept: Bool
    /// Its readers, by name.
    public var readers: [OutcomeReader]

    package init(
        deleted: OutcomeCursor, newest: OutcomeCursor, oldestAt: WallTime? = nil, bytes: Int = 0, lost: Int = 0,
        unreadable: Int = 0, isKept: Bool = true, readers: [OutcomeReader] = []
    ) {
        (self.deleted, self.newest, self.oldestAt, self.bytes) = (deleted, newest, oldestAt, bytes)
        (self.lost, self.unreadable, self.isKept, self.readers) = (lost, unreadable, isKept, readers)
    }

    /// The number of outcomes in the log, unreadable ones included.
    public var count: Int { max(0, Int(clamping: newest.rawValue - min(deleted, newest).rawValue) - lost) }

    /// The number of outcomes behind the reader's cursor that were not deleted, of all Producers. (A reader of some Producers only
    /// passes the others' outcomes; its cursor follows within seconds.)
    public func unread(by reader: OutcomeReader) -> Int {
        Int(clamping: newest.rawValue - min(max(reader.cursor, deleted), newest).rawValue)
    }

    /// The number of outcomes, of all Producers, that were deleted before the reader's cursor came to them.
    public func missed(by reader: OutcomeReader) -> Int {
        Int(clamping: max(deleted, reader.cursor).rawValue - reader.cursor.rawValue)
    }
}
