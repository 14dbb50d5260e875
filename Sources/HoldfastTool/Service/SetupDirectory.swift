internal import Foundation
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// Directories that `init` and its like make.
enum SetupDirectory {
    /// Makes one, and those above it that are missing, each with rights of its own whatever the umask says.
    ///
    /// - Parameter made: gets the path of each that was made, the outermost first, also when this throws.
    static func make(
        _ path: String, _ rights: FileRights, above: FileRights, made: inout [String]
    ) throws(ToolError) {
        let files = FileManager.default
        var missing: [String] = []
        var url = URL(fileURLWithPath: path).standardizedFileURL
        while true {
            if files.fileExists(atPath: url.path) {
                guard isDirectory(url.path) else {
                    throw ToolError(.cannotOpen, "\(path) can't be made: \(url.path) is not a directory")
                }
                break
            }
            missing.append(url.path)
            guard url.path != "/" else { break }
            url.deleteLastPathComponent()
        }
        for place in missing.reversed() {
            do {
                try files.createDirectory(
                    atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                made.append(place)
                try (place == path ? rights : above).apply(to: place)
            } catch {
                // Another process was faster.
                if made.last != place, isDirectory(place) { continue }
                throw ToolError(making: place, error)
            }
        }
    }

    /// Whether it is one, or a link to one.
    static func isDirectory(_ path: String) -> Bool {
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let type = try? FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType
        return type == .typeDirectory
    }

    /// Removes what a killed `init` left. Its lock is held.
    static func removeStale(in directory: String) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: directory)) ?? [] {
            let suffix = name.dropFirst(".init-".count)
            guard name.hasPrefix(".init-"), suffix.count == 8, suffix.allSatisfy(\.isHexDigit) else { continue }
            let attributes = try? files.attributesOfItem(atPath: "\(directory)/\(name)")
            guard attributes?[.type] as? FileAttributeType == .typeDirectory,
                (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid()
            else { continue }
            try? files.removeItem(atPath: "\(directory)/\(name)")
        }
    }
}

/// Held while a directory is set up, so that two that do it don't mix their files. It ends with the process.
final class SetupLock {
    private let handle: FileHandle

    /// - Throws: ``ToolError`` when another process has it.
    init(_ directory: String) throws(ToolError) {
        do {
            let file = try NIOFileHandle(_deprecatedPath: directory, mode: .read)
            handle = FileHandle(fileDescriptor: try file.takeDescriptorOwnership(), closeOnDealloc: true)
        } catch {
            throw ToolError(
                ToolError.status(ofFile: error, otherwise: .cannotOpen),
                "\(directory) can't be opened: \(FileFailure.words(error))")
        }
        guard FileLock.take(handle) else {
            throw ToolError(
                .cannotOpen, "another `holdfast init` is at work in \(directory): try again when it has ended")
        }
    }
}
