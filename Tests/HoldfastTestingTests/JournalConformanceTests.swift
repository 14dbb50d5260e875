import Holdfast
import HoldfastTesting
import Testing

@Suite("The in-memory journal keeps the rules of a journal", .timeLimit(.minutes(1)))
struct JournalConformanceTests {
    private static let conformance = JournalConformance(
        make: { InMemoryJournal() },
        reopen: { journal in
            guard let journal = journal as? InMemoryJournal else { throw NotOurs() }
            return journal.reopened()
        })

    private struct NotOurs: Error {}

    @Test("One rule after the other", arguments: JournalConformance.rules)
    func keeps(rule: JournalConformance.Rule) throws {
        try Self.conformance.check(rule)
    }
}
