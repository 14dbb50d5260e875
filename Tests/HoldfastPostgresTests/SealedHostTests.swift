import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

@Suite("Sealed journals of hosts, on a real server", .timeLimit(.minutes(5)), .enabled(if: PostgresProgram.isWanted))
struct SealedHostTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private static let secret = "a secret that nobody may find"

    /// Whether the database has the secret anywhere, in the clear.
    private func isInDatabase() throws -> Bool {
        let text = try PostgresProgram.run(
            "pg_dump", ["-a", "-n", schema.name.description, "-d", schema.cluster.socket])
        let hex = Self.secret.utf8.map { String($0, radix: 16) }.joined()
        return text.contains(hex) || text.contains(Self.secret)
    }

    private func host(_ folder: TemporaryFolder, _ keys: JournalKeys?) throws -> Host {
        try Host(schema, in: folder, keys: keys)
    }

    @Test(
        "Nothing in the clear leaves the host, another copy is made of the log with the key, and without it nothing happens"
    )
    func sealed() throws {
        let folder = try TemporaryFolder()
        let key = folder("journal.key")
        let id = try JournalKeys.makeFile(key)
        let keys = try JournalKeys(file: key)
        let first = try host(folder, keys).open()
        try first.journal.setNote("note", to: Array(Self.secret.utf8))
        #expect(first.journal.sealedWith == [id])
        first.close()
        #expect(try !isInDatabase())

        // Made anew from the log.
        try FileManager.default.removeItem(atPath: first.directory)
        var failure: JournalError?
        do { try host(folder, nil).open().close() } catch { failure = error as? JournalError }
        #expect(failure?.code == .wrongKey && failure?.message.contains(id) == true, "\(String(describing: failure))")
        let second = try host(folder, keys).open()
        #expect(try second.id == first.id && second.journal.note("note") == Array(Self.secret.utf8))
        second.close()
    }

    @Test("A host with a key delivers the journal of one without in the clear, and that one goes on with it")
    func mixed() async throws {
        let folders = (sealed: try TemporaryFolder(), clear: try TemporaryFolder())
        let key = folders.sealed("journal.key")
        try JournalKeys.makeFile(key)
        let clear = try Host(schema, "clear", in: folders.clear)
        let left = try clear.open()
        try left.journal.setNote("note", to: Array(Self.secret.utf8))
        try add("one", to: left)
        left.close()
        // As one with something left, which is followed.
        try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'clear'")

        let sealed = try Host(schema, "sealed", in: folders.sealed, keys: try JournalKeys(file: key))
        let own = try sealed.open()
        let taken = try await takeOver("clear", by: sealed, mine: own)
        #expect(try taken.journal.sealedWith.isEmpty && taken.journal.note("note") == Array(Self.secret.utf8))
        #expect(try lanes(taken) == ["one"] && !own.journal.sealedWith.isEmpty)
        try add("two", to: taken)
        taken.close()
        own.close()

        // Also with another copy.
        try FileManager.default.removeItem(atPath: left.directory)
        let back = try clear.open()
        #expect(try back.id == left.id && lanes(back) == ["one", "two"] && back.journal.sealedWith.isEmpty)
        back.close()
    }

    @Test("A host with an older copy, and without the key of what came since, takes nothing for lost")
    func olderCopy() async throws {
        let folders = (one: try TemporaryFolder(), two: try TemporaryFolder())
        let key = folders.one("journal.key")
        try JournalKeys.makeFile(key)
        let old = try JournalKeys(file: key)
        let news = News()
        let two = try Host(schema, "two", in: folders.two, keys: old, onNews: news.tell)
        let own = try two.open()
        defer { own.close() }
        func leave(_ lane: String, with keys: JournalKeys) throws {
            let one = try Host(schema, "one", in: folders.one, keys: keys).open()
            try add(lane, to: one)
            one.close()
            // As one with something left, which is followed.
            try schema.psql("UPDATE S.journals SET is_closed = false WHERE name = 'one'")
        }
        try leave("one", with: old)
        try await takeOver("one", by: two, mine: own).close()
        try JournalKeys.addKey(toFile: key)
        try leave("two", with: try JournalKeys(file: key))
        for _ in 0..<2 {
            let refused = await #expect(throws: JournalError.self) {
                try await takeOver("one", by: two, mine: own).close()
            }
            #expect(refused?.code == .wrongKey)
        }
        #expect(!news.all.contains { $0.hasPrefix("apart") }, "\(news.all)")
    }

    /// The end of a journal's log.
    private func log(of journal: Int32) throws -> LogState {
        let connection = try schema.asService()
        defer { connection.close() }
        return try LogCalls(schema.name, journal: journal).state(connection, by: soon())
    }

    @Test(
        "A key that comes to a journal in the clear is refused, and nothing is changed in the database or beside it",
        arguments: [true, false])
    func keyAdded(hasCopy: Bool) throws {
        let folder = try TemporaryFolder()
        let key = folder("journal.key")
        try JournalKeys.makeFile(key)
        let keys = try JournalKeys(file: key)
        let first = try host(folder, nil).open()
        try add("one", to: first)
        first.close()
        if !hasCopy { try FileManager.default.removeItem(atPath: first.directory) }
        let before = try log(of: first.id)

        let refused = #expect(throws: JournalError.self) { _ = try host(folder, keys).open() }
        let words = refused?.message ?? ""
        #expect(refused?.code == .wrongKey)
        #expect(words.contains("journal web-1 in PostgreSQL") && words.contains("`journal.host`"), "\(words)")
        #expect(FileManager.default.fileExists(atPath: first.directory) == hasCopy)
        #expect(try log(of: first.id) == before)
        if hasCopy {
            let seen = #expect(throws: JournalError.self) { try HostDirectory.examineOwnSeal(folder.path, keys) }
            #expect(seen?.code == .wrongKey && seen?.message == words)
        } else {
            try HostDirectory.examineOwnSeal(folder.path, keys)
        }
        try HostDirectory.examineOwnSeal(folder.path, nil)

        let second = try host(folder, nil).open()
        #expect(try second.id == first.id && lanes(second) == ["one"])
        second.close()
    }

    @Test("A copy of the blacklist is filled again where the keys are others than its own")
    func blacklistCopy() throws {
        let folder = try TemporaryFolder()
        let key = folder("journal.key")
        try JournalKeys.makeFile(key)
        var options = JournalOptions()
        options.keys = try JournalKeys(file: key)
        let sealed = try LocalBlacklist.open(folder("blacklist"), options)
        try sealed.replace([], mark: [1])
        sealed.close()
        let clear = try LocalBlacklist.open(folder("blacklist"))
        #expect(clear.mark == nil)
        clear.close()
    }

    @Test("What is looked for would be found in a journal that is not sealed")
    func clear() throws {
        let folder = try TemporaryFolder()
        let first = try host(folder, nil).open()
        try first.journal.setNote("note", to: Array(Self.secret.utf8))
        first.close()
        #expect(try isInDatabase())
    }
}
