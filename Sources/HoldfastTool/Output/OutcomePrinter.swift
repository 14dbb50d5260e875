internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Prints outcomes in their order, for people or as JSON, and tells of gaps.
final class OutcomePrinter {
    /// Outcomes that were deleted before they were read.
    private struct Gap: Encodable {
        var missed: Int
        /// True where others are missing, nobody knows how many; else absent.
        var wasOff: Bool?
        /// The cursor that was asked for, and the last one that is gone.
        var after: UInt64
        var deleted: UInt64
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
        let (missed, gone) = (listing.missed, cursor.rawValue + UInt64(listing.missed))
        if missed > 0 {
            console.warning(
                "\(Format.plural(missed, "outcome")) after cursor \(cursor), up to \(gone), had been deleted before they were "
                    + "read: journal.history keeps less than that")
        }
        if listing.wasOff {
            console.warning(
                "outcomes after cursor \(gone) are missing, nobody knows how many: journal.history was off when they ended"
            )
        }
        let gap = Gap(
            missed: missed, wasOff: listing.wasOff ? true : nil, after: cursor.rawValue, deleted: gone)
        return json ? [try JSONOutput.line(gap)] : []
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(0, 10 - text.count)) + "  "
    }
}
