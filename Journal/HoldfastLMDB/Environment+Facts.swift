import CHoldfastLMDB

/// An environment's size, by its newest commit.
package struct EnvironmentInfo: Hashable, Sendable {
    package let mapByteCount: Int
    /// Pages of the data file that were ever used: the high-water mark.
    package let highWaterPages: Int
    /// The number of the newest commit.
    package let lastTransaction: UInt64
    package let pageByteCount: Int
}

/// A read transaction in liblmdb's reader table.
package struct ReaderInfo: Hashable, Sendable {
    package let process: Int32
    /// The commit it reads; nil when it is idle and pins nothing.
    package let transaction: UInt64?
}

extension Environment {
    package func info() throws(LMDBError) -> EnvironmentInfo {
        var info = unsafe MDB_envinfo()
        try check(unsafe mdb_env_info(handle, &info), "mdb_env_info", path: path)
        var facts = MDB_stat()
        try check(unsafe mdb_env_stat(handle, &facts), "mdb_env_stat", path: path)
        return unsafe EnvironmentInfo(
            mapByteCount: info.me_mapsize, highWaterPages: info.me_last_pgno + 1,
            lastTransaction: UInt64(info.me_last_txnid), pageByteCount: Int(facts.ms_psize))
    }

    /// Frees the slots of readers whose process is gone, which would else pin pages for ever.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package func checkReaders() throws(LMDBError) -> Int {
        var dead: Int32 = 0
        try check(unsafe mdb_reader_check(handle, &dead), "mdb_reader_check", path: path)
        return Int(dead)
    }

    /// The readers of all processes.
    package func readers() throws(LMDBError) -> [ReaderInfo] {
        var text = ""
        let code = unsafe withUnsafeMutablePointer(to: &text) { text in
            unsafe mdb_reader_list(
                handle,
                { line, context in
                    if let line = unsafe line, let context = unsafe context {
                        unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
                    }
                    return 0
                }, text)
        }
        // Unlike its siblings it returns a negative number of callbacks' choosing, or 0 and more.
        if code < 0 { try check(code, "mdb_reader_list", path: path) }
        return ReaderInfo.parse(text)
    }
}

extension ReaderInfo {
    /// Lines of "pid thread txnid", the last "-" for an idle one, below a heading; or a sentence that there are none.
    static func parse(_ text: String) -> [ReaderInfo] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count == 3, let process = Int32(words[0]) else { return nil }
            return ReaderInfo(process: process, transaction: UInt64(words[2]))
        }
    }
}
