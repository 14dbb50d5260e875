import CHoldfastLMDB

/// The one write transaction of an environment, aborted unless committed. Stays on the thread that began it.
@safe package struct WriteTransaction: Transaction, ~Copyable {
    package let environment: Environment
    private var handle: OpaquePointer?
    /// Notes its changes; nil without a ``CommitGate``.
    package let recorder: EffectRecorder?

    /// Begins; waits for another process's write transaction to end.
    package init(_ environment: Environment) throws(LMDBError) {
        var begun: OpaquePointer?
        let code = unsafe mdb_txn_begin(environment.handle, nil, 0, &begun)
        try check(code, "mdb_txn_begin", path: environment.path)
        self.environment = environment
        recorder = environment.gate == nil ? nil : EffectRecorder(environment)
        unsafe handle = begun
    }

    deinit { if let handle = unsafe handle { unsafe mdb_txn_abort(handle) } }

    @unsafe package var pointer: OpaquePointer { unsafe handle! }

    /// Opens a table, making it if it is not there. Valid for other transactions once this one is committed.
    package func table(_ name: String) throws(LMDBError) -> Table {
        var index: MDB_dbi = 0
        let found = unsafe mdb_dbi_open(pointer, name, 0, &index)
        let isNew = try !checkFound(found, "mdb_dbi_open", path: environment.path)
        if isNew {
            let made = unsafe mdb_dbi_open(pointer, name, UInt32(MDB_CREATE), &index)
            try check(made, "mdb_dbi_open", path: environment.path)
        }
        let table = environment.table(name, index)
        if isNew { try recorder?.make(index) }
        return table
    }

    /// Puts or replaces a value.
    package func put(_ key: Span<UInt8>, _ value: Span<UInt8>, in table: Table) throws(LMDBError) {
        if let seal = table.seal, seal.covers(key) {
            let stored = try seal.place(of: key)
            let sealed = try seal.sealed(value, key: key, storedKey: stored.span)
            return try putStored(stored.span, sealed.span, in: table)
        }
        try putStored(key, value, in: table)
    }

    private func putStored(_ key: Span<UInt8>, _ value: Span<UInt8>, in table: Table) throws(LMDBError) {
        let code = unsafe key.withValue { key in
            unsafe value.withValue { value in unsafe mdb_put(pointer, table.index, key, value, 0) }
        }
        try check(code, "mdb_put", path: environment.path)
        try recorder?.put(key, value, in: table.index)
    }

    /// - Returns: whether there was such a key.
    package func delete(_ key: Span<UInt8>, in table: Table) throws(LMDBError) -> Bool {
        if let seal = table.seal, seal.hidesKeys {
            let stored = try seal.storedKey(key)
            return try deleteStored(stored.span, in: table)
        }
        return try deleteStored(key, in: table)
    }

    private func deleteStored(_ key: Span<UInt8>, in table: Table) throws(LMDBError) -> Bool {
        let code = unsafe key.withValue { key in unsafe mdb_del(pointer, table.index, key, nil) }
        guard try checkFound(code, "mdb_del", path: environment.path) else { return false }
        try recorder?.delete(key, in: table.index)
        return true
    }

    /// Commits: on disk on return, unless the environment is opened unsynced.
    ///
    /// On an error the transaction is not part of the environment as this process sees it. Whether it is on disk is
    /// certain only when the error is not one of syncing or of the meta page: see `CommitFailure` in the journal.
    ///
    /// With a ``CommitGate``, an error of code `notKept` or `rowsGone` means that it is not there and never will be, and one of code
    /// `copyIsBehind` that this copy lacks it, and the gate has it, or may have it.
    ///
    package consuming func commit() throws(LMDBError) { _ = try commit(taking: [], claiming: []) }

    /// Commits as ``commit()``, unless others have what it claims.
    ///
    /// - Parameters:
    ///   - rows: for the gate: see ``CommitGate/keep(_:taking:claiming:)``. Without one there are none.
    ///   - claims: the same.
    /// - Returns: the claims that others have, with their values. Unless it is empty, nothing was committed.
    package consuming func commit(
        taking rows: [Int64], claiming claims: [CommitClaim]
    ) throws(LMDBError) -> [CommitClaim] {
        let isKept: Bool
        switch try keep(taking: rows, claiming: claims) {
        case .claimed(let others): return others
        case .kept: isKept = true
        case nil: isKept = false
        }
        let handle = unsafe handle!
        unsafe self.handle = nil
        let code = unsafe mdb_txn_commit(handle)
        if isKept, code != MDB_SUCCESS { throw LMDBError(.copyIsBehind, "mdb_txn_commit", path: environment.path) }
        try check(code, "mdb_txn_commit", path: environment.path)
        return []
    }

    /// - Returns: `nil` where there was nothing to keep, or no gate to keep it.
    private func keep(taking rows: [Int64], claiming claims: [CommitClaim]) throws(LMDBError) -> GateAnswer? {
        guard let gate = environment.gate, let effects = recorder?.finish() else { return nil }
        let answer = try gate.keep(effects, taking: rows, claiming: claims)
        guard case .kept(let number) = answer else { return answer }
        let place = WorkingCopy.Place(number: number, effects: effects.span)
        do throws(LMDBError) { try WorkingCopy.note(place, in: self) } catch {
            throw LMDBError(.copyIsBehind, error.operation, path: error.path)
        }
        return answer
    }
}
