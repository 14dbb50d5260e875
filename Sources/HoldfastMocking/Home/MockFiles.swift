import Foundation

/// Reads and writes the keys and certificates in one directory.
package struct MockFiles: Sendable {
    package let directory: String

    package init(directory: String) { self.directory = directory }

    package func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// nil when there is no such file.
    package func read(_ name: String) throws -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path(name)) else { return nil }
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    package func write(_ contents: [UInt8], to name: String, isSecret: Bool) throws {
        let mode = isSecret ? ProtectedFile.secretMode : ProtectedFile.openMode
        try ProtectedFile.write(contents, to: path(name), mode: mode)
    }

    /// Names the file in the error of `body`.
    package func naming<R>(_ name: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw MockError("\(path(name)): \(error); remove it, and the server makes a new one")
        }
    }
}
