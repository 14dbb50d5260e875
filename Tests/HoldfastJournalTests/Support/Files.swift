import Foundation
import HoldfastLMDB

/// What processes of one test tell each other by.
struct Signpost: Sendable {
    let path: String

    func raise(_ text: String = "") {
        // Written aside and renamed, so that nobody sees half of it.
        do {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            fatalError("cannot raise a signpost: \(error)")
        }
    }

    /// Waits until it is raised.
    func wait(_ limit: Duration = .seconds(60)) async throws -> String {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if let text = try? String(contentsOfFile: path, encoding: .utf8) { return text }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TimedOut()
    }
}

/// The data file of an environment that this process has open.
struct DataFile {
    static func highWaterPages(_ environment: String) throws -> Int {
        guard let environment = try Environment.share(environment) else { throw TimedOut() }
        defer { environment.close() }
        return try environment.info().highWaterPages
    }

    static func byteCount(_ environment: String) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: environment + "/data.mdb")
        return facts[.size] as? Int ?? 0
    }
}

extension FileManager {
    func mode(_ path: String) throws -> Int {
        (try attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0) & 0o777
    }
}

/// Changes bytes of a file in place.
func patch(_ path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: UInt64(data.count))
    try handle.seek(toOffset: 0)
    try handle.write(contentsOf: data)
    try handle.close()
}
