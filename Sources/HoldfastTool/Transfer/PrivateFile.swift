internal import Foundation
internal import Holdfast
internal import NIOCore

/// A file of notifications in the making: only its owner may read it, from its first moment on, and it has its name only
/// when all of it is on disk.
struct PrivateFile {
    let path: String
    private let partial: String
    private let handle: FileHandle

    /// - Throws: ``ToolError`` when there is a file of that name already, or when none can be made.
    init(_ path: String) throws(ToolError) {
        self.path = path
        partial = path + ".partial"
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolError(.cannotOpen, "\(path) is there already: give another name, or remove it")
        }
        do {
            // Of an export that was killed.
            if FileManager.default.fileExists(atPath: partial) { try FileManager.default.removeItem(atPath: partial) }
            // Foundation cannot open with a mode; NIO's handle can.
            let file = try NIOFileHandle(
                _deprecatedPath: partial, mode: .write, flags: .posix(flags: O_CREAT | O_EXCL, mode: 0o600))
            handle = FileHandle(fileDescriptor: try file.takeDescriptorOwnership(), closeOnDealloc: true)
        } catch {
            throw ToolError(.cannotOpen, "\(path) cannot be made: \(error)")
        }
    }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        do { try handle.write(contentsOf: Data(bytes)) } catch { throw failure(error) }
    }

    /// Puts the whole on disk, under its name.
    func finish() throws(ToolError) {
        do {
            try handle.synchronize()
            try handle.close()
            try FileManager.default.moveItem(atPath: partial, toPath: path)
        } catch {
            throw failure(error)
        }
    }

    /// Removes what was written so far.
    func discard() {
        do { try FileManager.default.removeItem(atPath: partial) } catch {
            Console.standard.warning("\(partial) could not be removed: \(error.localizedDescription)")
        }
    }

    private func failure(_ error: any Error) -> ToolError {
        ToolError(.inputOutput, "\(path) could not be written: \(error.localizedDescription)")
    }
}
