import Foundation
import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// Files whose pages are all sound, and that are not what they should be.
@Suite("What an opening refuses although each page is sound", .timeLimit(.minutes(1)))
struct WholeTests {
    /// A journal with three entries and a token, at rest.
    private func made(_ scratch: Scratch) throws {
        let journal = try LMDBJournal(directory: scratch.journal)
        _ = try journal.append(0..<3, to: try journal.openLane(immediate).id)
        try journal.blacklist.add([SampleJournal.bad(1)])
        journal.close()
    }

    /// The error of an opening, and of a reading, both of which leave the file as it is.
    private func refusals(_ scratch: Scratch) throws -> [JournalError] {
        let file = scratch.journal + "/entries/data.mdb"
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let opened = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        let read = #expect(throws: JournalError.self) { _ = try JournalReader(directory: scratch.journal) }
        return try [#require(opened), #require(read)]
    }

    /// Changes a row with liblmdb, so that pages stay sound.
    private func change(_ table: String, _ key: [UInt8], _ scratch: Scratch, _ body: ([UInt8]) throws -> [UInt8]) throws
    {
        let environment = try Environment.open(
            scratch.journal + "/entries", .readWrite, mapByteCount: 64 << 20, tables: EntriesStore.tableLimit)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        let index = try transaction.table(table)
        let row = try body(try #require(try transaction.get(key.span, in: index)))
        try transaction.put(key.span, row.span, in: index)
        try transaction.commit()
    }

    private func put(_ part: String, inPlaceOf other: String, _ scratch: Scratch) throws {
        let file = scratch.journal + "/\(other)/data.mdb"
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.copyItem(atPath: scratch.journal + "/\(part)/data.mdb", toPath: file)
    }

    @Test("The blacklist's file in the place of the entries' is not taken for a new journal") func otherFile() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        try put("blacklist", inPlaceOf: "entries", scratch)
        for error in try refusals(scratch) {
            #expect(error.code == .damaged)
            #expect(error.message.contains("entries/data.mdb has no tables entries, deferred"), "\(error.message)")
            #expect(error.message.contains("another file was put in its place"))
        }
    }

    @Test("The entries' file in the place of the blacklist's is not taken for an empty blacklist") func otherBlacklist()
        throws
    {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        try put("entries", inPlaceOf: "blacklist", scratch)
        for _ in 0..<2 { for error in try refusals(scratch) { #expect(error.code == .damaged, "\(error)") } }
    }

    @Test("A table whose name is damaged is not made anew", arguments: ["lanes", "facts", "entries", "producers"])
    func lostTable(_ name: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        try patch(scratch.journal + "/entries/data.mdb") { bytes in
            // A table's name, as a key of the main tree: behind the node's header, with the key's length.
            let key = Data([UInt8(name.utf8.count), 0]) + Data(name.utf8)
            while let place = bytes.range(of: key) { bytes[place.upperBound - 1] ^= 2 }
        }
        for error in try refusals(scratch) {
            #expect(error.code == .damaged)
            #expect(error.message.contains("has no table \(name)"), "\(error.message)")
        }
    }

    @Test("Records of lanes that are older than the rows are refused, and nothing is sent by them") func lostWrite()
        throws
    {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        try change("lanes", [0, 0, 0, 1], scratch) { bytes in
            var lane = try LaneRecord(bytes)
            lane.entries -= 1
            return lane.bytes
        }
        let seen = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(seen?.message.contains("lane 1, is damaged: its record says 2 entries, but there are 3") == true)
        // In one that is too large to be looked through.
        var options = LMDBJournal.Options()
        options.pagesCheckedAtOpening = 0
        let error = #expect(throws: JournalError.self) {
            try LMDBJournal(directory: scratch.journal, options: options)
        }
        #expect(error?.code == .damaged)
        let message = error?.message ?? ""
        #expect(message.contains("its lanes have 2 entries that wait, and its table 3"), "\(message)")
    }

    @Test("Facts that are older than the lanes are refused: each new entry would have the number of another")
    func oldFacts() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        try change("facts", EntriesStore.stateKey, scratch) { bytes in
            var facts = try FactsRecord(bytes)
            facts.nextUID -= 1
            return facts.bytes
        }
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .damaged)
        let message = error?.message ?? ""
        #expect(message.contains("its next number is 3, and 3 was given already"), "\(message)")
    }

    @Test("A journal in the making has no tables yet, and is made") func inTheMaking() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try made(scratch)
        for part in ["entries", "blacklist"] {
            try FileManager.default.removeItem(atPath: scratch.journal + "/\(part)/data.mdb")
        }
        _ = FileManager.default.createFile(atPath: scratch.journal + "/incomplete", contents: Data())
        let journal = try LMDBJournal(directory: scratch.journal)
        #expect(try journal.status().unconfirmed == 0)
        journal.close()
    }
}
