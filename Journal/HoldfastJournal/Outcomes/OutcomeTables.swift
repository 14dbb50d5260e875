import Holdfast
import HoldfastLMDB

/// The tables of the log of outcomes: `outcomeLog` (number of the first outcome → block), `outcomeIndex` (segment, bucket →
/// blocks that have a key) and `outcomeReaders` (name → how far the reader has come).
///
/// Every opening for writing makes them; the journal's format rises with the first outcome or reader.
struct OutcomeTables: Sendable {
    static let names = ["outcomeIndex", "outcomeLog", "outcomeReaders"]
    /// In `facts`.
    static let boundsKey = Array("outcomeLog".utf8)

    let index: Table
    let log: Table
    let readers: Table

    init(_ tables: [Table]) { (index, log, readers) = (tables[0], tables[1], tables[2]) }

    var all: [Table] { [index, log, readers] }

    /// Pages that the log and its index take, which have a limit of their own.
    func pages(_ transaction: borrowing some Transaction & ~Copyable) throws(LMDBError) -> Int {
        try transaction.statistics(of: log).pages + transaction.statistics(of: index).pages
    }
}

/// The log of outcomes as it lies in one snapshot, not yet checked.
struct StoredOutcomeLog: Sendable {
    private let stored: [UInt8]?
    /// The key and value of the newest block.
    private var last: (key: UInt64, block: [UInt8])?
    private var first: UInt64?
    private var readerRows: [(name: [UInt8], value: [UInt8])] = []

    /// - Parameters:
    ///   - facts: the table that has the bounds.
    ///   - log: nil in a journal that no newer Holdfast has opened for writing.
    init(_ snapshot: borrowing Snapshot, facts: Table, _ log: OutcomeTables?) throws(LMDBError) {
        let key = OutcomeTables.boundsKey
        stored = try snapshot.get(key.span, in: facts)
        guard let log else { return }
        (first, last) = try snapshot.withCursor(log.log) { (cursor: inout Cursor) throws(LMDBError) in
            guard try cursor.first() else { return (nil, nil) }
            var first: UInt64 = 0
            cursor.withKey { key in first = key.bigEndian64(at: 0) }
            var last: (UInt64, [UInt8])?
            if try cursor.last() {
                cursor.withCurrent { key, value in last = (key.bigEndian64(at: 0), value.array) }
            }
            return (first, last)
        }
        readerRows = try snapshot.withCursor(log.readers) { (cursor: inout Cursor) throws(LMDBError) in
            var rows: [(name: [UInt8], value: [UInt8])] = []
            var found = try cursor.first()
            while found {
                cursor.withCurrent { key, value in rows.append((key.array, value.array)) }
                found = try cursor.next()
            }
            return rows
        }
    }

    /// The bounds. Those that are damaged are made anew from the blocks: then no number is given again, though some may be
    /// left out.
    var bounds: OutcomeLogBounds {
        var bounds = OutcomeLogBounds()
        var isSound = stored == nil
        if let stored {
            do throws(EntryRecord.Fault) {
                bounds = try OutcomeLogBounds(stored)
                isSound = true
            } catch {}
        }
        if let last {
            var newest = last.key
            if case .success(let header) = OutcomeBlockHeader.read(last.block.span, key: last.key) {
                newest = header.last
            } else if !isSound {
                newest = OutcomeBlock.first(of: OutcomeBlock.segment(of: last.key) &+ 1) &- 1
            }
            bounds.newest = max(bounds.newest, newest)
        }
        if !isSound {
            bounds.deleted = first.map { $0 &- 1 } ?? bounds.newest
            bounds.unindexed = OutcomeBlock.segment(of: bounds.deleted &+ 1)
        }
        return bounds
    }

    /// The newest block, if it can be read.
    var newestBlock: (bytes: [UInt8], header: OutcomeBlockHeader)? {
        guard let last, case .success(let header) = OutcomeBlockHeader.read(last.block.span, key: last.key) else {
            return nil
        }
        return (last.block, header)
    }

    /// The readers by name. One whose record is damaged is waited for at the beginning: it reads twice sooner than never.
    var readers: [OutcomeReader] {
        readerRows.map { row in
            do throws(EntryRecord.Fault) {
                return try OutcomeReaderRecord.read(row.value, name: row.name)
            } catch {
                return OutcomeReader(
                    name: String(decoding: row.name, as: UTF8.self), cursor: .start, isWaitedFor: true)
            }
        }
    }
}
