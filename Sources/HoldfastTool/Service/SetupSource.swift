internal import Foundation
internal import HoldfastPlatform
internal import HoldfastTransport

/// A file that the user named, to be copied: a regular one, or a stream that this process was given.
enum SetupSource {
    /// No key or certificate is longer.
    private static let limit = 1 << 20

    /// The descriptor that `/dev/stdin` or `/dev/fd/63` is; nil for a file.
    static func descriptor(of path: String) -> Int32? {
        if path == "/dev/stdin" { return 0 }
        let folders = ["/dev/fd"] + (KernelNames.openDescriptors.map { [$0] } ?? [])
        for prefix in folders.map({ "\($0)/" }) where path.hasPrefix(prefix) {
            return Int32(path.dropFirst(prefix.count)).flatMap { $0 >= 0 ? $0 : nil }
        }
        return nil
    }

    /// - Throws: ``ToolError`` at once for what is neither: to open a named pipe would wait for its writer.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let handle: FileHandle
        if let descriptor = descriptor(of: path) {
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        } else {
            try refuseOthers(path)
            do { handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
                throw failure(path, error)
            }
        }
        do {
            var bytes: [UInt8] = []
            while bytes.count <= limit, let more = try handle.read(upToCount: limit + 1 - bytes.count), !more.isEmpty {
                bytes += more
            }
            guard bytes.count <= limit else {
                throw ToolError(.noInput, "\(path) is longer than 1 MiB: it is no such file")
            }
            return bytes
        } catch let error as ToolError { throw error } catch { throw failure(path, error) }
    }

    private static func refuseOthers(_ path: String) throws(ToolError) {
        let files = FileManager.default
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let type: FileAttributeType?
        do { type = try files.attributesOfItem(atPath: file)[.type] as? FileAttributeType } catch {
            guard ToolError.status(ofFile: error, otherwise: .noInput) == .noPermission else {
                throw ToolError(.noInput, "\(path) does not exist")
            }
            throw failure(path, error)
        }
        guard type == .typeRegular else {
            throw ToolError(
                .noInput,
                "\(path) is \(type == .typeDirectory ? "a directory" : "no regular file"): name a file to copy")
        }
        guard files.isReadableFile(atPath: file) else {
            throw ToolError(.noPermission, "\(path) may not be read by this user")
        }
    }

    private static func failure(_ path: String, _ error: any Error) -> ToolError {
        ToolError(
            ToolError.status(ofFile: error, otherwise: .inputOutput),
            "\(path) could not be read: \(FileFailure.words(error))")
    }
}
