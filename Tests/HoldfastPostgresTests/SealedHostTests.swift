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

    @Test("What is looked for would be found in a journal that is not sealed")
    func clear() throws {
        let folder = try TemporaryFolder()
        let first = try host(folder, nil).open()
        try first.journal.setNote("note", to: Array(Self.secret.utf8))
        first.close()
        #expect(try isInDatabase())
    }
}
