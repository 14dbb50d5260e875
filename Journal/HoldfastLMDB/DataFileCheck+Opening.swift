extension DataFileCheck {
    /// Empties a half-made file, for liblmdb to make it anew. For the owner.
    package static func discard(_ path: String) throws(LMDBError) {
        let file = try OpenFile(path, .readWrite)
        try file.replace(with: [])
        try file.sync()
    }

    /// Makes the page cache's content of a sound file durable before a commit builds on it. For the owner.
    ///
    /// After a failed write or sync, in this process or an earlier one, the disk may hold another meta page than the
    /// cache: for example a newer one that could not be confirmed and was then overwritten with the old one. The next
    /// commit reuses that one's pages; if the power failed before its end, the disk would be left with the newer meta
    /// page and pages that do not belong to it any more. The kernel reports a failed write once and takes the page for
    /// clean from then on, so a sync alone is not enough: the meta pages are written again as they are read.
    package static func secure(_ path: String) throws(LMDBError) {
        let file = try OpenFile(path, .readWrite)
        // Pages of less than the machine's size are in one of these as well.
        let bytes = try file.read(2 * Files.pageByteCount, at: 0)
        try file.write(bytes, at: 0)
        try file.sync()
    }
}
