import CHoldfastLMDB
import HoldfastPlatform

extension LMDBError.Code {
    package static let mapFull = Self(rawValue: MDB_MAP_FULL)
    package static let transactionFull = Self(rawValue: MDB_TXN_FULL)
    package static let readersFull = Self(rawValue: MDB_READERS_FULL)
    package static let keyExists = Self(rawValue: MDB_KEYEXIST)
    package static let corrupted = Self(rawValue: MDB_CORRUPTED)
    package static let invalid = Self(rawValue: MDB_INVALID)
    package static let versionMismatch = Self(rawValue: MDB_VERSION_MISMATCH)
    package static let pageNotFound = Self(rawValue: MDB_PAGE_NOTFOUND)
    /// A tree is deeper than any can be: its pages name each other.
    package static let cursorFull = Self(rawValue: MDB_CURSOR_FULL)
    /// A table is not of the kind that its record says.
    package static let incompatible = Self(rawValue: MDB_INCOMPATIBLE)
    /// An earlier call in this transaction has failed, and so does every later one.
    package static let badTransaction = Self(rawValue: MDB_BAD_TXN)
    /// A meta page could not be written; the environment refuses everything until it is opened again.
    package static let panic = Self(rawValue: MDB_PANIC)

    package static let noSpace = Self(rawValue: ENOSPC)
    package static let overQuota = Self(rawValue: EDQUOT)
    package static let fileTooLarge = Self(rawValue: EFBIG)
    package static let inputOutput = Self(rawValue: EIO)
    package static let readOnly = Self(rawValue: EROFS)
    package static let noEntry = Self(rawValue: ENOENT)
    package static let notADirectory = Self(rawValue: ENOTDIR)
    package static let access = Self(rawValue: EACCES)
    package static let notPermitted = Self(rawValue: EPERM)
    package static let wouldBlock = Self(rawValue: EWOULDBLOCK)
    package static let alreadyExists = Self(rawValue: EEXIST)
    package static let notSupported = Self(rawValue: EOPNOTSUPP)
    /// Symbolic links, one too many; one is where none is followed.
    package static let tooManyLinks = Self(rawValue: ELOOP)

    /// Whether the same with less, or later, may succeed: the map, the disk, a quota or a limit on files is used up.
    package var isWantOfRoom: Bool {
        switch self {
        case .fileTooLarge: Files.areLimited
        default: [.mapFull, .transactionFull, .noSpace, .overQuota].contains(self)
        }
    }

    /// This process has the environment open already. Not one of liblmdb's codes: see ``EnvironmentRegistry``.
    package static let openInThisProcess = Self(rawValue: -1)
    /// A row could not be sealed. Not one of liblmdb's codes.
    package static let notSealed = Self(rawValue: -4)
    /// A directory, a pipe or a device is in the place of a file. Not one of liblmdb's codes.
    package static let notAFile = Self(rawValue: -5)
}

extension LMDBError.Code: CustomStringConvertible {
    package var description: String {
        switch rawValue {
        case Self.openInThisProcess.rawValue: "already open in this process"
        case Self.copyIsBehind.rawValue: "kept elsewhere, or perhaps kept, and not in this copy"
        case Self.notKept.rawValue: "not kept"
        case Self.rowsGone.rawValue: "not kept, since rows that it takes are gone"
        case Self.notSealed.rawValue: "not sealed"
        case Self.notAFile.rawValue: "no file"
        default: unsafe String(cString: mdb_strerror(rawValue))
        }
    }
}

/// Throws unless `code` is success.
func check(_ code: Int32, _ operation: @autoclosure () -> String, path: @autoclosure () -> String) throws(LMDBError) {
    if code != MDB_SUCCESS { throw LMDBError(LMDBError.Code(rawValue: code), operation(), path: path()) }
}

/// - Returns: false for `MDB_NOTFOUND`.
func checkFound(
    _ code: Int32, _ operation: @autoclosure () -> String, path: @autoclosure () -> String
) throws(LMDBError) -> Bool {
    if code == MDB_SUCCESS { return true }
    if code == MDB_NOTFOUND { return false }
    throw LMDBError(LMDBError.Code(rawValue: code), operation(), path: path())
}
