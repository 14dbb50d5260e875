import Holdfast
import HoldfastLMDB

/// Where things are in a journal's directory, and how it comes to be.
struct JournalDirectory: Sendable {
    let path: String

    var entries: String { path + "/entries" }
    var blacklist: String { path + "/blacklist" }
    var ownerLock: String { path + "/owner.lock" }
    /// The data file of the entries.
    var data: String { entries + "/data.mdb" }

    /// - Parameter path: with or without a slash at the end.
    init(_ path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The error for a journal that is absent, or that this user may not look at.
    var notFound: JournalError {
        guard Files.isHidden(ownerLock) else { return JournalError(.notFound, "there is no journal at \(path)") }
        return JournalError(
            .permissionDenied,
            "\(path), or a directory above it, is closed to this user. A journal has mode 0700: use the user who made it."
        )
    }

    /// The directory, or the directory that will hold it.
    var nearest: String { Files.exists(path) ? path : Files.parent(of: path) }

    func checkFileSystem() throws(JournalError) {
        let name = try translated("look at", path) { () throws(LMDBError) in
            try Files.unsupportedFileSystem(at: nearest)
        }
        if let name {
            throw JournalError(
                .unsupportedFileSystem,
                "\(path) is on \(name), where locks and syncs cannot be relied on: put the journal on a local file system"
            )
        }
    }

    var dataFiles: [String] { [entries + "/data.mdb", blacklist + "/data.mdb"] }
    /// Liblmdb's own, beside them.
    var lockFiles: [String] { [entries + "/lock.mdb", blacklist + "/lock.mdb"] }

    /// Looks at both data files before liblmdb does.
    func checkDataFiles() throws(JournalError) {
        for file in dataFiles {
            switch try check(file) {
            case .sound, .absent: break
            case .halfMade: throw missing(file, "empty but for what liblmdb begins a file with")
            case .damaged(let what): throw damaged(file, what)
            }
        }
    }

    /// The same for the owner, who makes anew what was never completely made, and durable what is there: both before
    /// anything in it is trusted or written over.
    func prepareDataFiles() throws(JournalError) {
        let isInTheMaking = Files.exists(incomplete)
        for file in dataFiles {
            switch try check(file) {
            case .absent: break
            case .sound:
                try translated("sync", path) { () throws(LMDBError) in try DataFileCheck.secure(file) }
            case .halfMade where isInTheMaking:
                try translated("make", path) { () throws(LMDBError) in try DataFileCheck.discard(file) }
            case .halfMade: throw missing(file, "empty but for what liblmdb begins a file with")
            case .damaged(let what): throw damaged(file, what)
            }
        }
    }

    private func check(_ file: String) throws(JournalError) -> DataFileCheck.Verdict {
        try translated("look at", path) { () throws(LMDBError) in try DataFileCheck.check(file) }
    }

    private func damaged(_ file: String, _ what: String) -> JournalError {
        .damaged("\(file) is damaged: \(what)", in: path)
    }

    /// Makes the names of new files and directories as durable as what will be in them.
    func sync() throws(JournalError) {
        try translated("sync", path) { () throws(LMDBError) in
            for directory in [entries, blacklist, path, Files.parent(of: path)] { try Files.syncDirectory(directory) }
        }
    }
}
