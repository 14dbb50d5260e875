internal import Foundation

/// An exclusive advisory lock on an opened file or directory: it ends with the handle, and with the process.
enum FileLock {
    /// - Returns: false when another has it.
    static func take(_ handle: FileHandle) -> Bool {
        flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }
}
