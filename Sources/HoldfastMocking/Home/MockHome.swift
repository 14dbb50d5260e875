import Foundation

/// The directory with a mock's certificates and keys, its own or one it was given.
package struct MockHome: Sendable {
    package let path: String
    package let credentials: MockCredentials
    private let isOwn: Bool

    /// - Parameters:
    ///   - path: nil for a new temporary directory, which ``leave()`` removes.
    /// - host: the listening address, which the server's certificate is issued for, too.
    package init(path: String?, names: [String], host: String) throws {
        isOwn = path == nil
        self.path =
            path
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-mock-\(UUID().uuidString)").path
        credentials = try MockCredentials(
            directory: self.path, names: names + (names.contains(host) ? [] : [host]))
    }

    package var files: MockFiles { MockFiles(directory: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    package func leave() throws {
        if isOwn, FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
}
