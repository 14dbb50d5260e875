import Holdfast
import HoldfastLMDB

/// Reads the log forward, for its readers.
enum OutcomeReading {
    /// Bytes of blocks that one page is read from.
    private static let pageByteCount = 1 << 20

    /// The outcomes after `cursor` that are still there, with those of one snapshot. A block that cannot be read is passed
    /// over.
    ///
    /// - Parameters:
    ///   - newest: the newest outcome that callers know of. The snapshot may be ahead of it, and what is told must not be: a
    ///     cursor beyond the newest outcome is refused.
    ///   - producers: the names, Producer 1 first.
    static func page(
        after cursor: OutcomeCursor, limit: Int, newest: UInt64, producers: [String], in snapshot: borrowing Snapshot,
        _ tables: OutcomeTables
    ) throws(LMDBError) -> OutcomePage {
        var page = OutcomePage(outcomes: [], end: cursor)
        guard limit > 0, cursor.rawValue < newest else { return page }
        try snapshot.withCursor(tables.log) { (place: inout Cursor) throws(LMDBError) in
            var hasRow = try seek(cursor.rawValue + 1, &place)
            var bytesLeft = pageByteCount
            while hasRow, page.outcomes.count < limit, bytesLeft > 0 {
                var isRead = true
                place.withCurrent { key, bytes in
                    bytesLeft -= bytes.count
                    isRead = take(bytes, key.bigEndian64(at: 0), limit, through: newest, producers, &page)
                }
                hasRow = try place.next()
                // What cannot be read ends before the next block.
                guard !isRead else { continue }
                var next = newest &+ 1
                if hasRow { place.withCurrent { key, _ in next = key.bigEndian64(at: 0) } }
                page.end = max(page.end, OutcomeCursor(min(next &- 1, newest)))
            }
        }
        return page
    }

    /// Goes to the block that has outcome `number`, or the next one.
    private static func seek(_ number: UInt64, _ cursor: inout Cursor) throws(LMDBError) -> Bool {
        guard number < .max, try cursor.seek(atLeast: Key.uid(number + 1).span) else {
            return try cursor.last()
        }
        return try cursor.previous() ? true : cursor.first()
    }

    /// - Returns: whether the block could be read.
    private static func take(
        _ bytes: Span<UInt8>, _ first: UInt64, _ limit: Int, through newest: UInt64, _ producers: [String],
        _ page: inout OutcomePage
    ) -> Bool {
        guard case .success(let header) = OutcomeBlockHeader.read(bytes, key: first) else { return false }
        var scanner = OutcomeScanner(header, bytes)
        while page.outcomes.count < limit {
            let number = scanner.number
            guard number <= newest else { return true }
            guard let row = scanner.next(bytes) else { break }
            guard number > page.end.rawValue else { continue }
            page.end = OutcomeCursor(number)
            if let outcome = row.outcome(number, bytes, producers: producers) { page.outcomes.append(outcome) }
        }
        // Of a block whose bytes make no sense the rest is passed over, and so are outcomes that make none.
        if scanner.isBroken { page.end = max(page.end, OutcomeCursor(min(header.last, newest))) }
        return true
    }
}
