import CHoldfastLMDB
import HoldfastPlatform

/// The loss of an open data file by an action from outside.
package enum DataFileLoss: Hashable, Sendable {
    /// It has no name any more: its content is gone once the last process closes it.
    case deleted
    /// Its name leads to no file, but it has another name somewhere.
    case moved
    /// Its name leads to another file.
    case replaced
}

/// The place where the next opener finds an open data file.
struct DataFilePlace: Sendable {
    /// Absolute, so that a process that changes its directory does not seem to have lost its file.
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
    /// The loss of the data file since it was opened; nil while its name leads to it.
    ///
    /// Costs one `stat`. Where the name cannot be followed for lack of permission, as in a process that has dropped its
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
