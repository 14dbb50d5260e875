internal import Foundation
internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// A file in the making: only its owner may read it, from its first moment on, and it has its name only
/// when all of it is on disk.
struct PrivateFile {
    let path: String
    private let partial: String
    private let handle: FileHandle
    private let replacesExisting: Bool

    /// - Parameter replacesExisting: whether it takes the place of a file of that name, if there is one. Who opens it finds
    ///   the one or the other, at any time.
    /// - Throws: ``ToolError`` when there is a file of that name already, or when none can be made.
    init(_ path: String, replacesExisting: Bool = false) throws(ToolError) {
        self.path = path
        self.replacesExisting = replacesExisting
        partial = path + ".partial"
        guard replacesExisting || !FileManager.default.fileExists(atPath: path) else {
            throw ToolError(.cannotOpen, "\(path) is there already: give another name, or remove it")
        }
        do {
            // Of a process that was killed.
            if FileManager.default.fileExists(atPath: partial) { try FileManager.default.removeItem(atPath: partial) }
            // Foundation cannot open with a mode; NIO's handle can.
            let file = try NIOFileHandle(
                _deprecatedPath: partial, mode: .write, flags: .posix(flags: O_CREAT | O_EXCL, mode: 0o600))
            handle = FileHandle(fileDescriptor: try file.takeDescriptorOwnership(), closeOnDealloc: true)
        } catch {
            throw ToolError(making: path, error)
        }
    }

    func write(_ bytes: [UInt8]) throws(ToolError) {
        do { try handle.write(contentsOf: Data(bytes)) } catch { throw failure(error) }
    }

    /// Puts the whole on disk, under its name.
    ///
    /// - Parameters:
    ///   - isPublic: whether others may read it from then on.
    ///   - rights: whose it is from then on, and who may read it; nil for this user's, as `isPublic` says.
    func finish(isPublic: Bool = false, rights: FileRights? = nil) async throws(ToolError) {
        do {
            try handle.synchronize()
            try handle.close()
            if isPublic { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: partial) }
            if let rights { try rights.apply(to: partial) }
            if replacesExisting {
                try await NonBlockingFileIO(threadPool: .singleton).rename(path: partial, newName: path)
            } else {
                try FileManager.default.moveItem(atPath: partial, toPath: path)
            }
        } catch {
            throw failure(error)
        }
    }

    /// Removes what was written so far.
    func discard() {
        do { try FileManager.default.removeItem(atPath: partial) } catch {
            Console.standard.warning("\(partial) could not be removed: \(FileFailure.words(error))")
        }
    }

    private func failure(_ error: any Error) -> ToolError {
        ToolError(
            ToolError.status(ofFile: error, otherwise: .inputOutput),
            "\(path) could not be written: \(FileFailure.words(error))")
    }
}
