import Foundation

/// What a disk holds of one file. Pages that are not there are zeros.
struct FileImage: Hashable, Sendable {
    static let pageByteCount = 4096

    var byteCount = 0
    private(set) var pages: [Int: [UInt8]] = [:]

    /// Writes a part of `bytes`, which as a whole belong to `offset`.
    mutating func write(_ bytes: [UInt8], _ part: Range<Int>, at offset: Int) {
        var position = part.lowerBound
        while position < part.upperBound {
            let place = offset + position
            let page = place / Self.pageByteCount
            let start = place % Self.pageByteCount
            let count = min(Self.pageByteCount - start, part.upperBound - position)
            if count == Self.pageByteCount {
                pages[page] = Array(bytes[position..<position + count])
            } else {
                pages[page, default: [UInt8](repeating: 0, count: Self.pageByteCount)]
                    .replaceSubrange(start..<start + count, with: bytes[position..<position + count])
            }
            position += count
        }
        byteCount = max(byteCount, offset + part.upperBound)
    }

    mutating func truncate(to count: Int) {
        byteCount = count
        let whole = count / Self.pageByteCount
        pages = pages.filter { page, _ in page <= whole }
        if let last = pages[whole] {
            let kept = count % Self.pageByteCount
            pages[whole] = last.prefix(kept) + [UInt8](repeating: 0, count: Self.pageByteCount - kept)
        }
    }
}

/// What a disk holds of a directory and what is in it.
struct DiskImage: Hashable, Sendable {
    /// By path relative to the directory recorded.
    var directories: Set<String> = []
    var files: [String: FileImage] = [:]

    /// Makes the real directory hold just this.
    func write(to root: String) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: root) { try manager.removeItem(atPath: root) }
        try manager.createDirectory(atPath: root, withIntermediateDirectories: true)
        // Shorter names first: parents before what is in them.
        for directory in directories.sorted() {
            try manager.createDirectory(
                atPath: root + directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for (name, image) in files {
            let path = root + name
            guard manager.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteUnknown)
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            for (page, bytes) in image.pages {
                try handle.seek(toOffset: UInt64(page * FileImage.pageByteCount))
                try handle.write(contentsOf: bytes)
            }
            try handle.truncate(atOffset: UInt64(image.byteCount))
            try handle.close()
        }
    }
}
