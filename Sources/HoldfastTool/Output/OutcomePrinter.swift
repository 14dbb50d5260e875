internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Prints outcomes in their order, for people or as JSON, and tells of gaps.
final class OutcomePrinter {
    /// Outcomes that were deleted before they were read, or can't be read.
    private struct Gap: Encodable {
        var missed: Int
        /// Of them, because of damage; nil where there are none.
        var unreadable: Int?
        /// True where others are missing, nobody knows how many; else absent.
        var wasOff: Bool?
        /// The cursor that was asked for, and the last one that is gone; nil where none was deleted.
        var after: UInt64
        var deleted: UInt64?
    }

    private struct Next: Encodable {
        var next: UInt64
        /// False while the history is off; else absent.
        var isKept: Bool?
    }

    private let json: Bool
    private let reveal: Bool
    /// Whether a closed pipe is a failure: outcomes that nobody has read must not count as read.
    private let mustBeRead: Bool
    private let console: Console
    private var hasHeading = false

    init(json: Bool, reveal: Bool, mustBeRead: Bool, console: Console = .standard) {
        (self.json, self.reveal, self.mustBeRead, self.console) = (json, reveal, mustBeRead, console)
    }

    /// - Throws: ``ToolError`` when standard output does not take it and must.
    func print(_ listing: OutcomeListing, after cursor: OutcomeCursor) throws {
        var lines: [String] = []
        if listing.missed > 0 || listing.wasOff { lines += try gap(listing, after: cursor) }
        for outcome in listing.outcomes {
            let row = OutcomeRow(outcome, reveal: reveal)
            if !json, !hasHeading {
                lines.append("\(Self.padded("CURSOR"))\(OutcomeRow.heading)")
                hasHeading = true
            }
            lines.append(json ? try row.json() : "\(Self.padded("\(outcome.cursor)"))\(row.line())")
        }
        if !lines.isEmpty { try write(lines.joined(separator: "\n")) }
    }

    private func write(_ text: String) throws(ToolError) {
        guard mustBeRead else { return console.print(text) }
        try Console.export(Array("\(text)\n".utf8))
    }

    /// Says where to go on.
    ///
    /// - Parameter isKept: whether the history is on.
    func printEnd(_ cursor: OutcomeCursor, isKept: Bool = true) throws {
        guard json else { return console.note("the next cursor: --after \(cursor)") }
        try write(try JSONOutput.line(Next(next: cursor.rawValue, isKept: isKept ? nil : false)))
    }

    private func gap(_ listing: OutcomeListing, after cursor: OutcomeCursor) throws -> [String] {
        let (missed, unreadable) = (listing.missed, listing.unreadable)
        let gone = cursor.rawValue + UInt64(missed - unreadable)
        if missed > unreadable {
            console.warning(
                "\(Format.plural(missed - unreadable, "outcome")) after cursor \(cursor), up to \(gone), had been deleted "
                    + "before they were read: journal.history keeps less than that")
        }
        if unreadable > 0 {
            let end = listing.outcomes.first.map { $0.cursor.rawValue - 1 } ?? listing.end.rawValue
            console.warning(
                "\(Format.plural(unreadable, "outcome")) up to cursor \(end) cannot be read, since the journal is damaged: "
                    + "`holdfast journal verify` says where")
        }
        if listing.wasOff {
            console.warning(
                "outcomes after cursor \(gone) are missing, nobody knows how many: journal.history was off when they ended"
            )
        }
        guard json else { return [] }
        let gap = Gap(
            missed: missed, unreadable: unreadable > 0 ? unreadable : nil, wasOff: listing.wasOff ? true : nil,
            after: cursor.rawValue, deleted: missed > unreadable ? gone : nil)
        return [try JSONOutput.line(gap)]
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(0, 10 - text.count)) + "  "
    }
}
