import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("Blacklist entries for a topic and a service, and the format")
struct ScopedBlacklistTests {
    private func entry(_ number: Int, topic: String? = nil, endpoint: String? = nil) -> BlacklistEntry {
        BlacklistEntry(
            token: sample(number).token!, reason: .unregistered, since: WallTime(milliseconds: 1000),
            learntAt: WallTime(milliseconds: 2000), route: "default", topic: topic, endpoint: endpoint)
    }

    private func format(_ scratch: Scratch) throws -> UInt8? {
        let environment = try Environment.open(scratch.journal + "/entries", .readWrite, mapByteCount: nil, tables: 32)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        let key = EntriesStore.formatKey
        return try transaction.get(key.span, in: try transaction.table("facts"))?.first
    }

    @Test("An entry for all leaves the journal to older programs, the first for a topic does not, before it is told")
    func raised() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1), entry(2)])
        journal.close()
        #expect(try format(scratch) == 1)
        journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1, topic: "com.example.app")])
        journal.close()
        #expect(try format(scratch) == 2)
        #expect(try JournalVerification.run(directory: scratch.journal).isSound)
    }

    /// Puts an entry as format 1 wrote it, with its topic.
    private func putOld(_ scratch: Scratch) throws -> DeviceToken {
        try LMDBJournal(directory: scratch.journal).close()
        let token = try DeviceToken("deadbeef")
        let golden: [UInt8] = [
            0xf0, 0xfa, 0xe0, 0xb5, 0xa8, 0x76, 0xb8, 0x1d, 0x48, 0x46, 0x74, 0x6b, 0x02, 0x07, 0x0c, 0x00, 0x00, 0x68,
            0xe5, 0xcf, 0x8b, 0x01, 0x00, 0x00, 0xe7, 0x6b, 0xe5, 0xcf, 0x8b, 0x01, 0x00, 0x00, 0x08, 0x07, 0x06, 0x05,
            0x04, 0x03, 0x02, 0x01, 0x0f, 0x55, 0x6e, 0x72, 0x65, 0x67, 0x69, 0x73, 0x74, 0x65, 0x72, 0x65, 0x64, 0x64,
            0x65, 0x66, 0x61, 0x75, 0x6c, 0x74, 0x63, 0x6f, 0x6d, 0x2e, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0x2e,
            0x61, 0x70, 0x70,
        ]
        let environment = try Environment.open(
            scratch.journal + "/blacklist", .readWrite, mapByteCount: nil, tables: 8)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        try transaction.put(token.bytes.span, golden.span, in: try transaction.table("tokens"))
        try transaction.commit()
        return token
    }

    @Test("An entry of format 1 that names a topic holds for it at every service, and stays beside newer ones")
    func older() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let token = try putOld(scratch)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let old = try #require(try journal.blacklist.entries(for: .device(token)).first)
        #expect(old.scope == BlacklistScope(topic: "com.example.app") && old.reason == .unregistered)
        #expect(old.scope.covers(topic: "com.example.app", endpoint: "anything"))
        let shouted = BlacklistScope(topic: nil, endpoint: "https://API.Example:443")
        #expect(shouted.covers(topic: "a", endpoint: "https://api.example:443"))
        #expect(!shouted.covers(topic: "a", endpoint: "https://api.example:444"))
        #expect(!BlacklistScope(endpoint: "Custom").covers(topic: "a", endpoint: "custom"))
        #expect(!old.scope.covers(topic: "com.example.other", endpoint: "anything"))
        var new = old
        (new.endpoint, new.answered, new.status) = ("https://api.push.apple.com:443", UID(9), 410)
        try journal.blacklist.add([new])
        let found = try journal.blacklist.entries(for: .device(token))
        #expect(found.map(\.endpoint) == [nil, new.endpoint])
        #expect(found.first == old && found.last?.answered == UID(9) && found.last?.status == 410)
    }

    @Test("A token with the most entries that there may be is found whole, over a reopening too")
    func many() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let topics = (0..<TokenEntries.greatestCount).map { String(repeating: "t", count: 200) + "\(1000 + $0)" }
        for topic in topics.shuffled() { try journal.blacklist.add([entry(1, topic: topic, endpoint: "service")]) }
        try journal.blacklist.add([entry(2)])
        for _ in 1...2 {
            #expect(try journal.blacklist.entries(for: sample(1).recipient).map(\.topic) == topics)
            #expect(try journal.blacklist.list(after: nil, limit: 1).count == topics.count)
            journal.close()
            journal = try LMDBJournal(directory: scratch.journal)
        }
        journal.close()
        #expect(try JournalVerification.run(directory: scratch.journal).isSound)
    }

    @Test("One damaged entry of several is reported, and gives way with its row to the next addition")
    func damaged() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1, topic: "a"), entry(1, topic: "b")])
        journal.close()
        let token = sample(1).token!
        do {
            let environment = try Environment.open(
                scratch.journal + "/blacklist", .readWrite, mapByteCount: nil, tables: 8)
            defer { environment.close() }
            let transaction = try WriteTransaction(environment)
            let tokens = try transaction.table("tokens")
            var value = try #require(try transaction.get(token.bytes.span, in: tokens))
            value[value.count - 1] ^= 1
            try transaction.put(token.bytes.span, value.span, in: tokens)
            try transaction.commit()
        }
        #expect(try JournalVerification.run(directory: scratch.journal).damage.map(\.table) == ["tokens"])
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(throws: JournalError.self) { try journal.blacklist.entries(for: .device(token)) }
        try journal.blacklist.add([entry(1, topic: "c")])
        #expect(try journal.blacklist.entries(for: .device(token)).map(\.topic) == ["c"])
    }
}
