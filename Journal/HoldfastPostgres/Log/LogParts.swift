package import HoldfastLMDB

/// How effects lie in rows: cut into parts, each of which fits into a page beside its key.
package enum LogParts {
    /// A page has 8,136 bytes for a row's columns, of which the key and a length take 16.
    package static let byteLimit = 8100

    package static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: byteLimit).map { start in
            Array(bytes[start..<min(start + byteLimit, bytes.count)])
        }
    }
}

/// A row of the log or of a checkpoint.
package struct LogRow: Hashable, Sendable {
    /// Of the commit, or the chunk.
    package let number: UInt64
    package let part: Int
    package let bytes: [UInt8]

    package init(number: UInt64, part: Int, bytes: [UInt8]) {
        self.number = number
        self.part = part
        self.bytes = bytes
    }
}

/// Puts rows together again that come in their order, and finds out what is missing.
package struct LogAssembler: Sendable {
    package enum Fault: Error, Hashable, Sendable {
        /// Rows of this number are missing, or there are too many.
        case missing(UInt64)
        case damaged(UInt64, Effects.Damage)
    }

    /// The number that is being put together, or comes next.
    package private(set) var next: UInt64
    private var bytes: [UInt8] = []
    private var parts = 0

    /// - Parameter next: the number of the first row.
    package init(next: UInt64) { self.next = next }

    /// The place of the last row, for reading on behind it.
    package var place: (number: UInt64, part: Int) { parts == 0 ? (next - 1, Int(Int32.max)) : (next, parts - 1) }

    /// - Returns: the effects before this row's number, once they are whole.
    package mutating func take(_ row: LogRow) throws(Fault) -> [UInt8]? {
        var done: [UInt8]?
        if row.number != next || row.part != parts {
            guard parts > 0, row.number > next else { throw .missing(next) }
            done = try finish()
            guard row.number == next, row.part == 0 else { throw .missing(next) }
        }
        bytes += row.bytes
        parts += 1
        return done
    }

    /// No row follows.
    ///
    /// - Returns: the last effects; `nil` where none were begun.
    package mutating func end() throws(Fault) -> [UInt8]? { parts == 0 ? nil : try finish() }

    private mutating func finish() throws(Fault) -> [UInt8] {
        do throws(Effects.Damage) { try Effects.check(bytes) } catch { throw .damaged(next, error) }
        defer {
            bytes = []
            parts = 0
            next += 1
        }
        return bytes
    }
}
