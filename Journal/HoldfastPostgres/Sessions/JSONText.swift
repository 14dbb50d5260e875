internal import Foundation
internal import Holdfast
internal import HoldfastPQ

/// Rows of several columns as one parameter, for `jsonb_to_recordset`.
enum JSONText {
    /// - Throws: `unexpected` for what JSON has no form for.
    static func of(_ rows: [some Encodable]) throws(PQError) -> String {
        do {
            return String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)
        } catch {
            throw PQError(.unexpected, "rows can't be written as JSON: \(error)")
        }
    }

    /// Milliseconds that `timestamptz` takes: services, and clocks that are wrong, may say any.
    static func time(_ time: WallTime) -> Int64 { min(max(time.milliseconds, 0), 253_402_300_799_999) }

    /// A text that `jsonb` takes: it has no null character.
    static func plain(_ text: String?) -> String? { text?.replacing("\0", with: "\u{FFFD}") }
}
