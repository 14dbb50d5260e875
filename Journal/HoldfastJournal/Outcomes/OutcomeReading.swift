import Holdfast
import HoldfastLMDB

/// Reads the log forward, for its readers.
enum OutcomeReading {
    /// Bytes of blocks that one page is read from.
    private static let pageByteCount = 1 << 20

    /// The outcomes after `cursor` that are still there, with those of one snapshot. A block that cannot be read is passed
    /// over, and noted. Where nothing is left the page ends with the newest outcome, whether its block is there or not.
    ///
    /// - Parameters:
    ///   - newest: the newest outcome that callers know of. The snapshot may be ahead of it, and what is told must not be: a
    ///     cursor beyond the newest outcome is refused.
    ///   - producers: the names, Producer 1 first.
    ///   - damage: what cannot be read is added.
    static func page(
        after cursor: OutcomeCursor, limit: Int, newest: UInt64, producers: [String], in snapshot: borrowing Snapshot,
        _ tables: OutcomeTables, _ damage: inout OutcomeDamage
    ) throws(LMDBError) -> OutcomePage {
        let page = OutcomePage(outcomes: [], end: cursor)
        guard limit > 0, cursor.rawValue < newest else { return page }
        let found = try snapshot.withCursor(tables.log) { (place: inout Cursor) throws(LMDBError) in
            var (page, damage) = (page, OutcomeDamage())
            var hasRow = try seek(cursor.rawValue + 1, &place)
            var bytesLeft = pageByteCount
            while hasRow, page.outcomes.count < limit, bytesLeft > 0 {
                var (isRead, first) = (true, UInt64(0))
                place.withCurrent { key, bytes in
                    bytesLeft -= bytes.count
                    first = key.bigEndian64(at: 0)
                    isRead = take(bytes, first, limit, through: newest, producers, &page, &damage)
                }
                hasRow = try place.next()
                // What cannot be read ends before the next block.
                guard !isRead else { continue }
                var next = newest &+ 1
                if hasRow { place.withKey { key in next = key.bigEndian64(at: 0) } }
                let last = min(next &- 1, newest)
                page.end = max(page.end, OutcomeCursor(last))
                if first <= last { damage.add(first, through: last) }
            }
            // Numbers without a block: they were lost in a salvage.
            if !hasRow, page.outcomes.count < limit { page.end = max(page.end, OutcomeCursor(newest)) }
            return (page, damage)
        }
        damage.add(found.1)
        return found.0
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
        _ page: inout OutcomePage, _ damage: inout OutcomeDamage
    ) -> Bool {
        guard case .success(let header) = OutcomeBlockHeader.read(bytes, key: first) else { return false }
        var scanner = OutcomeScanner(header, bytes)
        while page.outcomes.count < limit {
            let number = scanner.number
            guard number <= newest else { return true }
            guard let row = scanner.next(bytes) else { break }
            guard number > page.end.rawValue else { continue }
            page.end = OutcomeCursor(number)
            if let outcome = row.outcome(number, bytes, producers: producers) {
                page.outcomes.append(outcome)
            } else {
                damage.add(number, through: number)
            }
        }
        // Of a block whose bytes make no sense the rest is passed over, and so are outcomes that make none.
        if scanner.isBroken {
            let (first, last) = (max(page.end.rawValue + 1, header.first), min(header.last, newest))
            if first <= last { damage.add(first, through: last) }
            page.end = max(page.end, OutcomeCursor(last))
        }
        return true
    }
}
