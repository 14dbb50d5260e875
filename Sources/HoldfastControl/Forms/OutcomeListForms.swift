package import Holdfast

/// Ended notifications that were looked for: those of the log, the newest first; then rejections that it does not have, by UID.
package struct OutcomesFoundForm: Codable, Hashable, Sendable {
    package var outcomes: [OutcomeForm]
    /// Where to go on, as `before`; absent when nothing is left to look at.
    package var before: UInt64?
    /// Where to go on, as `rejections-after`; absent while `before` is there, and when nothing is left to look at.
    package var rejectionsAfter: UInt64?
    /// Outcomes that could not be looked at, since the journal is damaged; absent where there are none.
    package var unreadable: Int?
    /// False while nothing is added, since the history is off; else absent.
    package var isKept: Bool?

    package init(_ page: OutcomePage, isKept: Bool = true) {
        self.isKept = isKept ? nil : false
        outcomes = page.outcomes.map { OutcomeForm($0, tellsStory: true) }
        before = page.end == .start ? nil : page.end.rawValue
        unreadable = page.unreadable > 0 ? page.unreadable : nil
    }

    /// Adds rejections that the log does not have.
    mutating func add(_ page: RejectionPage) {
        outcomes += page.outcomes.map { OutcomeForm($0, tellsStory: true) }
        rejectionsAfter = page.end?.rawValue
    }

    /// Those of the log.
    func value() throws(ControlError) -> OutcomePage {
        OutcomePage(
            outcomes: try outcomes.filter { $0.cursor != nil }.values(), end: OutcomeCursor(before ?? 0),
            unreadable: unreadable ?? 0)
    }

    /// Those that the log does not have.
    func rejections() throws(ControlError) -> RejectionPage {
        RejectionPage(
            outcomes: try outcomes.filter { $0.cursor == nil }.values(), end: rejectionsAfter.map { UID($0) })
    }
}

/// Outcomes in the order in which they ended.
package struct OutcomeListForm: Codable, Hashable, Sendable {
    package var outcomes: [OutcomeForm]
    /// Where to go on, as `after`.
    package var next: UInt64
    package var newest: UInt64
    /// Outcomes before these that were not read; absent where there are none.
    package var missed: Int?
    /// Those of them that can't be read, since the journal is damaged; absent where there are none.
    package var unreadable: Int?
    /// True where outcomes are missing right before these, which ended while the history was off; else absent.
    package var wasOff: Bool?
    /// False while nothing is added, since the history is off; else absent.
    package var isKept: Bool?

    package init(_ listing: OutcomeListing) {
        isKept = listing.isKept ? nil : false
        wasOff = listing.wasOff ? true : nil
        outcomes = listing.outcomes.map { OutcomeForm($0) }
        next = listing.end.rawValue
        newest = listing.newest.rawValue
        missed = listing.missed > 0 ? listing.missed : nil
        unreadable = listing.unreadable > 0 ? listing.unreadable : nil
    }

    func value() throws(ControlError) -> OutcomeListing {
        OutcomeListing(
            outcomes: try outcomes.values(), end: OutcomeCursor(next), missed: missed ?? 0,
            unreadable: unreadable ?? 0, wasOff: wasOff ?? false, newest: OutcomeCursor(newest), isKept: isKept ?? true)
    }
}

extension [OutcomeForm] {
    fileprivate func values() throws(ControlError) -> [Outcome] {
        var values: [Outcome] = []
        for form in self { values.append(try form.value()) }
        return values
    }
}

/// The history of a journal: what it has of ended notifications, and who reads it.
package struct HistoryForm: Codable, Hashable, Sendable {
    /// Whether what ends is kept.
    package var isKept: Bool
    package var count: Int
    package var bytes: Int
    /// Outcomes up to this one were deleted.
    package var deleted: UInt64
    package var newest: UInt64
    /// Outcomes between those two that a salvage has not found; absent where there are none.
    package var lost: Int?
    /// Outcomes that were met and can't be read; absent where there are none, or no process says.
    package var unreadable: Int?
    /// When the oldest ended; absent where there is none.
    package var oldestAt: ExactTime?
    package var readers: [OutcomeReaderForm]

    package init(_ status: OutcomeLogStatus) {
        isKept = status.isKept
        count = status.count
        bytes = status.bytes
        deleted = status.deleted.rawValue
        newest = status.newest.rawValue
        lost = status.lost > 0 ? status.lost : nil
        unreadable = status.unreadable > 0 ? status.unreadable : nil
        oldestAt = status.oldestAt.map(ExactTime.init)
        readers = status.readers.map { OutcomeReaderForm($0, in: status) }
    }

    func value() -> OutcomeLogStatus {
        OutcomeLogStatus(
            deleted: OutcomeCursor(deleted), newest: OutcomeCursor(newest), oldestAt: oldestAt?.value, bytes: bytes,
            lost: lost ?? 0, unreadable: unreadable ?? 0,
            isKept: isKept, readers: readers.map { $0.value() })
    }
}

/// A reader of outcomes that the journal knows by name.
package struct OutcomeReaderForm: Codable, Hashable, Sendable {
    package var reader: String
    package var cursor: UInt64
    /// Outcomes that it has not read, and can.
    package var lag: Int
    /// Outcomes that were deleted before it came to them; absent in an older Holdfast's where there are none.
    package var missed: Int?
    /// Whether outcomes are kept until it has read them.
    package var isWaitedFor: Bool

    package init(_ reader: OutcomeReader, in status: OutcomeLogStatus) {
        self.reader = reader.name
        cursor = reader.cursor.rawValue
        lag = status.unread(by: reader)
        missed = status.missed(by: reader)
        isWaitedFor = reader.isWaitedFor
    }

    func value() -> OutcomeReader {
        OutcomeReader(name: reader, cursor: OutcomeCursor(cursor), isWaitedFor: isWaitedFor)
    }
}

/// An order about a reader.
struct ReaderOrderForm: Codable {
    var reader: String
    /// Where to move it.
    var cursor: UInt64?
}

/// A reader that was opened, moved or forgotten.
package struct ReaderChangeForm: Codable, Hashable, Sendable {
    package var reader: String
    /// How far it has come; absent for one that was forgotten.
    package var cursor: UInt64?
    package var isForgotten: Bool?

    /// - Parameter cursor: nil for a reader that was forgotten.
    package init(_ reader: String, _ cursor: OutcomeCursor?) {
        self.reader = reader
        self.cursor = cursor?.rawValue
        isForgotten = cursor == nil ? true : nil
    }
}
