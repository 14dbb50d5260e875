internal import Foundation
internal import HoldfastPlatform
internal import NIOCore

/// The paths of a journal's socket.
struct ControlPath: Sendable {
    /// The journal's directory.
    let directory: String
    var socket: String { directory + "/" + Self.name }
    /// The path under which the socket is made, where no client looks for it before it has the right mode.
    var unready: String { directory + "/" + Self.unreadyName }

    /// The directory itself, also where its path is a link to it.
    var place: String { directory + "/." }

    static let name = "control.sock"
    static let unreadyName = "control.sock.new"

    init(journal directory: String) {
        self.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    /// - Throws: `IOError`.
    func open() throws -> OpenDirectory { try OpenDirectory(directory) }
}

/// An open directory, which gives its files short paths: a socket's address has room for 108 bytes, and a journal's path may
/// be longer. The paths are valid as long as the directory is open. Darwin has no such paths: there a journal whose path has
/// more than some 85 bytes can't have a socket.
final class OpenDirectory: Sendable {
    private let handle: FileHandle
    private let path: String

    init(_ path: String) throws {
        self.path = path
        // Foundation opens no directories; NIO's handle does, and closes it on exec.
        let opened = try NIOFileHandle(_deprecatedPath: path, mode: .read, flags: .posix(flags: O_DIRECTORY, mode: 0))
        handle = FileHandle(fileDescriptor: try opened.takeDescriptorOwnership(), closeOnDealloc: true)
    }

    func path(of name: String) -> String {
        guard let descriptors = KernelNames.openDescriptors else { return "\(path)/\(name)" }
        return "\(descriptors)/\(handle.fileDescriptor)/\(name)"
    }
}
