import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("The journal's format number")
struct FormatTests {
    private func format(_ scratch: Scratch) throws -> [UInt8]? {
        let environment = try Environment.open(scratch.journal + "/entries", .readWrite, mapByteCount: nil, tables: 32)
        defer { environment.close() }
        let transaction = try WriteTransaction(environment)
        let key = EntriesStore.formatKey
        return try transaction.get(key.span, in: try transaction.table("facts"))
    }

    @Test("A new journal has format 1, so that an older program opens what it understands")
    func new() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        #expect(try format(scratch) == [1, 0, 0, 0])
    }

    @Test("A format that was raised stays so over openings, and the journal is sound")
    func raised() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        try journal.parts.store.raiseFormat()
        try journal.parts.store.raiseFormat()
        journal.close()
        for _ in 1...2 {
            try LMDBJournal(directory: scratch.journal).close()
            #expect(try format(scratch) == [2, 0, 0, 0])
        }
        #expect(try JournalVerification.run(directory: scratch.journal).damage.isEmpty)
    }
}
