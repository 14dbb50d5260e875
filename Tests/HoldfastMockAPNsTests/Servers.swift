import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

/// Runs `body` with a server, and stops it whatever happens.
@discardableResult
func withServer<R>(
    _ configure: (inout MockAPNsConfiguration) -> Void = { _ in }, _ body: (MockAPNsServer) async throws -> R
) async throws -> R {
    var configuration = MockAPNsConfiguration()
    configure(&configuration)
    let server = try await MockAPNsServer.start(configuration)
    let result: R
    do {
        result = try await body(server)
    } catch {
        try await server.stop(within: .seconds(1))
        throw error
    }
    try await server.stop(within: .seconds(5))
    return result
}

/// Runs `body` with the path of an empty directory that is gone afterwards.
@discardableResult
func withDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory.path)
}

/// Waits until a condition holds, and fails the test when it does not within thirty seconds.
func eventually(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record(what, sourceLocation: sourceLocation)
}

func mode(of path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

func lines(of path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
}
