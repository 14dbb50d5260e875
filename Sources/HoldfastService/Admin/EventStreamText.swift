internal import Foundation
internal import Holdfast
internal import HoldfastControl

/// Outcomes as server-sent events: the text of `text/event-stream`, as the HTML standard has it.
enum EventStreamText {
    static let type = "text/event-stream; charset=utf-8"

    /// The first words: how long a client waits before it connects again.
    static let start = Array("retry: 2000\n\n".utf8)

    /// A comment, so that nobody in between takes the connection for dead; and how far the log was read, which was nothing of
    /// the client's.
    static func heartbeat(readTo cursor: OutcomeCursor) -> [UInt8] { Array(": heartbeat\nid: \(cursor)\n\n".utf8) }

    /// Outcomes that were deleted before they could be told, or can't be read.
    ///
    /// - Parameter wasOff: whether others, nobody knows how many, ended while the history was off.
    static func gap(_ missed: Int, unreadable: Int, wasOff: Bool, upTo cursor: OutcomeCursor) -> [UInt8] {
        let damage = unreadable > 0 ? ",\"unreadable\":\(unreadable)" : ""
        let others = wasOff ? ",\"wasOff\":true" : ""
        return Array("id: \(cursor)\nevent: gap\ndata: {\"missed\":\(missed)\(damage)\(others)}\n\n".utf8)
    }

    /// Nothing comes any more, since the history is off.
    static func off(readTo cursor: OutcomeCursor) -> [UInt8] {
        Array("id: \(cursor)\nevent: off\ndata: {\"isKept\":false}\n\n".utf8)
    }

    /// One outcome. JSON has no line ends.
    static func outcome(_ outcome: Outcome) throws -> [UInt8] {
        Array("id: \(outcome.cursor)\nevent: outcome\ndata: ".utf8) + (try Form.line(OutcomeForm(outcome)))
            + Array("\n\n".utf8)
    }
}
