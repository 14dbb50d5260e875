import Foundation
import Holdfast
import HoldfastLMDB
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
        // None of these passes by itself: a service manager must not start the service again and again.
        for path in [scratch.path, scratch.path + "/none", "$CREDENTIALS_DIRECTORY/none"] {
            #expect(error(path)?.code == .wrongKey, "\(path)")
        }
    }

    @Test("A directory, a link that leads nowhere and a credential that was not given are told as what they are")
    func noFile() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let link = scratch.path + "/link.key"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
        for (path, words) in [
            (scratch.path, "is a directory"), (link, "leads to no file"),
            (scratch.path + "/none", "there is no key file"),
            ("$CREDENTIALS_DIRECTORY/journal.key", "/run/credentials/holdfast.service/journal.key"),
        ] {
            let found = error(path)
            #expect(
                found?.code == .wrongKey && found?.message.contains(words) == true, "\(found?.message ?? "nothing")")
            #expect(found?.message.contains("chmod") == false)
        }
        #expect(error("$CREDENTIALS_DIRECTORY/journal.key")?.message.contains("HOLDFAST_JOURNAL_KEY_FILE") == true)
        #expect(JournalKeys.isWithheld("$CREDENTIALS_DIRECTORY/journal.key"))
        #expect(!JournalKeys.isWithheld(link))
        // As root names it for a command.
        #expect(KeyFile.isCredential("/run/credentials/holdfast.service/journal.key"))
        for other in ["/run/credentials/../etc/journal.key", "/etc/run/credentials/journal.key", link] {
            #expect(!KeyFile.isCredential(other), "\(other)")
        }
    }

    @Test("A key that is missing is named, where the journal says which one it is") func needed() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (path, journal) = (scratch.path + "/journal.key", scratch.path + "/sealed.journal")
        let id = try JournalKeys.makeFile(path)
        try Sealing.open(journal, try JournalKeys(file: path, of: journal)).close()
        try FileManager.default.removeItem(atPath: path)
        func words(_ journal: String?) -> String {
            do throws(JournalError) { _ = try JournalKeys(file: path, of: journal) } catch { return error.message }
            return ""
        }
        #expect(words(journal).contains("no key file") && words(journal).contains("is sealed with key \(id)"))
        for none in [nil, scratch.path + "/none.journal"] { #expect(!words(none).contains("sealed with")) }
    }

    @Test("Of several that add a key at once, each key that was told is in the file") func together() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.path + "/journal.key"
        let made = await Self.each(4) { try? JournalKeys.makeFile(path) }
        #expect(made.count == 1)
        let added = await Self.each(8) { try? JournalKeys.addKey(toFile: path) }
        #expect(added.count == 8)
        #expect(Set(try JournalKeys(file: path).ids) == Set(made + added))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["journal.key"])
    }

    @Test("What a killed process has left beside the file goes with the next key; what is being written stays")
    func leftovers() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.path + "/journal.key"
        let first = try JournalKeys.makeFile(path)
        let (left, written) = ("journal.key.\(UUID().uuidString).new", "journal.key.\(UUID().uuidString).new")
        let others = ["journal.key.old.new", "other.key.\(UUID().uuidString).new"]
        for name in [left, written] + others {
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/\(name)"))
        }
        let file = try OpenFile("\(scratch.path)/\(written)", .read)
        #expect(try file.tryLock(exclusive: true))
        let second = try JournalKeys.addKey(toFile: path)
        #expect(try JournalKeys(file: path).ids == [second, first])
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(Set(names) == Set(["journal.key", written] + others), "\(names)")
        file.unlock()
        try JournalKeys.addKey(toFile: path)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: scratch.path).contains(written))
    }

    /// What so many threads at once come to, but for those that fail.
    private static func each(_ count: Int, _ body: @escaping @Sendable () -> String?) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await withCheckedContinuation { done in Thread.detachNewThread { done.resume(returning: body()) } }
                }
            }
            var results: [String] = []
            for await result in group { if let result { results.append(result) } }
            return results
        }
    }

    @Test("By a symbolic link, the file that it leads to gets the key, and the link stays") func link() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (real, link) = (scratch.path + "/real.key", scratch.path + "/link.key")
        let first = try JournalKeys.makeFile(real)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.key")
        let second = try JournalKeys.addKey(toFile: link)
        #expect(try JournalKeys(file: real).ids == [second, first])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.key")
        // A link that leads nowhere may be meant for a file that comes back.
        try FileManager.default.removeItem(atPath: real)
        #expect(throws: JournalError.self) { try JournalKeys.makeFile(link) }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.key")
    }
}
