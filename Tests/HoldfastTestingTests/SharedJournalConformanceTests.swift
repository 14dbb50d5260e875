import Holdfast
import HoldfastTesting
import Testing

/// A journal in memory that hosts take from each other.
private final class SharedMemory: SharedJournal {
    private let hosts = Monitor<[Int: InMemoryJournal]>([:])
    private let latest = Monitor<InMemoryJournal?>(nil)

    func take(by host: Int) -> any Journal {
        let next = latest.withLock { latest in
            let next = latest?.takenOver() ?? InMemoryJournal()
            latest = next
            return next
        }
        hosts.withLock { $0[host] = next }
        return next
    }

    func leave(by host: Int) { hosts.withLock { $0.removeValue(forKey: host) }?.close() }

    func cut(_ host: Int, arrives: Bool) {
        hosts.withLock { $0[host] }?.breakNextCommit(leaving: arrives ? .all : .nothing)
    }

    func mend(_ host: Int) {}

    func now() -> Duration { .seconds(1) }
}

@Suite("The in-memory journal keeps the rules of takeovers", .timeLimit(.minutes(1)))
struct SharedJournalConformanceTests {
    @Test("One rule after the other", arguments: SharedJournalConformance.rules)
    func keeps(rule: SharedJournalConformance.Rule) async throws {
        try await SharedJournalConformance(make: { SharedMemory() }, patience: .seconds(1)).check(rule)
    }

    @Test("Names of rules are told apart") func names() {
        #expect(Set(SharedJournalConformance.rules.map(\.name)).count == SharedJournalConformance.rules.count)
    }
}
