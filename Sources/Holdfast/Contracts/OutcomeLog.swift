// The log of outcomes: how every notification ended, in the order in which they ended.

/// The place of an outcome in the order in which notifications ended: 1, 2, 3 … without gaps, across restarts, never given
/// twice in a journal.
///
/// As a cursor it says how far a reader has come: everything up to it has been read.
public struct OutcomeCursor: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the outcome; 0 is before the first.
    public let rawValue: UInt64
    /// Creates a cursor from its number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates a cursor from its number.
    @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Before the first outcome.
    public static let start = OutcomeCursor(0)

    /// The earlier one ended first.
    @inlinable public static func < (lhs: OutcomeCursor, rhs: OutcomeCursor) -> Bool { lhs.rawValue < rhs.rawValue }
    /// The number.
    public var description: String { "\(rawValue)" }
}

/// The bounds of the log. Opaque outside of this package.
public struct OutcomeLogFigures: Hashable, Sendable {
    /// Everything up to here was deleted; the outcomes from the next one on are there.
    package var deleted: OutcomeCursor
    /// The newest outcome; equal to ``deleted`` in an empty log.
    package var newest: OutcomeCursor
    /// Bytes of the journal that the log and its index take.
    package var bytes: Int
    /// The number of outcomes between the bounds that are not there: a salvage has not found them.
    package var lost: Int
    /// The number of outcomes that were met and can't be read, since the journal was opened.
    package var unreadable: Int

    package init(
        deleted: OutcomeCursor = .start, newest: OutcomeCursor = .start, bytes: Int = 0, lost: Int = 0,
        unreadable: Int = 0
    ) {
        self.deleted = deleted
        self.newest = newest
        self.bytes = bytes
        self.lost = lost
        self.unreadable = unreadable
    }

    /// The number of outcomes in the log, unreadable ones included.
    package var count: Int { max(0, Int(clamping: newest.rawValue - deleted.rawValue) - lost) }

    /// The number of outcomes that must wait for one of the readers; 0 if none is waited for.
    package func unread(by readers: [OutcomeReader]) -> Int {
        guard let last = readers.lazy.filter(\.isWaitedFor).map(\.cursor).min() else { return 0 }
        return Int(clamping: newest.rawValue - min(max(last, deleted), newest).rawValue)
    }
}

/// A reader of the log that the journal knows by name: how far it has come, durably.
public struct OutcomeReader: Hashable, Sendable {
    /// The most readers of one journal.
    public static let greatestCount = 100
    /// The reader behind ``PushEngine/outcomes``.
    package static let engineName = "engine"

    /// 1 to 64 bytes of UTF-8.
    public let name: String
    /// Everything up to here was read.
    public var cursor: OutcomeCursor
    /// Whether outcomes are kept until it has read them, whatever the log's bounds are. Hand-outs then wait when
    /// ``EngineConfiguration/outcomeLimit`` are unread. Others lose what the bounds delete.
    public var isWaitedFor: Bool

    package init(name: String, cursor: OutcomeCursor, isWaitedFor: Bool) {
        self.name = name
        self.cursor = cursor
        self.isWaitedFor = isWaitedFor
    }
}

/// What to look for among the outcomes. Each member that is set must match; one without members matches everything.
public struct OutcomeQuery: Hashable, Sendable {
    /// The UID, as a receipt gave it.
    public var uid: UID?
    /// The `apns-id`.
    public var id: NotificationID?
    /// The device, channel or address.
    public var recipient: Recipient?
    /// The application's tag, whole.
    public var tag: [UInt8]?
    /// The name of the Producer.
    public var producer: String?
    /// The topic.
    public var topic: String?
    /// Ended at this time or later.
    public var since: WallTime?
    /// Ended before this time.
    public var until: WallTime?
    /// How it ended, by the word of ``TerminalOutcome``: `confirmed`, `rejected` and so on.
    public var ending: String?

    /// Creates a query that matches everything.
    public init() {}

    /// Whether `outcome` is one of those.
    public func matches(_ outcome: Outcome) -> Bool {
        if let uid, outcome.uid != uid { return false }
        if let id, outcome.id != id { return false }
        if let recipient, outcome.recipient != recipient { return false }
        if let tag, outcome.tag != tag { return false }
        if let producer, outcome.producer != producer { return false }
        if let topic, outcome.topic != topic { return false }
        if let since, outcome.settledAt < since { return false }
        if let until, outcome.settledAt >= until { return false }
        if let ending, outcome.terminal.word != ending { return false }
        return true
    }
}

/// Some outcomes, and how far the log was read for them.
public struct OutcomePage: Hashable, Sendable {
    /// In the order that was asked for.
    public var outcomes: [Outcome]
    /// Where to go on: everything between the start and here was looked at, unreadable records included. Equal to the start
    /// when there was nothing more.
    public var end: OutcomeCursor
    /// Of a search: the number of outcomes that it could not look at, since the journal is damaged. In a listing the cursors
    /// tell.
    public var unreadable: Int

    package init(outcomes: [Outcome], end: OutcomeCursor, unreadable: Int = 0) {
        self.outcomes = outcomes
        self.end = end
        self.unreadable = unreadable
    }
}

/// The gaps of a listing. Its outcomes are numbered one by one, so what a page lacks was deleted or can't be read.
extension OutcomePage {
    /// The page up to its first gap behind an outcome. What it lacks then lies before its first outcome.
    func upToGap() -> OutcomePage {
        guard var last = outcomes.first?.cursor, let newest = outcomes.last?.cursor else { return self }
        guard newest < end || Int(clamping: newest.rawValue - last.rawValue) != outcomes.count - 1 else { return self }
        let next = outcomes.dropFirst().firstIndex { outcome in
            defer { last = outcome.cursor }
            return outcome.cursor.rawValue != last.rawValue + 1
        }
        let whole = outcomes[..<(next ?? outcomes.endIndex)]
        return OutcomePage(outcomes: Array(whole), end: whole.last?.cursor ?? end)
    }

    /// What lies between `cursor` and the first outcome, or the page's end if it has none.
    ///
    /// - Parameter deleted: the last outcome that was deleted, as of later than the page.
    func missing(after cursor: OutcomeCursor, deleted: OutcomeCursor) -> (deleted: Int, unreadable: Int) {
        let next = outcomes.first.map { $0.cursor.rawValue - 1 } ?? max(end, deleted).rawValue
        let start = min(cursor.rawValue, next)
        let gone = max(start, min(deleted.rawValue, next))
        return (Int(clamping: gone - start), Int(clamping: next - gone))
    }
}
