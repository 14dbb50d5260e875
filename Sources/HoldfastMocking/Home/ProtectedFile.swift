import Foundation
import HoldfastPlatform
package import NIOCore

/// Makes files that only their owner may read, from their first moment on.
package enum ProtectedFile {
    package static let secretMode: NIOPOSIXFileMode = 0o600
    package static let openMode: NIOPOSIXFileMode = 0o644

    /// Opens a file for appending; other processes may append to it, too.
    ///
    /// - Parameter mode: the mode of a file that is created.
    static func appending(to path: String, mode: NIOPOSIXFileMode = secretMode) throws -> FileHandle {
        try open(path, flags: O_CREAT | O_APPEND, mode: mode)
    }

    /// Writes a file in one step: a reader finds nothing or all of it.
    package static func write(_ contents: [UInt8], to path: String, mode: NIOPOSIXFileMode) throws {
        let temporary = "\(path).\(UUID().uuidString)"
        let file = try open(temporary, flags: O_CREAT | O_EXCL, mode: mode)
        do {
            try file.write(contentsOf: Data(contents))
            try file.synchronize()
            try file.close()
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            try FileManager.default.moveItem(atPath: temporary, toPath: path)
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw error
        }
    }

    /// Foundation cannot open a file with a mode or with O_APPEND; NIO's handle can.
    private static func open(_ path: String, flags: CInt, mode: NIOPOSIXFileMode) throws -> FileHandle {
        let handle = try NIOFileHandle(_deprecatedPath: path, mode: .write, flags: .posix(flags: flags, mode: mode))
        return FileHandle(fileDescriptor: try handle.takeDescriptorOwnership(), closeOnDealloc: true)
    }
}
