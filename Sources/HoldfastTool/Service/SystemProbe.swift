internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastPlatform
internal import HoldfastService

/// What the system says of an address and of a directory; nothing is left behind.
enum SystemProbe {
    /// Binds a socket and closes it, without listening.
    ///
    /// - Returns: a number of `errno`; nil where it was bound.
    static func bindError(_ address: ListenAddress) -> Int32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = SocketKind.stream
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let first = unsafe found else {
            return EADDRNOTAVAIL
        }
        defer { unsafe freeaddrinfo(first) }
        let descriptor = unsafe socket(first.pointee.ai_family, SocketKind.stream, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // As listeners have it: what a dead process left behind does not count.
        var isReused: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, length) == 0,
            unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0
        else { return errno }
        return nil
    }

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
            .diskFull, "\(journal) can't be made: the file system of \(directory) has \(room) free. Make room on it")
    }

    /// Why this user can't write to a directory, a number of `errno`; nil where it can.
    private static func writeError(_ directory: String) -> Int32? {
        unsafe access(directory, W_OK) == 0 ? nil : errno
    }
}
