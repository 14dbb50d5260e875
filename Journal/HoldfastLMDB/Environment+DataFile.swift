import CHoldfastLMDB
import Glibc

/// What somebody has done to a data file that is open.
package enum DataFileLoss: Hashable, Sendable {
    /// It has no name any more: what is written into it is gone with the last that has it open.
    case deleted
    /// Its name leads to no file, and it has another one somewhere.
    case moved
    /// Its name leads to another file.
    case replaced
}

/// Where an open data file is found by its next opener.
struct DataFilePlace: Sendable {
    /// Absolute, so that a process that changes its directory is not taken for one that has lost its file.
    let path: String
    let identity: FileIdentity

    init(_ path: String, _ descriptor: Int32) throws(LMDBError) {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw Files.failure("fstat", path) }
        identity = FileIdentity(facts)
        self.path = path.hasPrefix("/") ? path : Self.workingDirectory() + "/" + path
    }

    private static func workingDirectory() -> String {
        guard let bytes = unsafe getcwd(nil, 0) else { return "." }
        defer { unsafe free(bytes) }
        return unsafe String(cString: bytes)
    }
}

extension Environment {
    /// What has become of the data file since it was opened; nil while its name leads to it.
    ///
    /// Costs one `stat`. Where the name cannot be followed for want of permission, as in a process that has given up its
    /// own, only a file without any name counts as lost.
    package func dataFileLoss() throws(LMDBError) -> DataFileLoss? {
        var facts = stat()
        if unsafe stat(dataFile.path, &facts) == 0 {
            return FileIdentity(facts) == dataFile.identity ? nil : .replaced
        }
        let isMissing = [ENOENT, ENOTDIR, ELOOP].contains(errno)
        guard unsafe fstat(try dataDescriptor(), &facts) == 0 else { throw Files.failure("fstat", dataFile.path) }
        if facts.st_nlink == 0 { return .deleted }
        return isMissing ? .moved : nil
    }
}
