import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastTesting
import Testing

@testable import HoldfastJournal

/// Tables that older journals lack are made at the opening. One that is there under a damaged name is not one of those.
@Suite("A damaged name of a table", .timeLimit(.minutes(1)))
struct TableNameTests {
    struct Name: CustomTestStringConvertible, Sendable {
        let part: String
        let table: String
        /// Which letter, and which bit of it.
        let letter: Int
        let bit: UInt8

        var testDescription: String { "\(part) \(table), bit \(bit) of letter \(letter)" }

        /// Flips the bit in every page that has the name.
        func damage(_ journal: String) throws {
            try patch(journal + "/\(part)/data.mdb") { bytes in
                // Behind the node's header, whose last field is the key's length.
                let key = Data([UInt8(table.utf8.count), 0]) + Data(table.utf8)
                while let place = bytes.range(of: key) { bytes[place.lowerBound + 2 + letter] ^= 1 << bit }
            }
        }
    }

    static let names: [Name] = [
        ("entries", "quarantine"), ("entries", "aside"), ("entries", "asideOrder"), ("entries", "notes"),
        ("blacklist", "facts"), ("blacklist", "tokens"),
    ].flatMap { part, table in
        // The first letter decides about the order of the names.
        [(0, UInt8(6)), (0, 7), (table.utf8.count - 1, 1)].map { letter, bit in
            Name(part: part, table: table, letter: letter, bit: bit)
        }
    }

    /// A journal at rest with three entries in quarantine and two kept aside beside what the sample has.
    private func made(_ scratch: Scratch) throws -> JournalStatus {
        try SampleJournal(at: scratch.journal)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let uids = try journal.uids(lane)
        let items = uids.prefix(3).map { uid in
            QuarantineOrder.Item(UnreadableEntry(uid: uid, fault: .damaged("a test says so")), isPossiblySent: false)
        }
        let moved = Box<Result<[UID], JournalError>>()
        journal.quarantine(QuarantineOrder(lane: lane, items: Array(items), at: acceptance)) { moved.put($0) }
        #expect(try moved.get().get().count == 3)
        let quiet = uids.suffix(2).map { uid in EntryKey(lane: lane, uid: uid) }
        try journal.settle(SettlementBatch(quieted: quiet, greatestAside: 100))
        return try journal.status()
    }

    @Test("It is refused by name, by the owner and by readers, and nothing is changed", arguments: names)
    func refused(_ name: Name) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let before = try made(scratch)
        #expect(before.quarantined == 3 && before.aside == 2)
        try name.damage(scratch.journal)
        let file = URL(fileURLWithPath: scratch.journal + "/\(name.part)/data.mdb")
        let bytes = try Data(contentsOf: file)
        let owner = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        let reader = #expect(throws: JournalError.self) { _ = try JournalReader(directory: scratch.journal) }
        for error in [owner, reader] {
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("which this Holdfast does not know") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("--journal \(scratch.journal)`") == true, "\(error?.message ?? "")")
        }
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try !JournalVerification.run(directory: scratch.journal).isSound)
        let backup = #expect(throws: JournalError.self) {
            _ = try JournalBackup.run(directory: scratch.journal, destination: scratch.path + "/copy.journal")
        }
        #expect(backup?.code == .damaged)
    }

    @Test("Salvage takes the rows for those of the table that it was", arguments: names)
    func salvaged(_ name: Name) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let before = try made(scratch)
        let sound = try JournalSalvage.run(directory: scratch.journal, destination: scratch.path + "/sound.journal")
        try name.damage(scratch.journal)
        let new = scratch.path + "/new.journal"
        let report = try JournalSalvage.run(directory: scratch.journal, destination: new)
        #expect(report.kept == sound.kept && report.dropped == [:] && report.restored == [:])
        #expect(report.remarks.contains { $0.contains("was taken for \(name.table)") }, "\(report.remarks)")
        let journal = try LMDBJournal(directory: new)
        defer { journal.close() }
        let after = try journal.status()
        #expect(after.quarantined == 3 && after.aside == 2 && after.unconfirmed == before.unconfirmed)
        #expect(after.blacklist == before.blacklist && after.totals == before.totals)
    }

    @Test("Rows of a table that nobody knows are counted, not taken, and not called sound") func unknown() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        _ = try made(scratch)
        try SampleJournal(existing: scratch.journal).put("later", [1], [2])
        #expect(try !JournalVerification.run(directory: scratch.journal).isSound)
        let report = try JournalSalvage.run(directory: scratch.journal, destination: scratch.path + "/new.journal")
        #expect(report.dropped["later"] == 1)
        #expect(report.remarks.contains { $0.contains("\"later\" with 1 rows, which this Holdfast does not know") })
    }

    @Test("Accepted entries that no table has any more are missed by the totals", arguments: ["quarantine", "aside"])
    func lostRows(_ table: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        _ = try made(scratch)
        let sample = try SampleJournal(existing: scratch.journal)
        for row in try sample.rows(table) { try sample.put(table, row.key, nil) }
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("have no outcome yet, and its tables have") == true, "\(error?.message ?? "")")
    }

    @Test("A Producer's record that is older than its entries is refused, and told by a look at all") func oldProducer()
        throws
    {
        let scratch = Scratch()
        defer { scratch.remove() }
        _ = try made(scratch)
        let sample = try SampleJournal(existing: scratch.journal)
        try sample.change("producers", [0, 1]) { bytes in
            var record = try ProducerRecord(bytes)
            record.figures.unconfirmed = 0
            record.figures.totals.accepted = 1
            return record.bytes
        }
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("its Producers have 0 unconfirmed entries") == true, "\(error?.message ?? "")")
        let found = try sample.verify().damage.map(\.what)
        #expect(found.contains { $0.contains("had 1 entries accepted, but") }, "\(found)")
    }
}
