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

    /// The default time to live is a day.
    private func startsLate(by days: Int, holding count: Int, isPaused: Bool = false) throws -> Bench {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        if count > 0 { try bench.submit(1..<(1 + count)) }
        bench.settle()
        if isPaused { for lane in bench.status.lanes.map(\.key) { bench.core.pause(lane, reason: "clock") } }
        bench.settle()
        bench.clock.stepWall(by: .seconds(days * 86_400))
        // So that not all are held in the first turn.
        return try bench.crashed { $0.window = 5 }
    }

    @Test("What looks expired at a start by a clock that is years off is told at once, with when it ends")
    func heldAtStart() throws {
        let next = try startsLate(by: 1825, holding: 20)
        next.advance(by: .seconds(2))
        let condition = try #require(next.status.conditions.first)
        #expect(condition.kind == .clockDistrusted && condition.severity == .warning && condition.affected == 20)
        let end = Timestamp.format(WallTime(seconds: next.clock.wall.advanced(by: .seconds(598)).seconds))
        #expect(condition.what.contains("20 notifications look expired"))
        #expect(condition.what.contains(end), "\(condition.what), not \(end)")
        next.advance(by: .seconds(590))
        #expect(next.status.conditions.map(\.kind) == [.clockDistrusted] && next.status.expired == 0)
        next.advance(by: .seconds(30))
        #expect(next.status.conditions.isEmpty && next.status.expired == 20)
    }

    @Test("What looks expired is told although the service is away") func serviceAway() throws {
        let next = try startsLate(by: 1825, holding: 20)
        next.accepts = false
        next.advance(by: .seconds(2))
        let condition = try #require(next.status.conditions.first { $0.kind == .clockDistrusted })
        #expect(condition.affected == 20 && condition.what.contains(": 20 notifications look expired"))
    }

    @Test("What looks expired in paused lanes is told, and of it what was withdrawn is not") func pausedAtStart() throws
    {
        let next = try startsLate(by: 1825, holding: 20, isPaused: true)
        next.advance(by: .seconds(2))
        #expect(next.status.lanes.count { $0.state.standsStillBecause != nil } == 4)
        #expect(next.status.conditions.contains { $0.what.contains(": 20 notifications look expired") })
        next.core.withdraw((1...15).map { UID($0) }, from: next.lane()) { _ in }
        next.advance(by: .seconds(15))
        #expect(next.status.conditions.contains { $0.what.contains(": 5 notifications look expired") })
    }

    @Test("The first thousand of a lane are looked at, and more are said to be possible") func many() throws {
        let next = try startsLate(by: 1825, holding: 1200)
        next.accepts = false
        next.advance(by: .seconds(2))
        let condition = try #require(next.status.conditions.first { $0.kind == .clockDistrusted })
        #expect(condition.affected == 1000 && condition.what.contains("at least 1000 notifications look expired"))
    }

    @Test("A clock that is set back while the service is away calls nothing expired any more") func mendedAway() throws
    {
        let next = try startsLate(by: 1825, holding: 20)
        next.accepts = false
        next.advance(by: .seconds(2))
        next.clock.stepWall(by: .seconds(-1825 * 86_400))
        next.advance(by: .seconds(2))
        let condition = try #require(next.status.conditions.first { $0.kind == .clockDistrusted })
        #expect(condition.what.contains("set back") && !condition.what.contains("look expired"))
    }

    @Test("When what looked expired was withdrawn, the clock holds up nothing any more, and is no condition")
    func withdrawn() throws {
        let next = try startsLate(by: 1825, holding: 20)
        next.advance(by: .seconds(2))
        #expect(next.status.conditions.first?.affected == 20)
        next.core.withdraw((1...20).map { UID($0) }, from: next.lane()) { _ in }
        next.advance(by: .seconds(2))
        #expect(next.status.conditions.isEmpty)
    }

    @Test("A service that was merely down for long says nothing of its clock") func merelyLate() throws {
        let next = try startsLate(by: 1825, holding: 0)
        next.advance(by: .seconds(5))
        #expect(next.status.conditions.isEmpty)
    }

    @Test("What a doubted clock calls expired waits in a paused lane also when the clock is believed") func pausedLane()
        throws
    {
        let next = try startsLate(by: 1825, holding: 20)
        next.advance(by: .seconds(2))
        for lane in next.status.lanes.map(\.key) { next.core.pause(lane, reason: "clock") }
        next.advance(by: .seconds(3600))
        #expect(next.status.expired == 0)
        #expect(next.journal.entries.count == 20)
        for lane in next.status.lanes.map(\.key) { next.core.resume(lane) }
        next.advance(by: .seconds(5))
        #expect(next.status.expired == 20)
    }
}
