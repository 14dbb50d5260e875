/// The calls for files that the systems have under different names, or only one of them.
package enum Disk {
    /// Makes a file's content and length durable.
    ///
    /// - Returns: 0, or -1 with the reason in `errno`.
    package static func sync(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        // fsync(2) leaves the bytes in the drive's own memory there. Some file systems know nothing else.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        return fsync(descriptor)
        #else
        return fsync(descriptor)
        #endif
    }

    /// Makes a file's content durable, without its times.
    ///
    /// - Returns: 0, or -1 with the reason in `errno`.
    package static func syncContent(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        return sync(descriptor)
        #else
        return fdatasync(descriptor)
        #endif
    }

    /// Allocates a file's blocks from `start` on, and makes the file at least that long; its content stays.
    ///
    /// Darwin allocates at the end alone: holes inside of the file stay holes. Its APFS writes each page to a new place, so
    /// blocks of one's own would not help overwriting.
    ///
    /// - Returns: 0, or a number of `errno`.
    package static func allocate(_ descriptor: Int32, from start: Int, count: Int) -> Int32 {
        #if canImport(Darwin)
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { return errno }
        let missing = start + count - Int(facts.st_size)
        guard missing > 0 else { return 0 }
        var wanted = fstore_t(
            fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(missing),
            fst_bytesalloc: 0)
        guard unsafe fcntl(descriptor, F_PREALLOCATE, &wanted) == 0 else { return errno }
        return ftruncate(descriptor, off_t(start + count)) == 0 ? 0 : errno
        #else
        var code: Int32
        repeat { code = posix_fallocate(descriptor, off_t(start), off_t(count)) } while code == EINTR
        return code
        #endif
    }

    /// The name of a file system that can't keep a journal's promises; nil for one that can, and for one that can't be
    /// examined: then `failed` is called with the number of `errno`.
    ///
    /// On network and user-space file systems, locks, shared maps or syncs lack the semantics that liblmdb needs.
    package static func unsupportedFileSystem(at path: String, failed: (Int32) -> Void) -> String? {
        var facts = statfs()
        guard unsafe statfs(path, &facts) == 0 else {
            failed(errno)
            return nil
        }
        #if canImport(Darwin)
        let name = unsafe withUnsafeBytes(of: &facts.f_fstypename) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let isLocal = facts.f_flags & UInt32(MNT_LOCAL) != 0
        return !isLocal || name.contains("fuse") ? name : nil
        #else
        // Numbers of linux/magic.h and each file system's own header.
        return switch UInt32(truncatingIfNeeded: facts.f_type) {
        case 0x6969: "NFS"
        case 0x0102_1997: "9p"
        case 0x6573_5546: "FUSE"
        case 0xFF53_4D42, 0xFE53_4D42, 0x517B: "SMB"
        case 0x00C3_6400: "Ceph"
        case 0x5346_414F, 0x6B41_4653: "AFS"
        case 0x7375_7245: "Coda"
        case 0x0BD0_0BD0: "Lustre"
        case 0x786F_4256: "VirtualBox shared folder"
        default: nil
        }
        #endif
    }

    /// The kind of file system at a path, such as `ext4` or `tmpfs`; its number where it has no name here. Nil for one that
    /// can't be examined.
    package static func fileSystem(at path: String) -> String? {
        var facts = statfs()
        guard unsafe statfs(path, &facts) == 0 else { return nil }
        #if canImport(Darwin)
        return unsafe withUnsafeBytes(of: &facts.f_fstypename) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        #else
        let number = UInt32(truncatingIfNeeded: facts.f_type)
        // Numbers of linux/magic.h.
        return switch number {
        case 0xEF53: "ext4"
        case 0x5846_5342: "xfs"
        case 0x9123_683E: "btrfs"
        case 0x2FC1_2FC1: "zfs"
        case 0xF2F5_2010: "f2fs"
        case 0x0102_1994: "tmpfs"
        case 0x8584_58F6: "ramfs"
        case 0x794C_7630: "overlay"
        default: unsupportedFileSystem(at: path) { _ in } ?? "0x" + String(number, radix: 16)
        }
        #endif
    }

    /// Whether the file is on btrfs, which Linux alone has.
    package static func isOnBtrfs(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        return false
        #else
        var facts = statfs()
        return unsafe fstatfs(descriptor, &facts) == 0 && UInt32(truncatingIfNeeded: facts.f_type) == 0x9123_683E
        #endif
    }

    /// The flags of a file on Linux (`FS_IOC_GETFLAGS`); nil where there are none.
    package static func flags(_ descriptor: Int32) -> Int? {
        #if canImport(Darwin)
        return nil
        #else
        var flags = 0
        return unsafe ioctl(descriptor, 0x8008_6601, &flags) == 0 ? flags : nil
        #endif
    }

    /// Sets the flags of a file on Linux (`FS_IOC_SETFLAGS`), where that is allowed.
    package static func setFlags(_ descriptor: Int32, _ flags: Int) {
        #if !canImport(Darwin)
        var flags = flags
        _ = unsafe ioctl(descriptor, 0x4008_6602, &flags)
        #endif
    }
}
