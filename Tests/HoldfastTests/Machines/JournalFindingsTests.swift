import HoldfastTesting
import Testing

@testable import Holdfast

@Suite struct JournalFindingsTests {
    private let sources = EngineConditions.Sources(
        journal: InMemoryJournal(), pausedTags: Monitor(TagPauses()), clockTrust: ClockTrust(wallTimeAtOpen: nil))
    private var findings = JournalFindings()

    private mutating func kinds(at second: Int) -> [HealthCondition.Kind] {
        let now = Moment(monotonic: .seconds(second), wall: WallTime(seconds: 1_800_000_000 + Int64(second)))
        findings.look(sources, at: now)
        return findings.conditions(now: now.wall).map(\.kind)
    }

    private mutating func expectKinds(_ expected: [HealthCondition.Kind], at second: Int) {
        let found = kinds(at: second)
        #expect(found == expected)
    }

    @Test("A disk that refuses goes on refusing while nobody writes, and is well when a commit has succeeded")
    mutating func silence() {
        _ = findings.refused([.journalFailed: 3], at: .zero)
        expectKinds([.diskRefusing], at: 1)
        expectKinds([.diskRefusing], at: 3600)
        _ = findings.committed()
        expectKinds([], at: 3601)
    }

    @Test("What was written before the last refusal shows nothing") mutating func before() {
        _ = findings.refused([.journalFailed: 1], at: .zero)
        _ = findings.committed()
        _ = findings.refused([.journalFailed: 1], at: .seconds(1))
        expectKinds([.diskRefusing], at: 3600)
    }
}
