internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Whether a directory can be written to, and a journal made in it. Leaves nothing behind.
enum SystemProbe {
    enum ReadOnly: Sendable {
        /// This user may not write.
        case rights
        /// The file system is mounted for reading only.
        case mount
    }

    /// Bytes without which a journal can't be made. With less than its reserve one opens, and refuses senders.
    static let leastForNew = 1 << 20

    /// Why a directory can't be written to; nil where it can.
    static func readOnly(_ directory: String) -> ReadOnly? {
        writeError(directory).map { $0 == EROFS ? .mount : .rights }
    }

    /// Why a journal can't be made; nil where it can.
    static func refusal(making journal: String, in directory: String) -> JournalError? {
        switch readOnly(directory) {
        case .mount?:
            return JournalError(
                .readOnly, "\(journal) can't be made: the file system of \(directory) is mounted for reading only")
        case .rights?:
            return JournalError(
                .permissionDenied, "\(journal) can't be made: this user may not write to \(directory)")
        case nil: break
        }
        let sizes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        guard let free = sizes?[.systemFreeSize] as? NSNumber, free.intValue < leastForNew else { return nil }
        let room = Format.bytes(free.intValue)
        return JournalError(
            .diskFull,
            "\(journal) can't be made: the file system of \(directory) has \(room) free. Make room on it. "
                + LMDBJournal.roomWords)
    }

    /// Why this user can't write to a directory, a number of `errno`; nil where it can.
    private static func writeError(_ directory: String) -> Int32? {
        unsafe access(directory, W_OK) == 0 ? nil : errno
    }
}
