import HoldfastTesting
import Testing

@testable import Holdfast

/// A clock that is set while somebody else than a Consumer looks at it.
@Suite(.timeLimit(.minutes(1))) struct ClockNewsTests {
    private func imported(_ bench: Bench) -> RestoredEntry {
        RestoredEntry(
            lane: bench.lane(), producer: "default", notification: Sample.notification(100),
            acceptedAt: bench.clock.wall, history: EntryHistory(place: .waiting))
    }

    @Test("A submission that sees first that the clock was set leaves the warning to the Consumer") func told()
        async throws
    {
        let bench = try Bench()
        let events = bench.listen()
        bench.settle()
        bench.clock.stepWall(by: .seconds(86_400))
        try bench.submit(1..<2)
        bench.settle()
        let warnings = await bench.events(events).count { if case .clockDistrusted = $0 { true } else { false } }
        #expect(warnings == 1)
    }

    @Test(
        "What an operator imports into a running engine, by a clock that is ahead, does not make the next start believe it"
    )
    func importedAhead() async throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(1..<11)
        bench.settle()
        let before = bench.clock.wall
        bench.clock.stepWall(by: .seconds(4 * 86_400))
        _ = try await EngineDesk(core: bench.core).restore([imported(bench)], note: nil)
        bench.settle()
        let next = try bench.crashed()
        #expect(next.journal.wallTimeAtOpen == before)
        next.advance(by: .seconds(60))
        #expect(next.status.expired == 0)
        next.clock.stepWall(by: .seconds(-4 * 86_400))
        next.advance(by: .seconds(1300))
        #expect(next.status.expired == 0)
        #expect(next.sent.count == 11)
    }
}
