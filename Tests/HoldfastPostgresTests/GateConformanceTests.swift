import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastPQ
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestCopies
import TestPostgres
import Testing

@Suite(
    "The embedded journal with its log in PostgreSQL", .timeLimit(.minutes(5)), .enabled(if: PostgresProgram.isWanted))
struct GateConformanceTests {
    private struct NotOurs: Error {}

    @Test("It keeps the rules of a journal, and the log makes all of it again", arguments: JournalConformance.rules)
    func keeps(rule: JournalConformance.Rule) async throws {
        let folder = try TemporaryFolder()
        let log = try OwnLog()
        var options = JournalOptions()
        options.gate = try log.gate()
        options.durability = .process
        let (chosen, directory) = (options, folder("test.journal"))
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: directory, options: chosen) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory, options: chosen)
            })
        try await conformance.check(rule)
        let rows = try TableRows(directory + "/entries")
        let connection = try log.schema.asService()
        defer { connection.close() }
        #expect(try rebuilt(log, over: connection).differences(from: rows) == [])
        // And so does a checkpoint of it.
        let entries = try Environment.open(directory + "/entries", .readOnly, mapByteCount: nil, tables: 64)
        defer { entries.close() }
        let made = try log.checkpointer().make(of: entries, over: connection)
        #expect(try made.isTrimmed && made.number == log.state().last)
        #expect(try rebuilt(log, over: connection).differences(from: rows) == [])
    }
}
