internal import Foundation
internal import Holdfast
internal import HoldfastPlatform
internal import HoldfastTransport

/// Looks at the disk under a journal. Writes one small file of its own, which has no name while it is written to.
enum DiskLook {
    private static let rounds = 20
    /// All rounds together end after this.
    private static let patience = Duration.seconds(2)

    /// - Parameter directory: the journal's, or the nearest above it that is there.
    static func look(_ directory: String) -> DiskFacts {
        let sizes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        func bytes(_ key: FileAttributeKey) -> Int? { (sizes?[key] as? NSNumber).map { Int(clamping: $0.int64Value) } }
        return DiskFacts(
            fileSystem: Disk.fileSystem(at: directory),
            unsupported: Disk.unsupportedFileSystem(at: directory) { _ in }, free: bytes(.systemFreeSize),
            total: bytes(.systemSize), sync: sync(directory))
    }

    /// The nearest directory on the way to a path that is there.
    static func nearest(_ path: String) -> String {
        var url = URL(fileURLWithPath: path).standardizedFileURL
        while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
        return url.path
    }

    private static func sync(_ directory: String) -> DiskFacts.Sync {
        switch SystemProbe.readOnly(directory) {
        case .mount?: return .skipped("\(directory) is mounted for reading only")
        case .rights?: return .skipped("this user may not write to \(directory)")
        case nil: break
        }
        let path = "\(directory)/.holdfast-doctor-\(UUID().uuidString)"
        do {
            try Data().write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
            let handle: FileHandle
            do {
                handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            } catch {
                try FileManager.default.removeItem(atPath: path)
                throw error
            }
            try FileManager.default.removeItem(atPath: path)
            defer { try? handle.close() }
            return try times(handle)
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            return .skipped("there is no room for a small file")
        } catch {
            return .failed(FileFailure.words(error))
        }
    }

    private static func times(_ handle: FileHandle) throws -> DiskFacts.Sync {
        let page = Data(repeating: 0x48, count: 4096)
        let end = ContinuousClock.now + patience
        var times: [Duration] = []
        repeat {
            let start = ContinuousClock.now
            try handle.write(contentsOf: page)
            guard Disk.syncContent(handle.fileDescriptor) == 0 else {
                return .failed(FileFailure.words(ofSystem: Int(errno)))
            }
            times.append(ContinuousClock.now - start)
        } while times.count < rounds && ContinuousClock.now < end
        return SyncTimes(times).map { .times($0) } ?? .skipped("nothing was measured")
    }
}
