package import Foundation

/// A directory that goes away with its owner.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func url(_ name: String) -> URL { URL(fileURLWithPath: path).appendingPathComponent(name) }

    package func callAsFunction(_ name: String) -> String { url(name).path }

    package func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: url(name)) }

    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
    }
}
