internal import Foundation
internal import Holdfast
internal import HoldfastTransport

/// An opened input: a file, or standard input.
struct InputFile {
    /// For messages: the path as it was given, or `standard input`.
    let name: String
    /// Absolute; nil for what is no regular file.
    let path: String?
    /// `nil` for an input that is no regular file, and so can't be resumed.
    let identity: FileIdentity?
    /// Bytes, when it was opened; nil when that is not known.
    let size: UInt64?
    let source: ByteSource

    /// Whether it is a pipe or a terminal, which may have nothing for a while without having ended.
    var isStream: Bool { if case .stream = source { true } else { false } }

    /// Owns the descriptor that a stream reads.
    private let keptHandle: FileHandle?

    /// - Parameter argument: a path, or `-` for standard input.
    init(_ argument: String) throws(ToolError) {
        if argument == "-" {
            self.init(streaming: .standardInput, name: "standard input")
            return
        }
        let url = URL(fileURLWithPath: argument).standardizedFileURL.resolvingSymlinksInPath()
        let attributes: [FileAttributeKey: Any]
        let handle: FileHandle
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            handle = try FileHandle(forReadingFrom: url)
        } catch {
            throw Self.cannotOpen(argument, error)
        }
        switch attributes[.type] as? FileAttributeType {
        case .typeDirectory?: throw ToolError(.noInput, "\(argument) is a directory, not a file of notifications")
        case .typeRegular?: self.init(regular: handle, name: argument, path: url.path, attributes)
        default: self.init(streaming: handle, name: argument)
        }
    }

    private init(regular handle: FileHandle, name: String, path: String, _ attributes: [FileAttributeKey: Any]) {
        self.name = name
        self.path = path
        source = .file(handle)
        keptHandle = nil
        size = (attributes[.size] as? NSNumber)?.uint64Value
        if let device = attributes[.systemNumber] as? NSNumber, let inode = attributes[.systemFileNumber] as? NSNumber {
            identity = FileIdentity(device: device.uint64Value, inode: inode.uint64Value)
        } else {
            identity = nil
        }
    }

    private init(streaming handle: FileHandle, name: String) {
        self.name = name
        source = .stream(StreamReader(descriptor: handle.fileDescriptor))
        keptHandle = handle
        path = nil
        identity = nil
        size = nil
    }

    /// The bytes before `offset`, as many as a fingerprint needs; nil when the file is shorter. Leaves the place behind them.
    func history(before offset: UInt64) throws(ToolError) -> [UInt8]? {
        guard case .file(let handle) = source else { return nil }
        let count = Int(min(offset, UInt64(LineSplitter.historyLength)))
        do {
            try handle.seek(toOffset: offset - UInt64(count))
            let bytes = Array(try handle.read(upToCount: count) ?? Data())
            return bytes.count == count ? bytes : nil
        } catch {
            throw ToolError(.inputOutput, "\(name) could not be read: \(FileFailure.words(error))")
        }
    }

    /// Reads some bytes of a regular file from where it stands.
    func read(count: Int) throws(ToolError) -> [UInt8] {
        guard case .file(let handle) = source else { return [] }
        do {
            return Array(try handle.read(upToCount: count) ?? Data())
        } catch {
            throw ToolError(.inputOutput, "\(name) could not be read: \(FileFailure.words(error))")
        }
    }

    /// Goes to a place to read on from there. Standard input has one place only.
    func seek(to offset: UInt64) throws(ToolError) {
        guard case .file(let handle) = source else { return }
        do {
            try handle.seek(toOffset: offset)
        } catch {
            throw ToolError(.inputOutput, "\(name) could not be read: \(FileFailure.words(error))")
        }
    }

    private static func cannotOpen(_ argument: String, _ error: any Error) -> ToolError {
        let code = (error as? CocoaError)?.code
        switch code {
        case .fileReadNoSuchFile?, .fileNoSuchFile?:
            return ToolError(.noInput, "\(argument) does not exist")
        case .fileReadNoPermission?:
            return ToolError(.noPermission, "\(argument) may not be read by this user")
        default:
            return ToolError(.noInput, "\(argument) cannot be opened: \(FileFailure.words(error))")
        }
    }
}
