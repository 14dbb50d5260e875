extension DataFileCheck {
    /// Empties a half-made file, for liblmdb to make it anew. For the owner.
    package static func discard(_ path: String) throws(LMDBError) {
        let file = try OpenFile(path, .readWrite)
        try file.replace(with: [])
        try file.sync()
    }

    /// Makes what the page cache has of a sound file as durable as it looks, before a commit builds on it. For the owner.
    ///
    /// After a write or sync that failed, in this process or one before it, the disk may hold another meta page than the
    /// cache: a newer one, say, which could not be confirmed and was then written over with the old one. The next commit
    /// uses that one's pages again; if the power went before its end, the disk would be left with the newer meta page and
    /// pages that are not its own any more. The kernel reports a failed write once and takes the page for clean from then
    /// on, so a sync alone would not do: the meta pages are written again as they are read.
    package static func secure(_ path: String) throws(LMDBError) {
        let file = try OpenFile(path, .readWrite)
        // Pages of less than the machine's size are in one of these as well.
        let bytes = try file.read(2 * Files.pageByteCount, at: 0)
        try file.write(bytes, at: 0)
        try file.sync()
    }
}
