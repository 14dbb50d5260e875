internal import Foundation
internal import Holdfast
internal import HoldfastPlatform
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// A file in the making: only its owner may read it, from its first moment on, and it has its name only
/// when all of it is on disk.
///
/// Until then it has no name at all, so that nothing is left of it when the process is killed. Where the file system has no
/// such files, it is called `NAME.partial` meanwhile, and the next one of that name removes what a killed process has left.
struct PrivateFile {
    let path: String
    /// The name before the last one; of a file without a name, only where it takes another's place.
    private let partial: String
    private let isUnnamed: Bool
    private let handle: FileHandle
    private let replacesExisting: Bool

    /// - Parameters:
    ///   - replacesExisting: whether it takes the place of a file of that name, if there is one. Who opens it finds
    ///     the one or the other, at any time.
    ///   - unnamed: makes a file without a name in a directory; nil where there is none.
    /// - Throws: ``ToolError`` when there is a file of that name already, or when none can be made.
    init(
        _ path: String, replacesExisting: Bool = false, unnamed: (String) -> Int32? = UnnamedFile.make(in:)
    ) throws(ToolError) {
        self.path = path
        self.replacesExisting = replacesExisting
        partial = path + ".partial"
        guard replacesExisting || !FileManager.default.fileExists(atPath: path) else { throw Self.isThere(path) }
        do {
            // Of a process that was killed.
            if FileManager.default.fileExists(atPath: partial) { try FileManager.default.removeItem(atPath: partial) }
            if let descriptor = unnamed(Self.directory(of: path)) {
                isUnnamed = true
                handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            } else {
                isUnnamed = false
                // Foundation cannot open with a mode; NIO's handle can.
                let file = try NIOFileHandle(
                    _deprecatedPath: partial, mode: .write, flags: .posix(flags: O_CREAT | O_EXCL, mode: 0o600))
                handle = FileHandle(fileDescriptor: try file.takeDescriptorOwnership(), closeOnDealloc: true)
            }
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
            if isPublic { try FileRights(mode: 0o644).apply(to: handle.fileDescriptor) }
            if let rights { try rights.apply(to: handle.fileDescriptor) }
            try handle.synchronize()
            if isUnnamed { try name(replacesExisting ? partial : path) }
            try handle.close()
            if replacesExisting {
                try await NonBlockingFileIO(threadPool: .singleton).rename(path: partial, newName: path)
            } else if !isUnnamed {
                try FileManager.default.moveItem(atPath: partial, toPath: path)
            }
        } catch let error as ToolError {
            throw error
        } catch {
            throw failure(error)
        }
    }

    /// Removes what was written so far.
    func discard() {
        guard !isUnnamed || FileManager.default.fileExists(atPath: partial) else { return }
        do { try FileManager.default.removeItem(atPath: partial) } catch {
            Console.standard.warning("\(partial) could not be removed: \(FileFailure.words(error))")
        }
    }

    private func name(_ name: String) throws {
        let code = UnnamedFile.name(handle.fileDescriptor, name)
        guard code != EEXIST else { throw Self.isThere(name) }
        guard code == 0 else { throw IOError(errnoCode: code, reason: "linkat") }
    }

    private static func directory(of path: String) -> String {
        let directory = (path as NSString).deletingLastPathComponent
        return directory.isEmpty ? "." : directory
    }

    private static func isThere(_ path: String) -> ToolError {
        ToolError(.cannotOpen, "\(path) is there already: give another name, or remove it")
    }

    private func failure(_ error: any Error) -> ToolError {
        ToolError(
            ToolError.status(ofFile: error, otherwise: .inputOutput),
            "\(path) could not be written: \(FileFailure.words(error))")
    }
}
