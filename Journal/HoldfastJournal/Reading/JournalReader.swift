package import Holdfast
import HoldfastLMDB

/// Reads a journal without owning it, at rest or in use by another process.
///
/// At rest it holds the owner lock shared, so that no writer begins; several readers may do so at a time. A journal in use is
/// read through liblmdb's lock file. In the process that owns the journal it shares the owner's environments, since liblmdb
/// must not open one twice.
///
/// Rows are copied out, at most some thousands in one snapshot, and the snapshot ends before they are returned, so a paused
/// listing pins no pages. Long listings of a journal in use are therefore not of one instant.
package final class JournalReader: Sendable {
    /// The journal's directory.
    package let directory: String
    /// The process that uses the journal, for people; `nil` when it was at rest.
    package let owner: String?

    let store: EntriesStore
    let readers: ReaderPool
    private let blacklist: Environment
    private let tokens: Table
    /// Once there is one: an owner makes it when the first address comes.
    private let addresses = Monitor<Table?>(nil)
    private let blacklistReaders: ReaderPool
    /// Held while the journal is read at rest.
    private let lock: Monitor<OwnerLock?>
    /// Held while a copy of a shared blacklist is read at rest.
    private let copyLock: Monitor<OwnerLock?>
    private let keys: JournalKeys?
    /// Whether it uses a copy of a shared blacklist in the place of its own.
    private let usesOther: Bool
    private let isOpen = Monitor(true)
    let pageByteCount: Int

    /// Opens the journal of a directory, if one was ever completely made there.
    ///
    /// - Returns: `nil` where there is none, or one whose making was interrupted: that holds nothing, and its next opening
    ///   makes it.
    ///
    /// - Parameter keys: with which it may be sealed.
    package static func ofMade(
        directory: String, keys: JournalKeys? = nil
    ) throws(JournalError) -> JournalReader? {
        do throws(JournalError) { return try JournalReader(directory: directory, keys: keys) } catch {
            guard error.code == .notFound, !JournalDirectory(directory).isEvident else { throw error }
            return nil
        }
    }

    /// - Parameters:
    ///   - directory: the journal's, `NAME.journal`.
    ///   - shared: the directory of the ``LocalBlacklist`` that the journal uses in the place of its own; nil for its own.
    ///   - keys: with which it may be sealed; not needed in the process that has it open.
    /// - Throws: ``JournalError`` with code `notFound`, `permissionDenied`, `newerFormat`, `wrongKey`, `damaged`,
    ///   `unsupportedFileSystem` or `inputOutput`.
    package init(
        directory: String, blacklist shared: String? = nil, keys: JournalKeys? = nil
    ) throws(JournalError) {
        self.keys = keys
        usesOther = shared != nil
        let place = JournalDirectory(directory)
        let path = place.path
        try place.refuseIncomplete()
        try place.checkFileSystem()
        let access = try Access(place, keys)
        let entries = try access.open(place.entries, .entries, path)
        do throws(JournalError) {
            let (blacklist, copyLock) = try Self.openBlacklist(of: place, shared, access)
            do throws(JournalError) {
                try EntriesStore.refuseNewerFormat(entries, path)
                try EntriesStore.refuseMissingTables(entries, place)
                guard let store = try EntriesStore(reading: entries, directory: path) else { throw place.notFound }
                try EntriesStore.refuseOtherTables(
                    than: BlacklistTables.everyName, required: BlacklistTables.requiredNames, in: .blacklist, blacklist,
                    shared.map { JournalDirectory($0) } ?? place)
                let tables = try translated("read", path) { () throws(LMDBError) in
                    try ReaderPool.openTables([BlacklistPlace.Part.tokens.rawValue], in: blacklist)
                }
                guard let tokens = tables?.first else { throw place.notFound }
                pageByteCount = try translated("read", path) { () throws(LMDBError) in try entries.info().pageByteCount
                }
                if access.owner == nil { try Self.refuseContradiction(in: store, path) }
                self.store = store
                self.tokens = tokens
            } catch {
                blacklist.close()
                throw error
            }
            self.blacklist = blacklist
            self.copyLock = Monitor(copyLock)
        } catch {
            entries.close()
            throw error
        }
        readers = ReaderPool(entries)
        blacklistReaders = ReaderPool(blacklist)
        self.directory = path
        owner = access.owner
        lock = Monitor(access.lock)
    }

    /// - Returns: the journal's blacklist, or the copy of the one that hosts share, with its lock at rest.
    private static func openBlacklist(
        of place: JournalDirectory, _ shared: String?, _ access: Access
    ) throws(JournalError) -> (Environment, OwnerLock?) {
        guard let shared else { return (try access.open(place.blacklist, .blacklist, place.path), nil) }
        let copy = JournalDirectory(shared)
        guard Files.exists(copy.blacklist + "/data.mdb"), !Files.exists(copy.incomplete) else {
            throw JournalError(.notFound, "there is no copy of the shared blacklist at \(copy.path) yet")
        }
        let itsAccess = try Access(copy, access.keys)
        return (try itsAccess.open(copy.blacklist, .blacklist, copy.path), itsAccess.lock)
    }

    /// The way in which both environments are opened.
    private struct Access {
        let lock: OwnerLock?
        let owner: String?
        let keys: JournalKeys?

        init(_ place: JournalDirectory, _ keys: JournalKeys?) throws(JournalError) {
            self.keys = keys
            lock = try OwnerLock(reading: place)
            owner = lock == nil ? OwnerLock.owner(of: place) : nil
            guard lock != nil else { return }
            try place.checkDataFiles()
            // What its owner would refuse as well.
            let seals = try JournalSeals(reading: place, keys)
            try OpeningCheck.run(place, seals, greatestPageCount: JournalOptions().pagesCheckedAtOpening)
        }

        func open(
            _ environment: String, _ part: JournalPart, _ path: String
        ) throws(JournalError) -> Environment {
            let opened = try openStored(environment, path)
            // In the owner's process, it is the owner's, and knows its seal.
            guard opened.rowSeals == nil else { return opened }
            do throws(JournalError) {
                if part == .entries { try EntriesStore.refuseNewerFormat(opened, path) }
                if let seal = try SealSearch(part, keys, in: path).find(in: opened) { opened.seal(with: seal) }
            } catch {
                opened.close()
                throw error
            }
            return opened
        }

        private func openStored(_ environment: String, _ path: String) throws(JournalError) -> Environment {
            try translated("read", path) { () throws(LMDBError) in
                while true {
                    if let shared = try Environment.share(environment) { return shared }
                    do throws(LMDBError) {
                        return try Environment.open(
                            environment, lock == nil ? .readOnly : .readOnlyUnlocked, mapByteCount: nil,
                            tables: EntriesStore.tableLimit)
                    } catch {
                        // Another reader of this process has opened it since it was looked for.
                        guard error.code == .openInThisProcess else { throw error }
                    }
                }
            }
        }
    }

    /// Throws when the figures of a journal at rest are not those of its rows.
    private static func refuseContradiction(in store: EntriesStore, _ path: String) throws(JournalError) {
        let readers = ReaderPool(store.environment)
        defer { readers.close() }
        let found = try translated("read", path) { () throws(LMDBError) in
            try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try StoredState(snapshot, store.tables)
            }
        }
        guard let found else { throw .closed(path) }
        try found.refuseContradiction(of: try found.state(in: path), in: path)
    }

    deinit { close() }

    /// Lets go of the journal. Idempotent.
    package func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        readers.close()
        blacklistReaders.close()
        store.environment.close()
        blacklist.close()
        lock.withLock { lock in lock = nil }
        copyLock.withLock { lock in lock = nil }
    }

    // MARK: Figures

    /// The journal's figures.
    package func status() throws(JournalError) -> JournalStatus {
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try StoredState(snapshot, store.tables)
        }
        let state = try found.state(in: directory)
        var status = JournalStatus(state, found.figures, pageByteCount: pageByteCount, limit: found.limit)
        status.possiblySent = try translated("read", directory) { () throws(LMDBError) in
            try PossiblySent.count(state.lanes.all, in: store.tables.entries, readers).reduce(0, +)
        }
        if found.figures.quarantined > 0 {
            let counts = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try QuarantineRow.count(lanes: state.lanes.count, in: snapshot, store.tables.quarantine)
            }
            for (index, count) in counts.enumerated() { status.lanes[index].quarantined = count }
        }
        let tables = try blacklistTables()
        status.blacklist = try readBlacklist { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try tables.count(snapshot)
        }
        return status
    }

    /// The number of entries of each lane that a crash would leave possibly sent, without lanes that have none.
    package func possiblySent() throws(JournalError) -> [LaneKey: Int] {
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try StoredState(snapshot, store.tables)
        }
        let lanes = try found.state(in: directory).lanes.all
        let counts = try translated("read", directory) { () throws(LMDBError) in
            try PossiblySent.count(lanes, in: store.tables.entries, readers)
        }
        return Dictionary(uniqueKeysWithValues: zip(lanes.map(\.key), counts).filter { $0.1 > 0 })
    }

    /// Every Producer that ever opened the journal.
    package func producers() throws(JournalError) -> [ProducerStatus] {
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try StoredState(snapshot, store.tables)
        }
        return try found.state(in: directory).producerStatuses
    }

    /// The fate of an entry, as far as the journal still knows it.
    package func fate(of uid: UID) throws(JournalError) -> EntryFate? {
        guard uid > .none else { return nil }
        let key = try state().facts.identityKey
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try FateSearch(uid.rawValue, in: snapshot, store.tables, key: key)
        }
        return try found.fate(in: directory)
    }

    /// The bytes of a note; `nil` when there is none of this name.
    package func note(_ name: String) throws(JournalError) -> [UInt8]? {
        let key = try NoteRecord.key(of: name)
        let bytes = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(key.span, in: store.tables.notes)
        }
        guard let bytes else { return nil }
        do throws(EntryRecord.Fault) {
            return try NoteRecord.value(bytes, name: key)
        } catch {
            throw error.error(what: "the note \(name)", in: directory)
        }
    }

    // MARK: The blacklist

    /// The blacklist entries of a recipient, at whatever age, in the order of their scopes.
    package func blacklistEntries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        guard let place = try BlacklistPlace.of(recipient) else { return [] }
        let tables = try blacklistTables()
        let row = try readBlacklist { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try tables.row(place, in: snapshot)
        }
        return try row?.entries(in: directory) ?? []
    }

    /// Blacklist entries in the order of their tokens' bytes and of their scopes, from the first token above `after`, and
    /// behind them those of other services' addresses. The entries of one recipient come together, so there may be a few more
    /// than `limit`; fewer are the last.
    package func blacklistEntries(after: Recipient? = nil, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try blacklistPage(after: after, limit: limit).entries
    }

    /// The same, with what cannot be read.
    package func blacklistPage(after: Recipient? = nil, limit: Int) throws(JournalError) -> BlacklistPage {
        let tables = try blacklistTables()
        return try RecipientRow.page(after: after, limit: limit) { (after, limit) throws(JournalError) in
            try readBlacklist { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try tables.rows(after: after, limit: limit, in: snapshot)
            }
        }
    }

    /// Whether the copy of a shared blacklist was filled to the end once; true for a journal with a blacklist of its own.
    package func isBlacklistFilled() throws(JournalError) -> Bool {
        guard usesOther else { return true }
        let opened = try translated("read", directory) { () throws(LMDBError) in
            try ReaderPool.openTables(["facts"], in: blacklist)
        }
        guard let facts = opened?.first else { return false }
        return try readBlacklist { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try BlacklistMark.read(snapshot, facts) != nil
        }
    }

    private func blacklistTables() throws(JournalError) -> BlacklistTables {
        if addresses.withLock({ $0 }) == nil {
            let opened = try translated("read", directory) { () throws(LMDBError) in
                try ReaderPool.openTables([BlacklistPlace.Part.addresses.rawValue], in: blacklist)
            }
            addresses.withLock { $0 = opened?.first }
        }
        return BlacklistTables(tokens: tokens, addresses: addresses.withLock { $0 })
    }

    // MARK: Access

    func read<R>(_ body: (borrowing Snapshot) throws(LMDBError) -> R) throws(JournalError) -> R {
        try read(from: readers, body)
    }

    private func readBlacklist<R>(_ body: (borrowing Snapshot) throws(LMDBError) -> R) throws(JournalError) -> R {
        try read(from: blacklistReaders, body)
    }

    private func read<R>(
        from pool: ReaderPool, _ body: (borrowing Snapshot) throws(LMDBError) -> R
    ) throws(JournalError) -> R {
        let result = try translated("read", directory) { () throws(LMDBError) in try pool.read(body) }
        guard let result else { throw .closed(directory) }
        try refuseMissingKey(of: store.environment, .entries)
        try refuseMissingKey(of: blacklist, .blacklist)
        return result
    }

    /// Throws if a row needed a key that the journal's owner seals with by now, and that this reader was not given: such a row
    /// is not damaged.
    private func refuseMissingKey(of environment: Environment, _ part: JournalPart) throws(JournalError) {
        guard let seal = environment.rowSeals as? JournalSeal, seal.core.takeMissing() != nil else { return }
        _ = try SealSearch(part, keys, in: directory).find(in: environment)
    }

    /// Whether the journal's own files are sealed: a copy of a blacklist that hosts share is sealed when it is opened.
    package var sealing: JournalSealing {
        JournalSealing(
            entries: store.environment.rowSeals != nil, blacklist: usesOther ? nil : blacklist.rowSeals != nil)
    }

    /// Whether it is a working copy of a journal that a database keeps.
    package func isCopy() throws(JournalError) -> Bool {
        try translated("read", directory) { () throws(LMDBError) in
            try WorkingCopy.place(in: store.environment) != nil
        }
    }

    /// Throws what an opening as a journal of its own would, of a working copy.
    package func refuseCopy() throws(JournalError) {
        try WorkingCopy.refuse(store.environment, directory, as: .alreadyExists)
    }

    /// Throws what an opening with keys would, of a journal that is not sealed, or by half.
    package func refuseUnsealed() throws(JournalError) {
        let sealing = sealing
        switch sealing {
        case .sealed: break
        case .clear: throw .notSealed(directory)
        case .half: throw .halfSealed(directory, sealing)
        }
    }

    /// The ids of the keys with which the journal may be sealed, the one that seals first; empty for one that is not sealed.
    package var sealedWith: [String] {
        (store.environment.rowSeals as? JournalSeal)?.listed.ids.map(\.description) ?? []
    }
}
