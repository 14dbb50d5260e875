internal import Foundation
internal import HoldfastTransport

/// Where a demo has its files: a directory of its own, which only this user can read.
struct DemoDirectory {
    let path: String
    /// Whether it stays when the demo is over.
    let isKept: Bool

    /// - Parameter kept: the directory to make and to keep; nil for a temporary one.
    /// - Throws: ``ToolError`` when it can't be made, or has something in it.
    init(kept: String?) throws(ToolError) {
        // All that the demo's processes make is this user's alone.
        umask(0o077)
        isKept = kept != nil
        let name = "holdfast-demo-\(UUID().uuidString.prefix(8).lowercased())"
        path =
            kept.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent(name).standardizedFileURL.path
        if let found = try? FileManager.default.contentsOfDirectory(atPath: path), isKept {
            guard found.isEmpty else {
                throw ToolError(.cannotOpen, "\(path) has files in it already: name a new directory")
            }
            return
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: isKept, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ToolError(.cannotOpen, "\(path) can't be made: \(FileFailure.words(error))")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes it, unless it is kept.
    func leave() {
        guard !isKept else { return }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            Console.standard.warning("\(path) could not be removed: \(FileFailure.words(error))")
        }
    }
}
