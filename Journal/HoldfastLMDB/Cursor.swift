import CHoldfastLMDB

/// A place in a table. Lives only inside ``Transaction/withCursor(_:_:)``.
@safe package struct Cursor: ~Copyable {
    private let handle: OpaquePointer
    private let path: String
    private var key = unsafe MDB_val()
    private var value = unsafe MDB_val()
    private let recorder: EffectRecorder?
    /// What the table's rows are sealed with; nil for rows that are stored as they are put.
    private let seal: CursorSeal?

    @unsafe init(
        _ transaction: OpaquePointer, _ table: Table, path: String, recorder: EffectRecorder?
    ) throws(LMDBError) {
        var opened: OpaquePointer?
        try check(unsafe mdb_cursor_open(transaction, table.index, &opened), "mdb_cursor_open", path: path)
        unsafe handle = opened!
        self.path = path
        self.recorder = recorder
        seal = table.seal.map(CursorSeal.init)
    }

    deinit { unsafe mdb_cursor_close(handle) }

    private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        let code = unsafe mdb_cursor_get(handle, &key, &value, operation)
        return try checkFound(code, "mdb_cursor_get", path: path)
    }

    /// Each move returns false when there is no such entry; the cursor then has no place.
    package mutating func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }
    package mutating func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }
    package mutating func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }
    package mutating func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

    /// Goes to the first entry at or above `wanted`; where keys are hidden, in the order of the stored ones.
    package mutating func seek(atLeast wanted: Span<UInt8>) throws(LMDBError) -> Bool {
        if let stored = try seal?.hiddenKey(wanted) { return try seekStored(atLeast: stored.span) }
        return try seekStored(atLeast: wanted)
    }

    /// Goes to the first entry above `wanted`, whether or not there is one of that key.
    package mutating func seek(above wanted: Span<UInt8>) throws(LMDBError) -> Bool {
        // The first key above it is the first at or above it with a zero behind.
        let next = (try seal?.hiddenKey(wanted) ?? wanted.array) + [0]
        return try seekStored(atLeast: next.span)
    }

    /// As ``seek(atLeast:)``, by a key as it is stored: see ``withStoredKey(_:)``.
    package mutating func seekStored(atLeast wanted: Span<UInt8>) throws(LMDBError) -> Bool {
        let code = unsafe wanted.withUnsafeBytes { bytes in
            unsafe key = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return unsafe mdb_cursor_get(handle, &key, &value, MDB_SET_RANGE)
        }
        return try checkFound(code, "mdb_cursor_get", path: path)
    }

    /// Goes to the entry of exactly `wanted`.
    package mutating func find(_ wanted: Span<UInt8>) throws(LMDBError) -> Bool {
        if let stored = try seal?.hiddenKey(wanted) { return try findStored(stored.span) }
        return try findStored(wanted)
    }

    private mutating func findStored(_ wanted: Span<UInt8>) throws(LMDBError) -> Bool {
        let code = unsafe wanted.withUnsafeBytes { bytes in
            unsafe key = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return unsafe mdb_cursor_get(handle, &key, &value, MDB_SET_KEY)
        }
        return try checkFound(code, "mdb_cursor_get", path: path)
    }

    /// Passes the entry the last move found, in place: `body` must not keep the spans.
    package borrowing func withCurrent(_ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) -> Void) {
        let value = unsafe value
        if let seal {
            return unsafe key.withSpan { key in unsafe value.withSpan { value in seal.open(key, value, body) } }
        }
        unsafe key.withSpan { key in unsafe value.withSpan { value in body(key, value) } }
    }

    /// Passes the key of the entry the last move found, which need not be opened for it unless keys are hidden.
    package borrowing func withKey(_ body: (_ key: Span<UInt8>) -> Void) {
        if let seal, seal.hidesKeys { return withCurrent { key, _ in body(key) } }
        withStoredKey(body)
    }

    /// Passes the key of the entry the last move found, as it is stored.
    package borrowing func withStoredKey(_ body: (_ key: Span<UInt8>) -> Void) { unsafe key.withSpan(body) }

    /// Deletes the entry the last move found; the next ``next()`` goes to the one behind it.
    package mutating func delete() throws(LMDBError) {
        // Before: the key lies in the page that changes.
        if let recorder { try recordDeletion(recorder) }
        try check(unsafe mdb_cursor_del(handle, 0), "mdb_cursor_del", path: path)
    }

    /// Puts an entry of `count` bytes, which `fill` writes in place.
    ///
    /// - Parameter appending: says that `wanted` is above every key in the table, which is faster and packs pages full;
    ///   when it is not, this throws `keyExists`.
    package mutating func put(
        _ wanted: Span<UInt8>, appending: Bool, count: Int, fill: (inout MutableSpan<UInt8>) -> Void
    ) throws(LMDBError) {
        if let seal, seal.covers(wanted) {
            let (place, value) = try seal.sealed(wanted, count: count, fill)
            return try putStored(place.span, appending: appending, count: value.count) { output in
                output.copy(0..<value.count, of: value.span, to: 0)
            }
        }
        try putStored(wanted, appending: appending, count: count, fill: fill)
    }

    @inline(__always)
    private mutating func putStored(
        _ wanted: Span<UInt8>, appending: Bool, count: Int,
        fill: (inout MutableSpan<UInt8>) -> Void
    ) throws(LMDBError) {
        let flags = UInt32(MDB_RESERVE) | (appending ? UInt32(MDB_APPEND) : 0)
        var reserved = unsafe MDB_val(mv_size: count, mv_data: nil)
        let code = unsafe wanted.withValue { key in unsafe mdb_cursor_put(handle, key, &reserved, flags) }
        try check(code, "mdb_cursor_put", path: path)
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: reserved.mv_data, count: count)
        unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var span = unsafe bytes.mutableSpan
            fill(&span)
        }
        guard let recorder else { return }
        let table = unsafe mdb_cursor_dbi(handle)
        let filled = UnsafeRawBufferPointer(bytes)
        try unsafe filled.withMemoryRebound(to: UInt8.self) { (filled) throws(LMDBError) in
            try unsafe recorder.put(wanted, filled.span, in: table)
        }
    }

    /// Of the entry where liblmdb's cursor is, which may have moved since the last move here.
    private func recordDeletion(_ recorder: EffectRecorder) throws(LMDBError) {
        var (key, value) = unsafe (MDB_val(), MDB_val())
        try check(unsafe mdb_cursor_get(handle, &key, &value, MDB_GET_CURRENT), "mdb_cursor_get", path: path)
        let bytes = unsafe UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
        let table = unsafe mdb_cursor_dbi(handle)
        try unsafe bytes.withMemoryRebound(to: UInt8.self) { (bytes) throws(LMDBError) in
            try unsafe recorder.delete(bytes.span, in: table)
        }
    }
}
