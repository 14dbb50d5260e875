import Holdfast
import HoldfastTesting
import Testing

@Suite("The in-memory journal keeps the rules of a journal", .timeLimit(.minutes(1)))
struct JournalConformanceTests {
    private struct NotOurs: Error {}

    @Test("One rule after the other", arguments: JournalConformance.rules)
    func keeps(rule: JournalConformance.Rule) async throws {
        let conformance = JournalConformance(
            make: { InMemoryJournal() },
            reopen: { journal in
                guard let journal = journal as? InMemoryJournal else { throw NotOurs() }
                return journal.reopened()
            })
        try await conformance.check(rule)
    }

    /// The beginning of the name of a rule that finds it.
    private static let finders: [FaultyJournal.Fault: String] = [
        .countsGoneAsSettled: "The first durable settlement wins",
        .forgetsThatItMayHaveBeenSent: "An entry that was deferred as possibly sent",
        .forgetsIdentities: "A repeat of what is unconfirmed",
        .losesOutcomes: "Outcomes are kept when that is asked for",
        .promotesTooMany: "Deferred entries come back oldest due first",
        .keepsCeilings: "A mark that was set back stays there",
        .losesNotes: "A note of a submission",
        .answersTwice: "What was acknowledged is gone",
        .neverAnswers: "Trimming deletes rejections",
        .readsTooMuch: "Entries are read forward from a cursor",
        .forgetsTheTime: "The wall time at opening",
        .raisesNoMarks: "A mark rises with each commit",
        .takesTwoObservers: "A second observer is refused until the first has ended, which goes on being told",
        .measuresNothing: "A report says how much its commit was",
        .tellsOfNoDraining: "A Producer whose last unconfirmed entry",
        .defersDeferred: "Only what is not deferred yet",
        .forgetsPauses: "A lane's state is there",
        .retriesTwice: "A retry takes the rejection's place",
        .restoresAsNew: "A restored entry lies where it lay",
    ]

    @Test("A journal with a fault breaks the rule that is about it", arguments: FaultyJournal.Fault.allCases)
    func finds(fault: FaultyJournal.Fault) async throws {
        let conformance = JournalConformance(
            make: { FaultyJournal(fault) },
            reopen: { journal in
                guard let journal = journal as? FaultyJournal else { throw NotOurs() }
                return journal.reopened()
            }, patience: .milliseconds(200))
        let name = try #require(Self.finders[fault])
        let rule = try #require(JournalConformance.rules.first { $0.name.hasPrefix(name) })
        let failure = await #expect(throws: ConformanceFailure.self) { try await conformance.check(rule) }
        #expect(failure?.rule == rule.name)
    }

    @Test("Names of rules are told apart") func names() {
        #expect(Set(JournalConformance.rules.map(\.name)).count == JournalConformance.rules.count)
        let modes = [ConfirmationMode.perNotification, .cumulative(quietPeriod: nil)]
        for rules in modes.map(ConnectorConformance.rules(for:)) {
            #expect(Set(rules.map(\.name)).count == rules.count)
        }
    }
}
