internal import Foundation

/// PostgreSQL's programs of the newest version that is installed, run as a user that may run a server.
package enum PostgresProgram {
    /// `nil` when no server is installed.
    package static let folder: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newest = versions.compactMap { Int($0) }.sorted().last
        guard let newest, FileManager.default.isExecutableFile(atPath: "\(root)/\(newest)/bin/postgres") else {
            return nil
        }
        return "\(root)/\(newest)/bin"
    }()

    /// Whether tests are to run: not where no server is installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    package static var isWanted: Bool {
        folder != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"
    }

    /// The server refuses to run as root, so root becomes the user that Debian's package makes. Neither a login nor a
    /// terminal is needed, and the program keeps its process.
    static let prefix: [String] = {
        guard getuid() == 0 else { return [] }
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    }()

    /// The words of a command of PostgreSQL's.
    static func command(_ name: String, _ arguments: [String]) throws -> [String] {
        guard let folder else { throw PostgresFailure("PostgreSQL is not installed: run Scripts/bootstrap --tests") }
        return prefix + ["\(folder)/\(name)"] + arguments
    }

    /// Runs a command to its end.
    ///
    /// - Returns: what it printed.
    @discardableResult
    package static func run(_ name: String, _ arguments: [String]) throws -> String {
        try Self.run(command(name, arguments))
    }

    @discardableResult
    static func run(_ words: [String]) throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("postgres-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let status = try Child(words, output: file.path).wait()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        guard status == 0 else { throw PostgresFailure("\(words.joined(separator: " ")): \(text)") }
        return text
    }
}

/// A command of PostgreSQL's failed.
package struct PostgresFailure: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
