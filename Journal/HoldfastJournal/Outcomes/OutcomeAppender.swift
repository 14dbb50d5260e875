import Holdfast
import HoldfastLMDB

/// The end of the log: the block that is being filled, and full ones that the commit in the making puts into the table.
///
/// Additions count from ``commit()`` on; ``rollBack()`` takes them back. For the writer's thread.
final class OutcomeAppender {
    private var open: OutcomeBlockWriter
    private var closed: [(first: UInt64, bytes: [UInt8])] = []
    /// Of the last commit.
    private var saved: OutcomeBlockWriter
    /// Whether outcomes were added since.
    private(set) var isChanged = false
    /// Bytes of a block.
    private let capacity: Int

    /// - Parameters:
    ///   - newest: the number of the newest outcome.
    ///   - block: the newest block.
    ///   - capacity: bytes of a block.
    init(
        after newest: UInt64, block: (bytes: [UInt8], header: OutcomeBlockHeader)? = nil,
        capacity: Int = OutcomeBlock.capacity
    ) {
        self.capacity = capacity
        open = OutcomeBlockWriter(first: newest &+ 1, capacity: capacity)
        if let block, block.header.last == newest,
            let resumed = OutcomeBlockWriter(resuming: block.bytes, block.header, capacity: capacity)
        {
            open = resumed
        }
        saved = open
    }

    /// The number of the newest outcome.
    var newest: UInt64 { open.last }

    /// The first outcome of the block that is being filled.
    var openFirst: UInt64 { open.first }

    /// The first outcome of the oldest block that the commit in the making writes; `nil` if it writes none.
    var changedFirst: UInt64? { isChanged ? saved.first : nil }

    /// Inlined as far as the bytes, since copies of the row would be a third of what it costs.
    @inline(__always)
    func append(_ row: OutcomeRow, in source: Span<UInt8>, extras: Span<UInt8>) {
        isChanged = true
        if !open.append(row, in: source, extras: extras) { appendToNext(row, in: source, extras: extras) }
    }

    /// The block is full: begins another.
    @inline(never)
    private func appendToNext(_ row: OutcomeRow, in source: Span<UInt8>, extras: Span<UInt8>) {
        // Exchanged, so that nothing is copied.
        var full = OutcomeBlockWriter(first: open.last &+ 1, capacity: capacity)
        swap(&full, &open)
        closed.append((full.first, full.image()))
        let isAdded = open.append(row, in: source, extras: extras)
        precondition(isAdded, "an empty block has room for any outcome")
    }

    /// Puts what was added into the table, the block that is being filled as well.
    func store(_ transaction: borrowing WriteTransaction, _ table: Table) throws(LMDBError) {
        guard isChanged else { return }
        let known = saved.count > 0 ? saved.first : 0
        try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            for (first, bytes) in closed {
                try Self.put(bytes.span, first, isNew: first != known, &cursor)
            }
            guard open.count > 0 else { return }
            let first = open.first
            try open.withImage { (bytes: Span<UInt8>) throws(LMDBError) in
                try Self.put(bytes, first, isNew: first != known, &cursor)
            }
        }
    }

    private static func put(
        _ block: Span<UInt8>, _ first: UInt64, isNew: Bool, _ cursor: inout Cursor
    ) throws(LMDBError) {
        try cursor.put(Key.uid(first).span, appending: isNew, count: block.count) { output in
            output.copy(0..<block.count, of: block, to: 0)
        }
    }

    /// The newest block is deleted, as all before: the next outcome begins another.
    func beginAnew() { open = OutcomeBlockWriter(first: newest &+ 1, capacity: capacity) }

    /// The commit is done.
    func commit() {
        saved = open
        closed = []
        isChanged = false
    }

    /// The commit did not come about.
    func rollBack() {
        open = saved
        closed = []
        isChanged = false
    }
}
