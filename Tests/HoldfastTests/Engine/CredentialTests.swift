import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Lanes that stand still: credentials, parking, an operator's word.
@Suite(.timeLimit(.minutes(1))) struct CredentialTests {
    @Test(
        "TooManyProviderTokenUpdates parks the route: nothing goes for so long, and no entry is harmed",
        arguments: Guarantee.allCases)
    func parks(_ guarantee: Guarantee) throws {
        let bench = try Bench { $0.park = .seconds(1234) }
        try bench.submit(1..<4, guarantee: guarantee)
        bench.settle()
        for number in 1..<4 {
            bench.connection.answer(number, SendResult(apnsStatus: 429, reason: "TooManyProviderTokenUpdates"))
        }
        bench.settle()
        #expect(bench.status.holding == ["default": .parked])
        let parking = try #require(bench.status.parked["default"])
        #expect(parking.reason == .tooManyProviderTokenUpdates)
        #expect(parking.until == bench.clock.wall.advanced(by: .seconds(1234)))
        try bench.submit(4..<6, guarantee: guarantee)
        bench.settle()
        bench.advance(by: .seconds(1233))
        #expect(bench.sent == [1, 2, 3])
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.advance(by: .seconds(2))
        #expect(Set(bench.sent.dropFirst(3)) == [1, 2, 3, 4, 5])
        #expect(bench.status.holding.isEmpty && bench.status.parked.isEmpty)
        #expect(bench.status.possibleDuplicates == 0)
        #expect(bench.turnCount < 200)
    }

    @Test("An operator who resumes a lane of a parked route ends that, and the service's word parks it again")
    func resumeUnparks() async throws {
        let bench = try Bench()
        let parks = SendResult(apnsStatus: 429, reason: "TooManyProviderTokenUpdates")
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.answer(1, parks)
        bench.settle()
        #expect(bench.sent == [1])
        let route = try #require(try await EngineDesk(core: bench.core).status().routes.first)
        let until = Timestamp.format(bench.clock.wall.advanced(by: .seconds(20 * 60)))
        #expect(route.holding?.contains("TooManyProviderTokenUpdates") == true)
        #expect(route.holding?.contains("until \(until)") == true)
        for sent in 2...3 {
            bench.core.resume(bench.lane()) { _ in }
            bench.settle()
            #expect(bench.sent.count == sent)
            #expect(bench.status.parked.isEmpty)
            bench.connection.answer(1, parks)
            bench.settle()
            #expect(bench.status.parked.count == 1)
        }
    }

    @Test("100 at-most-once entries, a 403 stops the lane, kill, restart with a good key: 100 delivered, 0 unknown")
    func stoppedAndKilled() throws {
        let bench = try Bench()
        bench.capacity = 10
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(0..<100, guarantee: .atMostOnce)
        bench.settle()
        #expect(bench.status.lanes.allSatisfy { $0.stoppedBecause != nil })
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.status.confirmed == 100)
        #expect(next.status.unknown == 0)
        #expect(next.sent.sorted() == Array(0..<100))
    }

    @Test("Its twin: kill after the hand-out, and none is sent again, all are unknown") func handedOutAndKilled() throws
    {
        let bench = try Bench()
        try bench.submit(0..<100, guarantee: .atMostOnce)
        bench.settle()
        #expect(bench.sent.count == 100)
        let next = try bench.crashed()
        next.settle()
        #expect(next.sent.isEmpty)
        #expect(next.status.unknown == 100)
    }

    @Test("A kill between mark and hand-out makes at most one batch unknown") func betweenMarkAndWrite() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.capacity = 10
        try bench.submit(0..<100, guarantee: .atMostOnce)
        bench.settle()
        #expect(bench.sent.count == 10)
        let next = try Bench(bench.journal.crashed(mode: .immediate), clock: bench.clock)
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.status.unknown == 10)
        #expect(next.status.confirmed == 90)
    }

    @Test("Without a connection no at-most-once entry is marked") func unconnected() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<100, guarantee: .atMostOnce)
        bench.settle()
        bench.refuseConnection()
        bench.settle()
        #expect(bench.journal.marks[bench.lane(.atMostOnce)] == UID.none)
        #expect(try bench.journal.status().possiblySent == 0)
    }

    @Test("A paused lane hands out nothing, gets its answers, and goes on where it was") func pause() async throws {
        let bench = try Bench()
        let events = bench.listen()
        try bench.submit(1..<3)
        bench.settle()
        bench.core.pause(bench.lane())
        try bench.submit([3, 4].map { Sample.notification($0) } + [Sample.notification(5, guarantee: .atMostOnce)])
        bench.settle()
        // Another lane is not paused.
        #expect(bench.sent == [1, 2, 5])
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(apnsStatus: 503))
        bench.settle()
        bench.advance(by: .seconds(5))
        #expect(bench.status.confirmed == 1)
        #expect(bench.sent.count == 3)
        #expect(bench.status.lanes.first { $0.key == bench.lane() }?.stoppedBecause == "paused")
        bench.core.resume(bench.lane())
        bench.advance(by: .seconds(5))
        #expect(Set(bench.sent.dropFirst(3)) == [2, 3, 4])
        let told = await bench.events(events)
        #expect(told.contains(.lanePaused(bench.lane())))
        #expect(told.contains(.laneResumed(bench.lane())))
    }

    @Test("An expired provider token does not count as an attempt: the second try is confirmed")
    func expiredProviderToken() throws {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.answer(1, SendResult(apnsStatus: 403, reason: "ExpiredProviderToken"))
        bench.settle()
        #expect(bench.sent == [1, 1])
        bench.connection.answer(1, .confirmed)
        bench.settle()
        #expect(bench.status.confirmed == 1)
        #expect(bench.status.deferrals == 0)
    }
}
