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

    package init(deleted: OutcomeCursor = .start, newest: OutcomeCursor = .start, bytes: Int = 0) {
        self.deleted = deleted
        self.newest = newest
        self.bytes = bytes
    }

    /// The number of outcomes in the log.
    package var count: Int { Int(clamping: newest.rawValue - deleted.rawValue) }

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

    package init(outcomes: [Outcome], end: OutcomeCursor) {
        self.outcomes = outcomes
        self.end = end
    }
}
