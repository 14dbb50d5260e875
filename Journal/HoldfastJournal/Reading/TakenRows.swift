package import Holdfast
package import HoldfastLMDB

/// The rows that a journal has taken out of the queue of its gate, as far as it remembers them.
package struct TakenRows: Hashable, Sendable {
    package private(set) var rows: Set<QueueRow> = []
    /// The last commit whose rows may be forgotten; 0 for none.
    package private(set) var forgotten: UInt64 = 0

    /// None.
    package init() {}

    /// Reads them of a working copy that nobody has open.
    ///
    /// - Parameter number: of the commit behind which they were taken.
    package init(in environment: Environment, after number: UInt64) throws(LMDBError) {
        guard let notes = try ReaderPool.openTables(["notes"], in: environment)?.first else { return }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        self =
            try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try TakenRows(in: snapshot, notes, after: number)
            } ?? self
    }

    init(in snapshot: borrowing Snapshot, _ notes: Table, after number: UInt64) throws(LMDBError) {
        let name = Array(TakenNote.forgottenName.utf8)
        if let record = try snapshot.get(name.span, in: notes), let value = try? NoteRecord.value(record, name: name),
            value.count == 8
        {
            forgotten = value.span.littleEndian64(at: 0)
        }
        let first = TakenNote.key(number + 1)
        var found: [QueueRow] = []
        var forgotten = forgotten
        try snapshot.withCursor(notes) { (cursor: inout Cursor) throws(LMDBError) in
            var isThere = try cursor.seek(atLeast: first.span)
            while isThere {
                var (number, note): (UInt64?, TakenNote?)
                cursor.withCurrent { key, value in
                    number = TakenNote.number(of: key.array)
                    note = TakenNote(key: key.array, record: value.array)
                }
                guard let number else { break }
                if let note { found += note.rows } else { forgotten = max(forgotten, number) }
                isThere = try cursor.next()
            }
        }
        rows = Set(found)
        self.forgotten = forgotten
    }
}
