import Foundation
import Holdfast
import HoldfastLMDB

/// The index of one segment, on its way into the table: a few rows with each commit, behind everything else.
struct IndexWork: Sendable {
    let segment: UInt64
    let rows: [(key: InlineArray<6, UInt8>, value: [UInt8])]
    /// The number of rows that are in the table.
    var done = 0

    var isDone: Bool { done == rows.count }
}

/// Builds the index of a segment of the log when it is complete, on a thread of its own, from snapshots.
///
/// A building that is interrupted, by a crash even, is begun again: a segment without its summary is read as a whole.
final class OutcomeIndexer: Sendable {
    private struct State: Sendable {
        var isBuilding = false
        var isClosed = false
    }

    private let state = Monitor(State())
    private let readers: ReaderPool
    private let tables: OutcomeTables
    private let hash: OutcomeHash

    /// Blocks that are read in one snapshot.
    private static let stretch = 256

    init(_ tables: OutcomeTables, _ readers: ReaderPool, key: IdentityKey) {
        self.tables = tables
        self.readers = readers
        hash = OutcomeHash(key)
    }

    /// Builds the index of a segment, unless one is being built.
    ///
    /// - Parameter deliver: gets it on the building thread.
    func begin(_ segment: UInt64, deliver: @escaping @Sendable (IndexWork) -> Void) {
        let isFree = state.withLock { state in
            guard !state.isBuilding, !state.isClosed else { return false }
            state.isBuilding = true
            return true
        }
        guard isFree else { return }
        Thread.detachNewThread { [self] in
            let work = build(segment)
            state.withLock { state in state.isBuilding = false }
            if let work { deliver(work) }
        }
    }

    /// Builds no more. What is under way ends with the stretch it reads.
    func close() { state.withLock { state in state.isClosed = true } }

    /// - Returns: nil if it cannot be read, or the journal closes. It is tried again later. Of a segment with a damaged block
    ///   the work has no rows, so that it is read as a whole: an index without the block would hide the damage.
    func build(_ segment: UInt64) -> IndexWork? {
        var index = SegmentIndex(segment, hash)
        var isDamaged = false
        var next: UInt64? = OutcomeBlock.first(of: segment)
        let end = OutcomeBlock.first(of: segment + 1)
        do throws(LMDBError) {
            while let start = next {
                guard !state.withLock({ state in state.isClosed }) else { return nil }
                let read = try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) -> Place in
                    try stretch(from: start, before: end, into: &index, snapshot)
                }
                guard let read else { return nil }
                next = read.next
                isDamaged = isDamaged || read.isDamaged
            }
        } catch {
            // Readings of the log itself will report it. Without an index every block is read.
            return nil
        }
        return IndexWork(segment: segment, rows: isDamaged ? [] : index.rows())
    }

    private struct Place {
        /// The number with which to go on; nil at the end.
        let next: UInt64?
        /// Whether a block cannot be read.
        let isDamaged: Bool
    }

    private func stretch(
        from start: UInt64, before end: UInt64, into index: inout SegmentIndex, _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> Place {
        try snapshot.withCursor(tables.log) { (cursor: inout Cursor) throws(LMDBError) -> Place in
            var found = try cursor.seek(atLeast: Key.uid(start).span)
            var count = 0
            var last = start
            var isDamaged = false
            while found {
                var isOver = false
                cursor.withCurrent { key, bytes in
                    let first = key.bigEndian64(at: 0)
                    // A key that went back would keep this from ending.
                    isOver = first >= end || first < last
                    last = first
                    guard !isOver, count < Self.stretch else { return }
                    switch OutcomeBlockHeader.read(bytes, key: first) {
                    case .success(let header): index.add(bytes, header)
                    case .failure: isDamaged = true
                    }
                }
                if isOver { return Place(next: nil, isDamaged: isDamaged) }
                if count == Self.stretch { return Place(next: last, isDamaged: isDamaged) }
                count += 1
                found = try cursor.next()
            }
            return Place(next: nil, isDamaged: isDamaged)
        }
    }
}
