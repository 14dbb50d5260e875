import CHoldfastLMDB
import Foundation
import HoldfastPlatform

/// One liblmdb environment: a directory with `data.mdb` and, unless opened without locks, `lock.mdb`.
///
/// Opened once in a process (``EnvironmentRegistry``), shared by its users, and closed by the last of them. Always
/// opened with `MDB_NOTLS`: a read transaction belongs to its holder, not to a thread. Never with `MDB_WRITEMAP`,
/// `MDB_NOMETASYNC` or `MDB_NORDAHEAD`.
///
/// Unchecked, because any thread may use an `MDB_env`; `leases` is the registry's, under its lock.
@safe package final class Environment: @unchecked Sendable {
    package enum Access: Sendable {
        /// Reads and writes, with liblmdb's locks. Commits are synced.
        case readWrite
        /// The same, but commits are not synced: they survive the process, not the power.
        case readWriteUnsynced
        /// Reads data that another process may be writing, with liblmdb's locks.
        case readOnly
        /// Reads data that no process is writing, as the caller has ensured. Needs no writable lock file.
        case readOnlyUnlocked
    }

    let handle: OpaquePointer
    package let path: String
    package let access: Access
    /// Where commits are kept first; nil for an environment that is no copy.
    let gate: (any CommitGate)?
    /// Where a copy has its number.
    let copyTable: Table?
    let file: FileIdentity
    let dataFile: DataFilePlace
    /// Held while tables are opened or made.
    private let tableLock = NSLock()
    /// The names of tables that were opened, by their handles: for the ``CommitGate``.
    private let names = NSLock()
    private var namesByIndex: [UInt32: String] = [:]
    /// Set once, before the tables are opened that it is for; under the lock of the names.
    private var seals: (any RowSeals)?
    /// The number of users that have yet to close it; the registry's.
    var leases = 0

    private static func files(in directory: String) -> [String] { [directory + "/data.mdb", directory + "/lock.mdb"] }

    /// Removes the files of an environment that nobody has open; does nothing where there are none.
    package static func remove(from directory: String) throws(LMDBError) {
        for file in files(in: directory) { try Files.remove(file) }
    }

    /// Opens an environment whose directory exists; a writable one is made if its data file does not exist.
    ///
    /// - Parameters:
    ///   - mapByteCount: the address space reserved, far above the greatest size of the data; it is never resized.
    ///     Nil: the writer's choice.
    ///   - tables: the most tables that will be opened.
    ///   - readers: the most read transactions at a time, of all processes. Only the first opener decides.
    ///   - gate: keeps each commit before it is made here.
    /// - Throws: ``LMDBError/Code/openInThisProcess`` when this process has it open; ``LMDBError/Code/tooManyLinks`` and
    ///   ``LMDBError/Code/notAFile`` when one of its files is none.
    package static func open(
        _ path: String, _ access: Access, mapByteCount: Int?, tables: Int, readers: Int = 254,
        gate: (any CommitGate)? = nil
    ) throws(LMDBError) -> Environment {
        let file = try FileIdentity(of: path)
        return try EnvironmentRegistry.shared.open(file, path: path) { () throws(LMDBError) -> Environment in
            for file in Self.files(in: path) { try Files.refuseLink(file) }
            if access == .readWrite || access == .readWriteUnsynced {
                try prepareLockFile(path + "/lock.mdb", readers: readers)
                // Liblmdb takes an empty file for a new one, and would make it without regard to owner and file system.
                _ = try OpenFile(path + "/data.mdb", .create)
            }
            return try Environment(
                path, access, file: file, mapByteCount: mapByteCount, tables: tables, readers: readers, gate: gate)
        }
    }

    /// Opens or makes tables with `body`, alone: liblmdb gives out handles to one transaction at a time. One that makes a
    /// table is committed in `body`.
    package func openingTables<R>(_ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
        tableLock.lock()
        defer { tableLock.unlock() }
        return try body()
    }

    /// The environment at `path` if this process has it open. Each user closes it, and the last one really does.
    package static func share(_ path: String) throws(LMDBError) -> Environment? {
        EnvironmentRegistry.shared.share(try FileIdentity(of: path))
    }

    private init(
        _ path: String, _ access: Access, file: FileIdentity, mapByteCount: Int?, tables: Int, readers: Int,
        gate: (any CommitGate)?
    ) throws(LMDBError) {
        var created: OpaquePointer?
        try check(unsafe mdb_env_create(&created), "mdb_env_create", path: path)
        let handle = unsafe created!
        do throws(LMDBError) {
            if let mapByteCount {
                try check(unsafe mdb_env_set_mapsize(handle, mapByteCount), "mdb_env_set_mapsize", path: path)
            }
            try check(unsafe mdb_env_set_maxdbs(handle, MDB_dbi(tables)), "mdb_env_set_maxdbs", path: path)
            try check(unsafe mdb_env_set_maxreaders(handle, UInt32(readers)), "mdb_env_set_maxreaders", path: path)
            let code = unsafe mdb_env_open(handle, path, UInt32(MDB_NOTLS) | access.flags, 0o600)
            try check(code, "mdb_env_open", path: path)
            var descriptor: Int32 = -1
            try check(unsafe mdb_env_get_fd(handle, &descriptor), "mdb_env_get_fd", path: path)
            dataFile = try DataFilePlace(path + "/data.mdb", descriptor)
            copyTable = try gate.map { _ throws(LMDBError) in try unsafe WorkingCopy.openTable(in: handle, path: path) }
        } catch {
            unsafe mdb_env_close(handle)
            throw error
        }
        unsafe self.handle = handle
        self.path = path
        self.access = access
        self.file = file
        self.gate = gate
    }

    /// Seals the rows of tables that are opened from now on, and opens those that they have.
    package func seal(with seals: any RowSeals) { names.withLock { self.seals = seals } }

    /// What its rows are sealed with.
    package var rowSeals: (any RowSeals)? { names.withLock { seals } }

    /// The table of a handle, whose name is remembered for as long as that is valid.
    func table(_ name: String, _ index: UInt32) -> Table {
        let seals = names.withLock {
            namesByIndex[index] = name
            return self.seals
        }
        return Table(index: index, seal: seals?.seal(of: name))
    }

    func name(of index: UInt32) -> String? { names.withLock { namesByIndex[index] } }

    /// Closes it, unless others share it. The caller has ended its transactions, and begins no others.
    package func close() { giveBack(all: false) }

    /// Frees an environment whose opening failed on the way.
    deinit { giveBack(all: true) }

    private func giveBack(all: Bool) {
        let handle = unsafe handle
        EnvironmentRegistry.shared.takeBack(self, all: all) { unsafe mdb_env_close(handle) }
    }

    /// Syncs the data of unsynced commits. It is durable on return.
    package func sync() throws(LMDBError) {
        try check(unsafe mdb_env_sync(handle, 1), "mdb_env_sync", path: path)
    }

    /// Allocates the data file's blocks from `start` to `end`, holes included; its content stays.
    package func allocateData(from start: Int, to end: Int) throws(LMDBError) {
        guard start < end else { return }
        try Files.allocate(try dataDescriptor(), start..<end, path + "/data.mdb")
    }

    /// Writes zeros over the first page that was never used, to see whether the disk takes them. For the one writer,
    /// between its transactions.
    package func writeUnusedPage() throws(LMDBError) {
        let info = try info()
        let descriptor = try dataDescriptor()
        let page = [UInt8](repeating: 0, count: info.pageByteCount)
        let written = unsafe page.span.withUnsafeBytes { bytes in
            unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(info.highWaterPages * info.pageByteCount))
        }
        if written < 0 { throw Files.failure("pwrite", path + "/data.mdb") }
        // A full disk writes a part of a page.
        guard written == page.count else { throw LMDBError(.noSpace, "pwrite", path: path + "/data.mdb") }
    }

    /// The length of the data file.
    package func dataByteCount() throws(LMDBError) -> Int {
        var facts = stat()
        guard unsafe fstat(try dataDescriptor(), &facts) == 0 else { throw Files.failure("fstat", path + "/data.mdb") }
        return Int(facts.st_size)
    }

    /// Bytes of the data file, from its first on, that the file system has blocks for: all of them, or 0 where some are
    /// missing (a copy with holes, say) and nobody can tell which.
    package func allocatedDataByteCount() throws(LMDBError) -> Int {
        var facts = stat()
        guard unsafe fstat(try dataDescriptor(), &facts) == 0 else { throw Files.failure("fstat", path + "/data.mdb") }
        // Blocks are counted in 512 bytes, whatever the file system's own are (stat(2)).
        return Int(facts.st_blocks) * 512 >= Int(facts.st_size) ? Int(facts.st_size) : 0
    }

    func dataDescriptor() throws(LMDBError) -> Int32 {
        var descriptor: Int32 = -1
        try check(unsafe mdb_env_get_fd(handle, &descriptor), "mdb_env_get_fd", path: path)
        return descriptor
    }
}

extension Environment.Access {
    var flags: UInt32 {
        switch self {
        case .readWrite: 0
        case .readWriteUnsynced: UInt32(MDB_NOSYNC)
        case .readOnly: UInt32(MDB_RDONLY)
        case .readOnlyUnlocked: UInt32(MDB_RDONLY) | UInt32(MDB_NOLOCK)
        }
    }
}
