internal import Foundation
internal import Glibc
internal import NIOCore

/// Where a journal's socket is.
struct ControlPath: Sendable {
    /// The journal's directory.
    let directory: String
    var socket: String { directory + "/" + Self.name }
    /// Under which it is made; not yet to be found by anybody, since its mode is not yet right.
    var unready: String { directory + "/" + Self.unreadyName }

    static let name = "control.sock"
    static let unreadyName = "control.sock.new"

    init(journal directory: String) {
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    /// - Throws: `IOError`.
    func open() throws -> OpenDirectory { try OpenDirectory(directory) }
}

/// An open directory, through which its files have paths that fit into a socket's address, which has 108 bytes: whatever
/// the directory's own path is. They are valid as long as it is open.
final class OpenDirectory: Sendable {
    private let handle: FileHandle

    init(_ path: String) throws {
        // Foundation opens no directories; NIO's handle does, and closes it on exec.
        let opened = try NIOFileHandle(_deprecatedPath: path, mode: .read, flags: .posix(flags: O_DIRECTORY, mode: 0))
        handle = FileHandle(fileDescriptor: try opened.takeDescriptorOwnership(), closeOnDealloc: true)
    }

    func path(of name: String) -> String { "/proc/self/fd/\(handle.fileDescriptor)/\(name)" }
}
