import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import Testing

@Suite("The blacklist's storage")
struct BlacklistTests {
    private func entry(_ number: Int, since: Int64 = 1_700_000_000_000) -> BlacklistEntry {
        BlacklistEntry(
            token: sample(number).token, reason: .unregistered, since: WallTime(milliseconds: since),
            learntAt: WallTime(milliseconds: 1_700_000_000_999), route: "default")
    }

    @Test("What is added is found, counted and listed, across reopening, until it is removed")
    func lifeCycle() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        #expect(journal.blacklist.count == 0)
        try journal.blacklist.add([entry(1), entry(2), entry(300)])
        try journal.blacklist.add([entry(2, since: 5)])
        #expect(journal.blacklist.count == 3)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.blacklist.count == 3)
        #expect(try journal.blacklist.entry(for: sample(2).token) == entry(2, since: 5))
        #expect(try journal.blacklist.entry(for: sample(3).token) == nil)
        let listed = try journal.blacklist.list(after: nil, limit: 10)
        #expect(Set(listed) == [entry(1), entry(2, since: 5), entry(300)])
        #expect(listed.map(\.token.hex) == listed.map(\.token.hex).sorted())
        #expect(try journal.blacklist.list(after: listed[0].token, limit: 1) == [listed[1]])
        #expect(try journal.status().blacklist == 3)
        #expect(try journal.blacklist.remove([sample(1).token, sample(9).token]) == 1)
        #expect(journal.blacklist.count == 2)
        #expect(try journal.blacklist.entry(for: sample(1).token) == nil)
    }

    @Test("A batch is looked up as a whole, and only the tokens that are on the list come back")
    func batch() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<500, to: lane)
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 500)
        #expect(try journal.blacklist.entries(for: batch).isEmpty)
        try journal.blacklist.add([entry(7), entry(499), entry(1000)])
        let found = try journal.blacklist.entries(for: batch)
        #expect(found.map(\.index) == [7, 499])
        #expect(found.map(\.entry) == [entry(7), entry(499)])
    }

    @Test("More than one snapshot's worth is listed whole")
    func long() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try journal.blacklist.add((0..<12_000).map { entry($0) })
        #expect(try journal.blacklist.list(after: nil, limit: .max).count == 12_000)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.blacklistEntries(limit: 11_000).count == 11_000)
        #expect(try reader.blacklistEntry(for: sample(11_999).token) == entry(11_999))
        #expect(try reader.status().blacklist == 12_000)
    }

    @Test("An entry that lies under another token's key is damage")
    func misplaced() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        try journal.blacklist.add([entry(1)])
        journal.close()
        let environment = try Environment.open(
            scratch.journal + "/blacklist", .readWrite, mapByteCount: nil, tables: 8)
        do {
            let transaction = try WriteTransaction(environment)
            let tokens = try transaction.table("tokens")
            let value = try transaction.get(sample(1).token.bytes.span, in: tokens) ?? []
            try transaction.put(sample(2).token.bytes.span, value.span, in: tokens)
            try transaction.commit()
        }
        environment.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.blacklistEntry(for: sample(1).token) == entry(1))
        let error = #expect(throws: JournalError.self) { try reader.blacklistEntry(for: sample(2).token) }
        #expect(error?.code == .damaged)
        // No token reaches a message whole.
        #expect(error?.message.contains(sample(2).token.hex) == false)
    }
}
