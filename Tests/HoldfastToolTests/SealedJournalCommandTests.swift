import Foundation
import Holdfast
import HoldfastJournal
import Scratch
import Testing

@Suite("Commands on a sealed journal") struct SealedJournalCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A key is made, is never printed, and its id is named wherever it is missing")
    func keys() async throws {
        let (key, journal) = (folder("journal.key"), folder("sealed.journal"))
        let made = try await Tool.run("journal", "key", "new", key)
        #expect(made.status == 0)
        let text = try String(contentsOfFile: key, encoding: .utf8)
        let secret = try #require(text.split(separator: "\n").last?.split(separator: ":").last.map(String.init))
        let listed = try await Tool.run("journal", "key", "list", key)
        let id = listed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(id.count == 16 && made.output.contains(id))
        #expect(try await Tool.run("journal", "key", "new", key).status != 0)

        var options = LMDBJournal.Options()
        options.keys = try JournalKeys(file: key)
        try LMDBJournal(directory: journal, options: options).close()
        for command in [
            ["journal", "status"], ["journal", "verify"], ["journal", "compact"], ["rejections", "list"],
        ] {
            let refused = try await Tool.start(command + ["--journal", journal]).result(limit: .seconds(60))
            #expect(refused.status == 78, "\(command): \(refused.errors)")
            #expect(refused.errors.contains("sealed with key \(id)"), "\(refused.errors)")
            let taken = try await Tool.start(command + ["--journal", journal, "--key-file", key]).result(
                limit: .seconds(60))
            #expect(taken.status == 0, "\(command): \(taken.errors)")
            for text in [taken.output, taken.errors, refused.errors] { #expect(!text.contains(secret)) }
        }
        let status = try await Tool.run(
            "journal", "status", "--journal", journal, "--json", environment: ["HOLDFAST_JOURNAL_KEY_FILE": key])
        #expect(try status.json()["sealedWith"] as? [String] == [id])

        let added = try await Tool.run("journal", "key", "add", key)
        #expect(added.status == 0)
        let compacted = try await Tool.run("journal", "compact", "--journal", journal, "--key-file", key, "--json")
        let rows = try #require(try compacted.json()["sealed"] as? [String: Int])
        #expect(rows.keys.count == 1 && rows[id] == nil && added.output.contains(rows.keys.first ?? "none"))

        let copy = folder("copy.journal")
        let backup = try await Tool.run("journal", "backup", copy, "--journal", journal, "--key-file", key)
        #expect(backup.status == 0 && backup.output.contains("sealed: "), "\(backup.output)\(backup.errors)")
        let exported = try await Tool.run("journal", "export", "--journal", journal, "--key-file", key)
        #expect(exported.status == 0 && exported.errors.contains("in the clear"), "\(exported.errors)")

        let unsealed = try await Tool.run(
            "journal", "compact", "--journal", journal, "--key-file", key, "--unseal")
        #expect(unsealed.errors.contains("is not sealed any more"))
        #expect(try await Tool.run("journal", "verify", "--journal", journal).status == 0)
    }

    @Test("A service whose key file is missing, or open to others, does not begin")
    func service() async throws {
        let key = folder("journal.key")
        _ = try await Tool.run("journal", "key", "new", key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        for file in [key, folder("none.key")] {
            let refused = try await Tool.run(
                "journal", "status", "--journal", folder("new.journal"), "--key-file", file)
            #expect(refused.status == 78)
            #expect(refused.errors.contains(file), "\(refused.errors)")
        }
    }
}
