import CHoldfastLMDB
import HoldfastPlatform

/// The file system calls that the journal needs beside liblmdb: directories and files with exact modes, allocation
/// ahead of use, syncs, `flock`, and the kind of file system.
///
/// Every call throws ``LMDBError`` with the `errno` as its code.
package enum Files {
    /// Makes a directory of mode 0700, unless something is there.
    ///
    /// - Parameter adopting: whether a directory made by root gets the owner of its parent directory.
    /// - Returns: whether it is new.
    package static func makeDirectory(_ path: String, adopting: Bool = false) throws(LMDBError) -> Bool {
        guard unsafe mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return false }
            throw failure("mkdir", path)
        }
        let made = try OpenFile(path, .directory)
        if adopting { try made.giveToOwner(ofDirectory: parent(of: path)) }
        made.avoidCopyOnWrite()
        return true
    }

    /// The machine's page size, which liblmdb takes for a new file.
    static let pageByteCount = sysconf(Int32(_SC_PAGESIZE))

    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether a directory is there, by itself or through a symbolic link.
    package static func isDirectory(_ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the path itself is a symbolic link, wherever it leads.
    package static func isLink(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFLNK
    }

    /// Refuses what is there unless it is a file by itself, and no symbolic link, whose content would go to a place chosen by
    /// somebody else (`ELOOP`). Does nothing where nothing is.
    ///
    /// For files that a library opens, which follows links. Who can write into the directory can still put a link there
    /// between this look and that opening.
    package static func refuseLink(_ path: String) throws(LMDBError) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else {
            if errno == ENOENT { return }
            throw failure("lstat", path)
        }
        if facts.st_mode & S_IFMT == S_IFLNK { throw LMDBError(.tooManyLinks, "open", path: path) }
        try refuseUnlessRegular(facts, path)
    }

    fileprivate static func refuseUnlessRegular(_ facts: stat, _ path: String) throws(LMDBError) {
        if facts.st_mode & S_IFMT != S_IFREG { throw LMDBError(.notAFile, "open", path: path) }
    }

    /// Whether this user may not even see if there is something: a directory on the way is closed to it.
    package static func isHidden(_ path: String) -> Bool { unsafe access(path, F_OK) != 0 && errno == EACCES }

    /// Whether this process has a limit on the size of its files (`RLIMIT_FSIZE`). Without one, no file of a journal is
    /// too large for its file system, and only a damaged page number leads to a write so far out.
    static var areLimited: Bool {
        (ResourceLimit.fileSize.current?.soft ?? .max) != .max
    }

    /// Syncs a directory: new entries in it survive a power loss on return.
    package static func syncDirectory(_ path: String) throws(LMDBError) {
        let file = try OpenFile(path, .directory)
        try file.sync()
    }

    /// Renames a file or directory atomically; a file with the new name is replaced.
    package static func rename(_ path: String, to name: String) throws(LMDBError) {
        guard unsafe HoldfastPlatform.rename(path, name) == 0 else { throw failure("rename", path) }
    }

    /// Gives a file another name, unless something has it (`alreadyExists`).
    package static func link(_ path: String, as name: String) throws(LMDBError) {
        guard unsafe HoldfastPlatform.link(path, name) == 0 else { throw failure("link", path) }
    }

    /// Removes a file if it is there.
    package static func remove(_ path: String) throws(LMDBError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("unlink", path) }
    }

    /// The directory that holds `path`.
    package static func parent(of path: String) -> String {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// The name of a file system that cannot keep the journal's promises; nil for one that can.
    ///
    /// On network and user-space file systems, locks, shared maps or syncs lack the semantics that liblmdb needs.
    package static func unsupportedFileSystem(at path: String) throws(LMDBError) -> String? {
        var code: Int32?
        let name = Disk.unsupportedFileSystem(at: path) { code = $0 }
        if let code { throw LMDBError(LMDBError.Code(rawValue: code), "statfs", path: path) }
        return name
    }

    /// Bytes that the file system has for ordinary users when it is empty.
    package static func totalBytes(at path: String) throws(LMDBError) -> Int {
        var facts = statvfs()
        guard unsafe statvfs(path, &facts) == 0 else { throw failure("statvfs", path) }
        // What is kept for root is nobody else's, empty or not.
        let (free, available) = (UInt64(facts.f_bfree), UInt64(facts.f_bavail))
        let blocks = UInt64(facts.f_blocks) - min(free > available ? free - available : 0, UInt64(facts.f_blocks))
        return Int(clamping: blocks.multipliedReportingOverflow(by: UInt64(facts.f_frsize)).partialValue)
    }

    /// Bytes that an ordinary user may still allocate on the file system.
    package static func availableBytes(at path: String) throws(LMDBError) -> Int {
        var facts = statvfs()
        guard unsafe statvfs(path, &facts) == 0 else { throw failure("statvfs", path) }
        return Int(
            clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).partialValue)
    }

    static func allocate(_ descriptor: Int32, _ range: Range<Int>, _ path: String) throws(LMDBError) {
        let code = Disk.allocate(descriptor, from: range.lowerBound, count: range.count)
        if code != 0 { throw LMDBError(LMDBError.Code(rawValue: code), "posix_fallocate", path: path) }
    }

    static func failure(_ operation: String, _ path: String) -> LMDBError {
        LMDBError(LMDBError.Code(rawValue: errno), operation, path: path)
    }
}

/// The identity of a file, independent of its name.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    /// - Throws: with `noEntry` when there is no such file.
    package init(of path: String) throws(LMDBError) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { throw Files.failure("stat", path) }
        self.init(facts)
    }

    init(_ facts: stat) {
        device = UInt64(truncatingIfNeeded: facts.st_dev)
        inode = UInt64(facts.st_ino)
    }
}

/// An open file, closed when the last reference goes. Always close-on-exec.
package final class OpenFile: Sendable {
    package enum Mode: Sendable {
        case read
        case readWrite
        /// Made with mode 0600 when it is not there; by root, for the owner of its directory. Never through a symbolic link
        /// (`ELOOP`), which could lead the content to a place chosen by somebody else.
        case create
        case directory
    }

    let descriptor: Int32
    package let path: String

    package init(_ path: String, _ mode: Mode) throws(LMDBError) {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT | O_NOFOLLOW
            case .directory: O_RDONLY | O_DIRECTORY
            }
        // Exclusively first, to know whether it is new.
        let made = mode == .create ? unsafe open(path, flags | O_EXCL | O_CLOEXEC, 0o600) : -1
        // Not waiting: a pipe in the place of a file would wait for its other end.
        descriptor = made >= 0 ? made : unsafe open(path, flags | O_NONBLOCK | O_CLOEXEC, 0o600)
        self.path = path
        if descriptor < 0 { throw Files.failure("open", path) }
        if mode != .directory { try Files.refuseUnlessRegular(try facts(), path) }
        guard made >= 0 else { return }
        try giveToOwner(ofDirectory: Files.parent(of: path))
        avoidCopyOnWrite()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether its path still leads to this file; `true` where that can't be found out.
    package var isInPlace: Bool {
        do throws(LMDBError) {
            return try identity == FileIdentity(of: path)
        } catch {
            return ![.noEntry, .notADirectory].contains(error.code)
        }
    }

    package func sync() throws(LMDBError) {
        guard Disk.sync(descriptor) == 0 else { throw Files.failure("fsync", path) }
    }

    package func byteCount() throws(LMDBError) -> Int {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw Files.failure("fstat", path) }
        return Int(facts.st_size)
    }

    /// Allocates the file's blocks up to `byteCount`, holes included; its content stays.
    package func allocate(_ byteCount: Int) throws(LMDBError) {
        try Files.allocate(descriptor, 0..<byteCount, path)
    }

    /// Takes or tries a lock of the whole file (`flock`), which belongs to this open file and dies with it.
    ///
    /// - Returns: false when another open file holds it in a way that excludes this.
    package func tryLock(exclusive: Bool) throws(LMDBError) -> Bool {
        while flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw Files.failure("flock", path) }
        }
        return true
    }

    /// Lets the lock go at once, even if a child process that is just being started still has a copy of the descriptor.
    package func unlock() { flock(descriptor, LOCK_UN) }

    /// At most `count` bytes from `offset`; fewer at the end of the file.
    package func read(_ count: Int, at offset: Int) throws(LMDBError) -> [UInt8] {
        var failed = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let got = unsafe pread(descriptor, buffer.baseAddress, count, off_t(offset))
            failed = got < 0
            initialized = max(got, 0)
        }
        if failed { throw Files.failure("pread", path) }
        return bytes
    }

    package func write(_ bytes: [UInt8], at offset: Int) throws(LMDBError) {
        let span = bytes.span
        let written = unsafe span.withUnsafeBytes { buffer in
            unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        }
        if written < 0 { throw Files.failure("pwrite", path) }
        // A partial write sets no error: a full disk causes it.
        guard written == bytes.count else { throw LMDBError(.noSpace, "pwrite", path: path) }
    }

    /// Replaces the content of the file.
    package func replace(with bytes: [UInt8]) throws(LMDBError) {
        if !bytes.isEmpty { try write(bytes, at: 0) }
        guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw Files.failure("ftruncate", path) }
    }
}
