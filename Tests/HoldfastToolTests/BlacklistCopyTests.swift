import Foundation
import Holdfast
import HoldfastJournal
import Scratch
import Testing

@testable import HoldfastTool

@Suite("A host's copy of the fleet's blacklist, as commands read it")
struct BlacklistCopyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read() async -> (any Error)? {
        do {
            try await JournalPlace.directory(folder("1.journal")).withBlacklist { _ in }
            return nil
        } catch {
            return error
        }
    }

    @Test("Without it, or before it was filled, what is on the blacklist is not known, and nothing is called clean")
    func unknown() async throws {
        try LMDBJournal(directory: folder("1.journal")).close()
        #expect(await read() == nil)
        // What makes a journal a working copy.
        try folder.write("1.journal/copy", "")
        let missing = try #require(await read() as? ToolError)
        #expect(missing.status == .noInput && missing.message.contains("is not there"), "\(missing)")
        let copy = try LocalBlacklist.open(folder("blacklist"))
        copy.close()
        let empty = try #require(await read() as? ToolError)
        #expect(empty.status == .noInput && empty.message.contains("was not filled"), "\(empty)")
        // Nothing is on it, and that is known.
        let filled = try LocalBlacklist.open(folder("blacklist"))
        try filled.replace([], mark: Array("1 0 -".utf8))
        filled.close()
        #expect(await read() == nil)
    }
}
