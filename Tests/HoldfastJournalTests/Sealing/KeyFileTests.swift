import Foundation
import Holdfast
import Testing

@testable import HoldfastJournal

@Suite("Files with keys of journals") struct KeyFileTests {
    private func file(_ scratch: Scratch, _ text: String, mode: Int = 0o600) throws -> String {
        let path = scratch.path + "/\(UUID().uuidString).key"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func error(_ path: String) -> JournalError? {
        do throws(JournalError) {
            _ = try JournalKeys(file: path)
            return nil
        } catch {
            return error
        }
    }

    @Test("A new file is its owner's alone, is never written over, and gets a new key before the others")
    func made() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.path + "/journal.key"
        let first = try JournalKeys.makeFile(path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        #expect(try JournalKeys(file: path).ids == [first])
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: JournalError.self) { try JournalKeys.makeFile(path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        let second = try JournalKeys.addKey(toFile: path)
        #expect(try JournalKeys(file: path).ids == [second, first])
        let after = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(after?.intValue == 0o400)
    }

    @Test("What is no key file is refused, without a word of what is in it")
    func refused() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let line = String(decoding: try SealKey([UInt8](0..<32)).line, as: UTF8.self)
        for text in ["", "# nothing\n", "secret", line + "x\n", String(line.dropLast()) + "\n", line + "\n" + line] {
            let found = try #require(error(try file(scratch, text)))
            #expect(found.code == .wrongKey)
            #expect(!found.message.contains("AAECAw") && !found.message.contains("secret"))
        }
        for mode in [0o640, 0o604, 0o660] {
            #expect(error(try file(scratch, line, mode: mode))?.code == .wrongKey)
        }
        for mode in [0o600, 0o400] {
            #expect(error(try file(scratch, "# a key\r\n\n" + line, mode: mode))?.code == nil)
        }
        #expect(error(scratch.path + "/none")?.code == .wrongKey)
        #expect(error("$CREDENTIALS_DIRECTORY/none")?.code == .wrongKey)
    }
}
