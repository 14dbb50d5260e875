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

    private func configure(_ keyFile: String) throws -> String {
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: sealed.journal, key-file: \(keyFile)}
            routes: [{name: a, endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        return folder("holdfast.yaml")
    }

    /// A journal sealed with a key of its own.
    private func sealed() async throws -> String {
        _ = try await Tool.run("journal", "key", "new", folder("journal.key"))
        let keys = try JournalKeys(file: folder("journal.key"))
        var options = LMDBJournal.Options()
        options.keys = keys
        try LMDBJournal(directory: folder("sealed.journal"), options: options).close()
        return keys.ids[0]
    }

    @Test("doctor and serve --check take the key file of the configuration, and name a wrong one")
    func examined() async throws {
        let id = try await sealed()
        let config = try configure("journal.key")
        let check = try await Tool.run("serve", "--check", "--config", config)
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        let doctor = try await Tool.run("doctor", "--no-network", "--config", config, "--json")
        #expect(!doctor.output.contains("no key was given") && doctor.output.contains("at rest"), "\(doctor.output)")
        // So does any command to which journal and configuration are named.
        let status = try await Tool.run(
            "journal", "status", "--journal", folder("sealed.journal"), "--config", config)
        #expect(status.status == 0, "\(status.errors)")
        _ = try await Tool.run("journal", "key", "new", folder("other.key"))
        let other = try JournalKeys(file: folder("other.key")).ids[0]
        for command in [["serve", "--check"], ["doctor", "--no-network"]] {
            let wrong = try await Tool.start(command + ["--config", try configure("other.key"), "--json"]).result()
            #expect(wrong.status == 78)
            #expect(wrong.output.contains("sealed with key \(id), and the key file has \(other)"), "\(wrong.output)")
            #expect(!wrong.output.contains("see to what is named"))
            // The flag goes before the configuration.
            let right = try await Tool.start(
                command + ["--config", config, "--json", "--key-file", folder("journal.key")]
            ).result()
            #expect(!right.output.contains("sealed with key"), "\(right.output)")
        }
    }

    @Test("Without its key file, or with one open to others, all ends with 78, and the key is named")
    func service() async throws {
        let id = try await sealed()
        try FileManager.default.copyItem(atPath: folder("journal.key"), toPath: folder("open.key"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder("open.key"))
        for file in ["open.key", "none.key"] {
            let config = try configure(file)
            for command in [
                ["serve"], ["serve", "--check"], ["lanes", "list"], ["journal", "status"], ["journal", "verify"],
                ["recover"],
            ] {
                let refused = try await Tool.start(command + ["--config", config]).result(limit: .seconds(60))
                let words = refused.output + refused.errors
                #expect(refused.status == 78, "\(command): \(words)")
                #expect(words.contains(file) && words.contains("is sealed with key \(id)"), "\(command): \(words)")
            }
        }
    }

    @Test("A journal that is not sealed, or by half, is told with what to do before a service is refused it")
    func unsealed() async throws {
        try LMDBJournal(directory: folder("sealed.journal")).close()
        _ = try await Tool.run("journal", "key", "new", folder("journal.key"))
        let config = try configure("journal.key")
        func expect(_ words: String, _ commands: [[String]]) async throws {
            for command in commands {
                let told = try await Tool.start(command + ["--config", config]).result()
                let text = told.output + told.errors
                #expect(told.status == (command[0] == "status" ? 3 : 78), "\(command): \(text)")
                // In the doctor's text words are wrapped.
                let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(line.contains(words) && line.contains("holdfast journal compact"), "\(command): \(line)")
            }
        }
        try await expect("is not sealed", [["serve", "--check"], ["serve"], ["doctor", "--no-network"]])

        let blacklist = folder("sealed.journal/blacklist/data.mdb")
        let clear = try Data(contentsOf: URL(fileURLWithPath: blacklist))
        #expect(try await Tool.run("journal", "compact", "--config", config).status == 0)
        try clear.write(to: URL(fileURLWithPath: blacklist))
        try await expect(
            "blacklist/data.mdb is in the clear",
            [
                ["serve", "--check"], ["serve"], ["doctor", "--no-network"], ["status"], ["journal", "verify"],
                ["journal", "backup", folder("copy.journal")],
            ])
        #expect(!FileManager.default.fileExists(atPath: folder("copy.journal")))
        let status = try await Tool.run("journal", "status", "--config", config)
        #expect(status.status == 0 && status.output.contains("by half"), "\(status.output)")
        let verified = try await Tool.run("journal", "verify", "--config", config, "--json")
        #expect(try verified.json()["halfSealed"] != nil, "\(verified.output)")
        #expect(try await Tool.run("journal", "compact", "--config", config).status == 0)
        let mended = try await Tool.run("journal", "verify", "--config", config)
        #expect(mended.status == 0 && mended.output.hasSuffix("It is sound.\n"), "\(mended.output)")
        #expect(try await Tool.run("serve", "--check", "--config", config).status == 0)
    }
}
