import CHoldfastLMDB
import HoldfastPlatform

/// File systems that write each page of a file to a new place. On those, allocating ahead of use keeps no room for
/// overwriting: with a full disk a commit fails in the middle, and a write to liblmdb's mapped lock file kills the
/// process with SIGBUS.
///
/// On btrfs a file may be exempt (`chattr +C`) if that is set before anything is written to it.
extension OpenFile {
    /// FS_NOCOW_FL of linux/fs.h.
    private static let noCopyOnWrite: Int = 0x0080_0000

    private var isOnBtrfs: Bool { Disk.isOnBtrfs(descriptor) }

    /// Exempts an empty file, or the future files of a directory. If that fails, ``isCopiedOnWrite`` says so.
    package func avoidCopyOnWrite() {
        guard isOnBtrfs, let flags = Disk.flags(descriptor) else { return }
        Disk.setFlags(descriptor, flags | Self.noCopyOnWrite)
    }

    /// Whether a page of the file that is written over goes to a new place, which a full disk does not have.
    package var isCopiedOnWrite: Bool { isOnBtrfs && (Disk.flags(descriptor) ?? 0) & Self.noCopyOnWrite == 0 }
}

extension Environment {
    /// Whether the data file's allocated room does not help overwriting: see ``OpenFile/isCopiedOnWrite``.
    package var isDataCopiedOnWrite: Bool {
        get throws(LMDBError) { try OpenFile(path + "/data.mdb", .read).isCopiedOnWrite }
    }

    /// Makes the lock file so that no write to it needs room: with blocks of its own before liblmdb maps it. A sparse
    /// file, or one that is copied on write, kills with SIGBUS on a full disk.
    ///
    /// For the owner, before liblmdb opens the environment in this process.
    static func prepareLockFile(_ path: String, readers: Int) throws(LMDBError) {
        // liblmdb wants (readers - 1) slots of 64 bytes and a header of two cache lines.
        let wanted = (readers * 64 + 128 + 4095) / 4096 * 4096
        var file = try OpenFile(path, .create)
        let isOld = try file.byteCount() > 0
        if isOld, file.isCopiedOnWrite, !file.isLockedByOthers {
            // A file of an older Holdfast that no process uses: replaced.
            try Files.remove(path)
            file = try OpenFile(path, .create)
        }
        let size = try file.byteCount()
        guard size < wanted else { return }
        try file.write([UInt8](repeating: 0, count: wanted - size), at: size)
        try file.sync()
    }
}

extension OpenFile {
    /// Whether another process has the first byte locked (`fcntl`), as each that uses an environment has that of `lock.mdb`.
    fileprivate var isLockedByOthers: Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_len = 1
        guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }
}
