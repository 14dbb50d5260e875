internal import Foundation
internal import HoldfastPlatform

/// How long the disk takes to make a page durable, without a database: the yardstick of everything that is durable.
enum SyncTimes {
    private static let page = Data(repeating: 0x5A, count: 4096)
    private static let pageCount = 256

    /// Writes a page into blocks that were written before and syncs it, again and again.
    ///
    /// - Returns: microseconds, each from the beginning of the write to the end of `fdatasync`.
    static func measure(_ count: Int, perSecond: Int, in directory: String) throws -> [Double] {
        let path = "\(directory)/syncs"
        try Data(count: page.count * pageCount).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.synchronize()
        var times: [Double] = []
        times.reserveCapacity(count)
        for number in 0..<count {
            Thread.sleep(forTimeInterval: 1 / Double(perSecond))
            try file.seek(toOffset: UInt64(number % pageCount * page.count))
            let start = ContinuousClock.now
            try file.write(contentsOf: page)
            guard Disk.syncContent(file.fileDescriptor) == 0 else { throw BenchFailure("the disk can't be synced") }
            times.append((ContinuousClock.now - start).seconds * 1_000_000)
        }
        try file.close()
        return times
    }
}
