import Holdfast
import HoldfastLMDB

/// The oldest outcomes are deleted, block by block, and with the last of a segment its index.
extension CommitDraft {
    /// Does a part of a step.
    ///
    /// - Parameters:
    ///   - budget: rows that may be deleted.
    ///   - lastOutcome: the last one that may be.
    ///   - outcomes: counts the outcomes.
    mutating func trimOutcomes(
        _ bounds: TrimBounds, _ step: TrimWork.Step, _ budget: Int, through lastOutcome: UInt64,
        outcomes count: inout Int
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        guard let tables = tables.outcomeLog, state.log.newest > 0 || outcomes.newest > 0 else { return (0, true) }
        let greatest = bounds.greatestOutcomeBytes.map { bytes in max(0, bytes) / pageByteCount }
        var deleted = try dropIndex(tables, budget)
        while deleted < budget {
            if step == .surplusOutcomes {
                guard let greatest, try tables.pages(transaction) > greatest else { return (deleted, true) }
            }
            let before = step == .oldOutcomes ? bounds.outcomesBefore : nil
            if step == .oldOutcomes, before == nil { return (deleted, true) }
            let number = state.log.deleted
            guard try dropFirstBlock(tables, before: before?.milliseconds, through: lastOutcome) else {
                return (deleted, true)
            }
            count += Int(clamping: state.log.deleted - number)
            deleted += 1
            deleted += try dropIndex(tables, budget - deleted)
        }
        return (deleted, false)
    }

    /// Deletes the oldest outcomes until the log has its limit, or what it had before this commit where that was more: what
    /// is beyond the limit for another reason, as a lower limit, goes in other commits. Of its own outcomes it deletes none.
    ///
    /// - Precondition: what the commit adds lies in the table.
    mutating func keepLogToLimit(_ tables: OutcomeTables) throws(LMDBError) {
        guard let logLimit else { return }
        let greatest = max(logLimit.pages, logLimit.pagesBefore)
        while try tables.pages(transaction) > greatest {
            if try dropIndex(tables, Self.indexRowsAtATime) == 0, try !dropFirstBlock(tables, before: nil) { return }
        }
    }

    /// Rows of a deleted segment's index that go before another block does.
    private static let indexRowsAtATime = 8

    /// The last outcome that may be deleted: no reader is waited for that has not read it.
    private var lastRead: UInt64 {
        state.readers.lazy.filter(\.isWaitedFor).map(\.cursor.rawValue).min() ?? .max
    }

    /// Deletes the oldest block, if it may be deleted.
    ///
    /// - Parameters:
    ///   - before: only if all of its outcomes were settled earlier; nil for any.
    ///   - lastOutcome: only if it ends there, or earlier.
    private mutating func dropFirstBlock(
        _ tables: OutcomeTables, before: Int64?, through lastOutcome: UInt64 = .max
    ) throws(LMDBError) -> Bool {
        let lastRead = min(lastRead, lastOutcome)
        let (openFirst, newest, changedFirst) = (outcomes.openFirst, outcomes.newest, outcomes.changedFirst)
        let block = try transaction.withCursor(tables.log) {
            (cursor: inout Cursor) throws(LMDBError) -> (first: UInt64, last: UInt64)? in
            guard try cursor.first() else { return nil }
            var first: UInt64 = 0
            var header: OutcomeBlockHeader?
            cursor.withCurrent { key, bytes in
                first = key.bigEndian64(at: 0)
                if case .success(let sound) = OutcomeBlockHeader.read(bytes, key: first) { header = sound }
            }
            // A commit deletes none of the outcomes that it adds.
            if let changedFirst, first >= changedFirst { return nil }
            if let header, let before, header.settledTo >= before { return nil }
            var last = header?.last
            if last == nil {
                // One that cannot be read ends before the next.
                last = newest
                if try cursor.next() { cursor.withKey { key in last = key.bigEndian64(at: 0) &- 1 } }
                guard try cursor.first() else { return nil }
            }
            guard let last, last <= lastRead, last >= first else { return nil }
            try cursor.delete()
            return (first, last)
        }
        guard let (first, last) = block else { return false }
        // What is missing before it was lost.
        state.log.delete(through: last, having: last - first + 1)
        state.log.unindexed = max(state.log.unindexed, OutcomeBlock.segment(of: last + 1))
        if last >= openFirst { outcomes.beginAnew() }
        return true
    }

    /// Deletes rows of the index whose segments are gone.
    private func dropIndex(_ tables: OutcomeTables, _ budget: Int) throws(LMDBError) -> Int {
        guard budget > 0 else { return 0 }
        let first = OutcomeBlock.segment(of: state.log.deleted + 1)
        return try transaction.withCursor(tables.index) { (cursor: inout Cursor) throws(LMDBError) in
            var deleted = 0
            var found = try cursor.first()
            while found, deleted < budget {
                var segment: UInt64 = 0
                cursor.withKey { key in segment = UInt64(key.bigEndian32(at: 0)) }
                guard segment < first else { break }
                try cursor.delete()
                deleted += 1
                found = try cursor.next()
            }
            return deleted
        }
    }
}

extension TrimBounds {
    /// Bytes of the log that give way at a time when the disk is full.
    private static let leastStep = 4 << 20

    /// For a full disk: a part of the log gives way.
    static func makingRoom(_ bytes: Int) -> TrimBounds {
        TrimBounds(greatestOutcomeBytes: max(0, bytes - max(leastStep, bytes / 16)))
    }
}
