import Foundation
import Holdfast
import HoldfastJournal
import HoldfastTesting
import Scratch
import Testing

@Suite("The blacklist's commands", .serialized)
struct BlacklistCommandTests {
    private let keys: Set = ["token", "reason", "since", "learntAt", "route"]

    @Test("Tokens are added, checked, listed and removed, live and at rest", arguments: [false, true])
    func life(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        let token = OperatorWorld.token(15)
        try await world.using(live: live) {
            let added = try await world.tool("blacklist", "add", token, "<00FF 00>", "--reason", "Gone", "--json")
            #expect(added.status == 0, "\(added.errors)")
            #expect(try added.keys() == ["added", "malformed"] && added.count("added") == 2)
            let piped = try await world.tool("blacklist", "add", "-", "--json", input: "0102\n\nxyz\n0304\n")
            #expect(piped.status == 65 && piped.errors.contains("standard input:3:"), "\(piped.errors)")
            #expect(try piped.count("added") == 2 && piped.count("malformed") == 1)

            let checked = try await world.tool("blacklist", "check", "-", "--json", input: "0102\nffff\n")
            #expect(checked.status == 1)
            #expect(try checked.lines().map { $0["blacklisted"] as? Bool } == [true, false])
            #expect(try checked.keys() == keys.union(["blacklisted"]))
            #expect(try await world.tool("blacklist", "check", "ffff").status == 0)

            let listed = try await world.tool("blacklist", "list", "--reason", "gone", "--json")
            #expect(try listed.lines().count == 2 && listed.keys() == keys)
            #expect(!listed.output.contains(token))
            let revealed = try await world.tool("blacklist", "list", "--reveal", "--since", "1h")
            #expect(revealed.output.contains(token))
            #expect(try await world.tool("blacklist", "list", "--until", "1h", "--json").output.isEmpty)
            let counted = try await world.tool("blacklist", "list", "--count", "--json")
            #expect(try counted.lines().map { $0["count"] as? Int } == [2, 2])

            #expect(try await world.tool("blacklist", "remove", "0102").status == 64)
            let removed = try await world.tool("blacklist", "remove", "0102", "ffff", "--yes", "--json")
            #expect(try removed.keys() == ["matched", "removed", "malformed"] && removed.count("removed") == 1)
            let chosen = try await world.tool("blacklist", "remove", "--reason", "Gone", "--yes", "--json")
            #expect(try chosen.count("removed") == 2)
            #expect(try await world.count("blacklist") == 1)
        }
    }

    @Test(
        "A text with a colon or # that names no kind of address is refused with the kinds, and is no token",
        arguments: ["fcd:abc", "a:b", "fcm:abc", "web:x", "ab#cd", "ab:cd:e", ":ab", "ab:"])
    func noKind(_ text: String) async throws {
        let world = try OperatorWorld()
        try await store([], in: world.journal)
        let added = try await world.tool("blacklist", "add", text)
        #expect(added.status == 64)
        #expect(added.errors.contains("fid, fcm-token, fcm-topic, fcm-condition or web-push"), "\(added.errors)")
        let piped = try await world.tool("blacklist", "add", "-", input: text + "\n")
        #expect(piped.status == 65 && piped.errors.contains("input:1: BadAddress"), "\(piped.errors)")
        let sent = try await world.tool("send", "--token", text, "--alert", "x", "--topic", "t", "--queue-only")
        #expect(sent.status == 64, "\(sent.errors)")
        #expect(try await world.count("blacklist") == 0)
    }

    @Test("Colons between pairs of hex digits are passed over, and a token that is none is told by its place")
    func pastedTokens() async throws {
        let world = try OperatorWorld()
        try await store([], in: world.journal)
        #expect(try await world.tool("blacklist", "add", "aA:bb:0c", "fid:x").status == 0)
        #expect(try await world.tool("blacklist", "check", "aabb0c").status == 1)
        let second = try await world.tool("blacklist", "add", "aa", "zz")
        #expect(second.status == 64 && second.errors.contains("Token 2 of 2"), "\(second.errors)")
        let mixed = try await world.tool("blacklist", "check", "-", "aa33")
        #expect(mixed.status == 64 && mixed.errors.contains("standard input"), "\(mixed.errors)")
        let long = try await world.tool("blacklist", "add", "fid:" + String(repeating: "x", count: 5000))
        #expect(long.errors.contains("1 to 2048 bytes"), "\(long.errors)")
    }

    @Test(
        "Entries for a topic and a service are added, told apart and removed by themselves", arguments: [false, true])
    func scopes(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: live) {
            for scope in [[], ["--topic", "a"], ["--topic", "b"], ["--topic", "a", "--endpoint", "production:2197"]] {
                let arguments = ["blacklist", "add", "0102"] + scope + ["--journal", world.journal]
                let added = try await Tool.start(arguments).result()
                #expect(added.status == 0, "\(added.errors)")
            }
            #expect(try await world.tool("blacklist", "add", "03", "--topic", "a").status == 0)
            let listed = try await world.tool("blacklist", "list", "--json", "--limit", "1")
            let rows = try listed.lines()
            #expect(rows.map { $0["topic"] as? String } == [nil, "a", "a", "b"])
            let production = "https://api.push.apple.com:443"
            #expect(rows.map { $0["endpoint"] as? String } == [nil, nil, production, nil])
            let table = try await world.tool("blacklist", "list", "--endpoint", "production")
            #expect(table.output.contains("ENDPOINT") && table.output.contains(production))

            #expect(try await world.tool("blacklist", "check", "03", "--topic", "a").status == 1)
            #expect(try await world.tool("blacklist", "check", "03", "--topic", "b").status == 0)
            let typo = try await world.tool("blacklist", "check", "03", "--endpoint", "prodution")
            #expect(typo.status == 64 && typo.errors.contains("prodution"))
            #expect(!typo.errors.contains("--endpoint: "), "\(typo.errors)")
            let foreign = try await world.tool("blacklist", "add", "03", "--endpoint", "ftp://x")
            #expect(foreign.status == 64 && foreign.errors.contains("no push service"), "\(foreign.errors)")

            let one = try await world.tool("blacklist", "remove", "0102", "--topic", "b", "--yes", "--json")
            #expect(try one.count("removed") == 1)
            let topic = try await world.tool("blacklist", "remove", "--topic", "a", "--yes", "--json")
            #expect(try topic.count("removed") == 3)
            #expect(try await world.tool("blacklist", "check", "0102").status == 1)
            let rest = try await world.tool("blacklist", "remove", "0102", "--yes", "--json")
            #expect(try rest.count("removed") == 1)
            #expect(try await world.count("blacklist") == 0)
        }
    }

    @Test(
        "Entries that have ended are not listed or exported, but removed; addresses count like tokens",
        arguments: [false, true])
    func ended(live: Bool) async throws {
        let world = try OperatorWorld()
        try await store([], in: world.journal)
        let lines = [
            #"{"token":"fid:old","since":"2020-01-01T00:00:00Z","expiresAt":"2020-02-01T00:00:00Z"}"#,
            #"{"token":"fid:new","since":"2020-01-01T00:00:00Z","expiresAt":"2999-01-01T00:00:00Z"}"#,
            #"{"token":"0102"}"#,
        ]
        try world.folder.write("entries", lines.joined(separator: "\n"))
        let imported = try await world.tool("blacklist", "import", world.folder("entries"))
        #expect(imported.status == 0, "\(imported)")
        for (command, words) in [
            (["verify"], "3 blacklisted recipients"), (["backup", world.folder("copy")], "3 blacklisted recipients"),
            (["compact"], "3 blacklisted recipients"),
        ] {
            let result = try await Tool.start(["journal"] + command + ["--journal", world.journal]).result()
            #expect(result.status == 0 && result.output.contains(words), "\(result)")
        }
        try await world.using(live: live) {
            let listed = try await world.tool("blacklist", "list", "--reveal", "--json")
            #expect(try listed.lines().map { $0["token"] as? String } == ["0102", "fid:new"], "\(listed)")
            #expect(listed.errors.contains("1 entry that has ended"), "\(listed.errors)")
            let counted = try await world.tool("blacklist", "list", "--count", "--json")
            #expect(try counted.lines().reduce(0) { $0 + ($1["count"] as? Int ?? 0) } == 2)
            #expect(try await world.tool("blacklist", "export").output.split(separator: "\n").count == 2)
            #expect(try await world.tool("blacklist", "check", "fid:old").status == 0)
            #expect(try await world.tool("blacklist", "check", "fid:new").status == 1)
            let removed = try await world.tool("blacklist", "remove", "--all", "--yes", "--json")
            #expect(try removed.count("removed") == 3, "\(removed)")
        }
    }

    @Test("Nothing is sent to a token that is put on the blacklist of a journal in use")
    func holds() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: true) {
            let added = try await world.tool("blacklist", "add", OperatorWorld.token(15))
            #expect(added.status == 0, "\(added.errors)")
            let resumed = try await world.tool("lanes", "resume", "--all")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(await waitUntil { world.connector.sent.count == 29 })
        }
        #expect(!world.connector.sent.contains { $0.recipient.text == OperatorWorld.token(15) })
        #expect(try await world.count("unconfirmed") == 0)
    }

    @Test("An entry that has ended is not told as one that holds anything up") func ended() async throws {
        let world = try OperatorWorld()
        let now = EngineClock.system.wall()
        try await store(
            [("gone", -1), ("bad", 60)].map { name, seconds in
                BlacklistEntry(
                    recipient: .service(try ServiceAddress(.firebaseInstallation, name)),
                    reason: Reason(rawValue: "UNREGISTERED"),
                    since: now.advanced(by: .seconds(-120)), learntAt: now, route: "google",
                    expiresAt: now.advanced(by: .seconds(seconds)))
            }, in: world.journal)
        let checked = try await world.tool("blacklist", "check", "fid:gone", "fid:bad", "--json")
        #expect(try checked.lines().map { $0["blacklisted"] as? Bool } == [false, true], "\(checked)")
        #expect(try await world.tool("blacklist", "check", "fid:gone").status == 0)
    }

    @Test("An export is taken in as it was, whatever is in it")
    func lossless() async throws {
        let old = try OperatorWorld()
        let times: [WallTime] = [
            WallTime(milliseconds: 0), WallTime(milliseconds: 1_763_000_000_001), WallTime(milliseconds: -1),
            WallTime(milliseconds: .max), WallTime(milliseconds: .min), WallTime(seconds: 253_402_300_800),
        ]
        let words = ["Unregistered", "", "with \"quotes\" \\ and\nlines", "ümlaut/😀", "null", "\u{1}"]
        let entries = try times.enumerated().map { index, time in
            BlacklistEntry(
                token: try #require(DeviceToken(bytes: [UInt8(index), 0xFF])), reason: Reason(rawValue: words[index]),
                since: time, learntAt: times[5 - index], route: words[5 - index],
                topic: index.isMultiple(of: 2) ? "com.example.app" : nil,
                endpoint: index < 3 ? "https://api.push.apple.com:443" : nil, number: UInt64(index + 1))
        }
        try await store(entries, in: old.journal)
        let exported = try await old.tool("blacklist", "export")
        #expect(exported.status == 0, "\(exported.errors)")
        let file = old.folder("blacklist.ndjson")
        let written = try await old.tool("blacklist", "export", "-o", file)
        #expect(written.status == 0 && written.output.isEmpty, "\(written)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == exported.output)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        #expect(try await old.tool("blacklist", "export", "-o", file).status == 73)
        let new = try OperatorWorld()
        try await store([], in: new.journal)
        let imported = try await new.tool("blacklist", "import", "-", "--json", input: exported.output)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try imported.keys() == ["file", "imported", "malformed"])
        let reader = try JournalReader(directory: new.journal)
        defer { reader.close() }
        #expect(try reader.blacklistEntries(limit: 100) == entries)
    }

    @Test("A bad line of an import is named by its number and what is wrong; the others are taken")
    func malformed() async throws {
        let world = try OperatorWorld()
        try await store([], in: world.journal)
        let lines = [
            #"{"token":"0102"}"#, "nonsense", #"{"reason":"x"}"#, #"{"token":"xyz"}"#,
            #"{"token":"03","since":"yesterday"}"#,
            #"{"token":7}"#, #"{"token":"0304","since":1763000000.25,"status":410}"#,
            #"{"token":"05","more":true}"#, #"{"token":"05","token":"06"}"#, #"{"token":"05","status":1e999}"#,
        ]
        let imported = try await world.tool("blacklist", "import", "-", "--json", input: lines.joined(separator: "\n"))
        #expect(imported.status == 65)
        #expect(try imported.count("imported") == 2 && imported.count("malformed") == 8)
        for (number, word) in [
            (2, "JSON"), (3, "token"), (4, "hex"), (5, "since"), (6, "token"), (8, "unknown key \"more\""),
            (9, "\"token\" comes twice"), (10, "too large"),
        ] {
            #expect(
                imported.errors.split(separator: "\n").contains {
                    $0.contains("input:\(number):") && $0.contains(word)
                },
                "\(number): \(imported.errors)")
        }
        let reader = try JournalReader(directory: world.journal)
        defer { reader.close() }
        let token = try DeviceToken("0304")
        #expect(
            try reader.blacklistEntries(for: .device(token)).first?.since == WallTime(milliseconds: 1_763_000_000_250))
    }

    private func store(_ entries: [BlacklistEntry], in directory: String) async throws {
        let journal = try LMDBJournal(directory: directory)
        defer { journal.close() }
        try await JournalDesk(journal: journal).blacklist(entries)
    }
}
