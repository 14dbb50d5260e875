internal import Foundation
internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// The companion of a report, locked by the one run that writes both. The lock ends with the process, however that ends.
struct ReportLock {
    /// The report's, as it was given.
    let path: String
    let companion: FileHandle

    /// Takes the lock of a report that was begun.
    ///
    /// - Returns: nil when there is none.
    /// - Throws: ``ToolError`` when another run has it, or the companion can't be opened.
    static func existing(_ path: String) throws(ToolError) -> ReportLock? {
        let name = ReportFile.companionPath(of: path)
        while let before = number(ofFile: name) {
            let handle: FileHandle
            do { handle = try FileHandle(forUpdating: URL(fileURLWithPath: name)) } catch {
                guard number(ofFile: name) != nil else { return nil }
                throw ToolError(
                    ToolError.status(ofFile: error, otherwise: .cannotOpen),
                    "the report \(path) can't be gone on with: \(name): \(FileFailure.words(error))")
            }
            guard FileLock.take(handle) else { throw busy(path) }
            // Whoever had it may have removed the file just before; only under the lock nobody does.
            if number(ofFile: name) == before { return ReportLock(path: path, companion: handle) }
        }
        return nil
    }

    /// Makes the companion of a new report, and takes its lock.
    static func make(_ path: String) throws(ToolError) -> ReportLock {
        let name = ReportFile.companionPath(of: path)
        let handle: FileHandle
        do {
            // Foundation cannot open with a mode; NIO's handle can.
            let file = try NIOFileHandle(
                _deprecatedPath: name, mode: [.read, .write], flags: .posix(flags: O_CREAT | O_EXCL, mode: 0o600))
            handle = FileHandle(fileDescriptor: try file.takeDescriptorOwnership(), closeOnDealloc: true)
        } catch let error as IOError where error.errnoCode == EEXIST {
            throw busy(path)
        } catch {
            throw ToolError(making: path, error)
        }
        guard FileLock.take(handle) else { throw busy(path) }
        return ReportLock(path: path, companion: handle)
    }

    /// Replaces all that the companion has.
    func fill(_ bytes: [UInt8]) throws(ToolError) {
        do {
            try companion.truncate(atOffset: 0)
            try companion.seek(toOffset: 0)
            try companion.write(contentsOf: Data(bytes))
            try companion.synchronize()
        } catch {
            throw ToolError(making: path, error)
        }
    }

    /// Removes the companion of a report that could not be made.
    func discard() { try? FileManager.default.removeItem(atPath: ReportFile.companionPath(of: path)) }

    /// The inode.
    private static func number(ofFile path: String) -> UInt64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }

    private static func busy(_ path: String) -> ToolError {
        ToolError(.cannotOpen, "the report \(path) is being written by another `send`: wait for it, or end it")
    }
}
