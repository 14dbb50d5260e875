import Holdfast
import HoldfastJournal
import HoldfastTesting
import Testing

@Suite("The embedded journal keeps the rules of a journal", .timeLimit(.minutes(5)))
struct JournalConformanceTests {
    private struct NotOurs: Error {}

    @Test("One rule after the other", arguments: JournalConformance.rules)
    func keeps(rule: JournalConformance.Rule) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: scratch.journal) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory)
            })
        try await conformance.check(rule)
    }
}
