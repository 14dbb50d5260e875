import Foundation
import Scratch
import Testing

@testable import HoldfastTool

@Suite("A file in the making")
struct PrivateFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder("secret") }

    init() throws { folder = try TemporaryFolder() }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder("")).sorted() }
    }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Nothing is in the directory until all of it is on disk, so that a kill leaves nothing")
    func unnamed() async throws {
        // Of a program that made it under a name, and was killed.
        try folder.write("secret.partial", "old")
        let file = try PrivateFile(path)
        try file.write(Array("token".utf8))
        #expect(try names.isEmpty)
        try await file.finish()
        #expect(try names == ["secret"] && folder.read("secret") == "token" && mode() == 0o600)
    }

    @Test("What has taken the name meanwhile stays, and what is given up leaves nothing")
    func taken() async throws {
        let file = try PrivateFile(path)
        try file.write(Array("token".utf8))
        try folder.write("secret", "another's")
        await #expect(throws: ToolError.self) { try await file.finish() }
        file.discard()
        #expect(try names == ["secret"] && folder.read("secret") == "another's")
        #expect(throws: ToolError.self) { try PrivateFile(path) }
    }

    @Test("One that replaces another does so in one step, with the rights asked for", arguments: [true, false])
    func replaces(isUnnamed: Bool) async throws {
        try folder.write("secret", "old")
        let file =
            isUnnamed
            ? try PrivateFile(path, replacesExisting: true)
            : try PrivateFile(path, replacesExisting: true, unnamed: { _ in nil })
        try file.write(Array("new".utf8))
        #expect(try folder.read("secret") == "old")
        try await file.finish(rights: FileRights(groupID: getegid(), mode: 0o640))
        #expect(try names == ["secret"] && folder.read("secret") == "new" && mode() == 0o640)
    }

    @Test("Where a file system has no files without a name, it has one meanwhile, which the next removes")
    func fallback() async throws {
        let killed = try PrivateFile(path, unnamed: { _ in nil })
        try killed.write(Array("half".utf8))
        #expect(try names == ["secret.partial"])
        let file = try PrivateFile(path, unnamed: { _ in nil })
        try file.write(Array("whole".utf8))
        try await file.finish(isPublic: true)
        #expect(try names == ["secret"] && folder.read("secret") == "whole" && mode() == 0o644)
        let given = try PrivateFile(folder("other"), unnamed: { _ in nil })
        given.discard()
        #expect(try names == ["secret"])
    }
}
