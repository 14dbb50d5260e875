import Foundation

/// The file of accepted notifications, appended to in batches. See ``LedgerAudit`` for its reader.
package final class Ledger: Sendable {
    private let file: Locked<FileHandle?>

    /// Opens the file. Ends a line that a killed process left unfinished, so that it cannot swallow the next one.
    ///
    /// - Throws: when the file cannot be opened.
    package init(path: String) throws {
        do {
            let handle = try ProtectedFile.appending(to: path)
            if try Self.endsInsideALine(path) { try handle.write(contentsOf: Data([UInt8(ascii: "\n")])) }
            file = Locked(handle)
        } catch {
            throw MockError("the ledger \(path) can't be opened", because: error)
        }
    }

    private static func endsInsideALine(_ path: String) throws -> Bool {
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? reader.close() }
        let size = try reader.seekToEnd()
        guard size > 0 else { return false }
        try reader.seek(toOffset: size - 1)
        return try reader.read(upToCount: 1)?.first != UInt8(ascii: "\n")
    }

    /// Hands whole lines to the kernel: they survive the end of this process, but not a power loss.
    package func append(_ lines: [UInt8]) throws {
        try file.withLock { (handle) throws in
            guard let handle else { throw MockError("the ledger is closed") }
            try handle.write(contentsOf: Data(lines))
        }
    }

    /// Syncs the file to disk and closes it.
    package func close() throws {
        try file.withLock { (handle) throws in
            guard let open = handle else { return }
            handle = nil
            try open.synchronize()
            try open.close()
        }
    }
}

extension [UInt8] {
    /// Appends text as the inside of a JSON string.
    package mutating func appendJSONText(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                append(contentsOf: #"\u00"#.utf8)
                append(ASCII.hexDigit(byte >> 4))
                append(ASCII.hexDigit(byte & 15))
            default:
                append(byte)
            }
        }
    }
}
