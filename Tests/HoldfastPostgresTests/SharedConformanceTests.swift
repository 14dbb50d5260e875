import Foundation
import Holdfast
import HoldfastJournal
import HoldfastPostgres
import HoldfastTesting
import Scratch
import TestPostgres
import Testing

@Suite(
    "The embedded journal with a blacklist that hosts share", .timeLimit(.minutes(2)),
    .enabled(if: PostgresProgram.isWanted))
struct SharedConformanceTests {
    private struct NotOurs: Error {}

    /// All rules of a blacklist but one: numbers have gaps, since what is removed takes one, too.
    static let rules = JournalConformance.rules.filter { rule in
        rule.name.lowercased().contains("blacklist")
            && !rule.name.hasPrefix("Each addition to the blacklist has the next")
    }

    @Test("It keeps the rules of a blacklist, and another host has the same", arguments: rules)
    func keeps(rule: JournalConformance.Rule) async throws {
        let schema = try OwnSchema()
        let host = try BlacklistHost(schema)
        var options = JournalOptions()
        options.durability = .process
        options.blacklist = host.shared
        let (chosen, directory) = (options, host.folder("test.journal"))
        let conformance = JournalConformance(
            make: { try LMDBJournal(directory: directory, options: chosen) },
            reopen: { journal in
                guard let journal = journal as? LMDBJournal else { throw NotOurs() }
                journal.close()
                return try LMDBJournal(directory: journal.directory, options: chosen)
            })
        try await conformance.check(rule)
        let other = try BlacklistHost(schema)
        #expect(host.caughtUp() && other.caughtUp())
        #expect(try host.entries() == other.entries())
    }
}
