import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Operators") struct OperatorTests {
    private func withdraw(_ bench: Bench, _ uids: [UInt64]) -> Monitor<Withdrawal?> {
        let result = Monitor<Withdrawal?>(nil)
        bench.core.withdraw(uids.map { UID($0) }, from: bench.lane()) { done in
            result.withLock { $0 = try? done.get() }
        }
        bench.settle()
        return result
    }

    // MARK: Lanes

    @Test("A pause is there after a kill, with its reason; resuming is too") func pauseSurvives() throws {
        let bench = try Bench()
        bench.core.pause(bench.lane(), reason: "certificate")
        bench.settle()
        let second = try bench.crashed()
        try second.submit(1..<4)
        second.settle()
        #expect(second.sent == [])
        #expect(second.status.lanes.first { $0.key == bench.lane() }?.stoppedBecause == "paused: certificate")
        second.core.resume(bench.lane())
        second.settle()
        #expect(second.sent == [1, 2, 3])
        let third = try second.crashed()
        third.settle()
        #expect(third.sent == [1, 2, 3])
    }

    @Test("A stop is noted with its reason, and a start tries again") func stopIsNoted() throws {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.answer(1, SendResult(apnsStatus: 403, reason: "Forbidden"))
        bench.settle()
        let noted = try bench.journal.openLane(bench.lane()).state
        guard case .stopped(let reason, since: _) = noted else {
            Issue.record("the journal has the lane as \(noted)")
            return
        }
        #expect(reason.contains("Forbidden"))
        let second = try bench.crashed()
        second.settle()
        #expect(second.sent == [1])
        #expect(try second.journal.openLane(bench.lane()).state == .running)
    }

    @Test("Pausing a lane that the engine does not have says so") func unknownLane() throws {
        let bench = try Bench()
        let failure = Monitor<JournalError?>(nil)
        bench.core.pause(bench.lane(route: "nowhere")) { result in
            if case .failure(let error) = result { failure.withLock { $0 = error } }
        }
        #expect(failure.withLock { $0?.code } == .notFound)
    }

    // MARK: Lanes do not delay each other

    @Test("A one-time code overtakes any number of considerate ones, within a window's time") func overtakes() throws {
        let bench = try Bench { $0.window = 10 }
        try bench.submit(
            (1...500).map { number in
                var notification = Sample.notification(number)
                notification.priority = .considerate
                return notification
            })
        bench.settle()
        #expect(bench.sent == Array(1...10))
        try bench.submit([Sample.notification(9999)])
        bench.settle()
        // The first free places bring its mark's commit, the next ones are its.
        for number in 1...4 {
            bench.connection.answer(number, .confirmed)
            bench.settle()
        }
        #expect(bench.sent.firstIndex(of: 9999).map { $0 < 20 } == true)
    }

    @Test("A stopped lane does not hold up its neighbours") func stoppedNeighbour() throws {
        let bench = try Bench { $0.window = 10 }
        bench.core.pause(bench.lane())
        bench.settle()
        try bench.submit(1..<100)
        var considerate = Sample.notification(500)
        considerate.priority = .considerate
        try bench.submit([considerate])
        bench.settle()
        #expect(bench.sent == [500])
    }

    // MARK: Withdrawals

    @Test("What was never sent is withdrawn, and never goes out") func withdrawn() throws {
        let bench = try Bench { $0.window = 2 }
        try bench.submit(1..<6)
        bench.settle()
        let result = withdraw(bench, [3, 4, 77])
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 2, unknown: 0, gone: 1))
        bench.answer = { _ in .confirmed }
        for number in [1, 2] { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect(bench.sent == [1, 2, 5])
        #expect(bench.status.withdrawn == 2)
        #expect(try bench.journal.status().totals.withdrawn == 2)
    }

    @Test("What is in flight becomes unknown; its answer, if it comes, counts for nothing and frees its place")
    func inFlight() throws {
        let bench = try Bench { $0.window = 2 }
        try bench.submit(1..<4)
        bench.settle()
        let result = withdraw(bench, [1])
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 1, gone: 0))
        #expect(bench.sent == [1, 2])
        bench.connection.answer(1, .confirmed)
        bench.settle()
        #expect(bench.sent == [1, 2, 3])
        #expect((bench.status.confirmed, bench.status.unknown) == (0, 1))
        #expect(try bench.journal.status().totals.unknown == 1)
        // Its outcome says that it was taken back, and when it was sent.
        let outcome = try bench.journal.outcomes(after: .start, limit: 10).outcomes.first { $0.uid == UID(1) }
        #expect(outcome?.terminal == .unknown && outcome?.cause?.reason == .withdrawn && outcome?.cause?.status == nil)
        #expect(outcome?.history.sentAt != nil && outcome?.history.attempts == 1)
        #expect(try bench.journal.rejections(after: .none, limit: 10) == [])
        bench.connection.answer(2, .confirmed)
        bench.connection.answer(3, .confirmed)
        bench.settle()
        #expect(bench.status.inFlight == 0)
    }

    @Test("What is in flight and taken back does not go again when its connection dies") func connectionDies() throws {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        _ = withdraw(bench, [1])
        bench.connection.end(cause: "reset")
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [1, 2, 2])
    }

    @Test("What an earlier process may have sent becomes unknown") func sentBefore() throws {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        let second = try bench.crashed()
        second.core.pause(second.lane())
        second.settle()
        #expect(withdraw(second, [1]).withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 1, gone: 0))
        second.core.resume(second.lane())
        second.settle()
        #expect(second.sent == [2])
    }

    @Test("A deferred one is withdrawn, unless an attempt of it may have arrived") func deferred() throws {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        bench.connection.answer(1, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.connection.answer(2, .unknown("no answer"))
        bench.settle()
        #expect(withdraw(bench, [1, 2]).withLock { $0 } == Withdrawal(withdrawn: 1, unknown: 1, gone: 0))
        bench.advance(by: .seconds(3600))
        #expect(bench.sent == [1, 2])
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("While a withdrawal waits for the disk nothing of it goes out, and a refused one is tried again")
    func withdrawalWaits() throws {
        let bench = try Bench { $0.window = 2 }
        try bench.submit(1..<5)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "full"))
        let result = withdraw(bench, [3])
        #expect(result.withLock { $0 } == nil)
        bench.connection.end(cause: "reset")
        bench.settle()
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(2))
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 1, unknown: 0, gone: 0))
        for number in [1, 2] { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect(!bench.sent.contains(3))
        #expect(bench.sent.contains(4))
    }

    @Test("What is on its way into the deferred is taken back when it is there, and the rest at once")
    func onItsWay() throws {
        let journal = HeldJournal(InMemoryJournal())
        let bench = try Bench(journal.base, through: journal) { $0.window = 3 }
        try bench.submit(1..<6)
        bench.settle()
        #expect(bench.sent == [1, 2, 3])
        journal.holdsSettlement = { $0.defers }
        bench.connection.answer(1, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.connection.answer(2, .unknown("no answer"))
        bench.settle()
        let result = withdraw(bench, [1, 2, 3, 5, 77])
        #expect(result.withLock { $0 } == nil)
        #expect(bench.status.withdrawn == 1 && bench.status.unknown == 1)
        journal.releaseSettlements()
        bench.settle()
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 2, unknown: 2, gone: 1))
        bench.advance(by: .seconds(3600))
        #expect([1, 2, 3].allSatisfy { number in bench.sent.count { $0 == number } == 1 })
        #expect(!bench.sent.contains(5))
    }

    @Test("What is on its way to its end when it is taken back is called gone when it has come there")
    func onItsWayToItsEnd() throws {
        let journal = HeldJournal(InMemoryJournal())
        let bench = try Bench(journal.base, through: journal)
        try bench.submit(1..<3)
        bench.settle()
        journal.holdsSettlement = { !$0.acknowledged.isEmpty }
        bench.connection.answer(1, .confirmed)
        bench.settle()
        let result = withdraw(bench, [1])
        #expect(result.withLock { $0 } == nil)
        journal.releaseSettlements()
        bench.settle()
        #expect(result.withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 0, gone: 1))
        #expect(bench.status.confirmed == 1 && bench.status.withdrawn == 0)
    }

    @Test("What two orders take back is told to both when it is on disk, and counts for the first")
    func twice() throws {
        let journal = HeldJournal(InMemoryJournal())
        let bench = try Bench(journal.base, through: journal)
        bench.core.pause(bench.lane())
        bench.settle()
        try bench.submit(1..<3)
        bench.settle()
        journal.holdsSettlement = { _ in true }
        let (first, second) = (withdraw(bench, [1]), withdraw(bench, [1]))
        #expect(first.withLock { $0 } == nil && second.withLock { $0 } == nil)
        journal.releaseSettlements()
        bench.settle()
        #expect(first.withLock { $0 } == Withdrawal(withdrawn: 1, unknown: 0, gone: 0))
        #expect(second.withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 0, gone: 1))
    }

    @Test("On a connection that answers errors only, what is with it becomes unknown") func cumulative() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(1))])
        try bench.submit(1..<4)
        bench.settle()
        #expect(withdraw(bench, [2]).withLock { $0 } == Withdrawal(withdrawn: 0, unknown: 1, gone: 0))
        bench.advance(by: .seconds(3))
        // What silence has confirmed counts when no late error can recall it any more.
        #expect(try bench.journal.status().totals.confirmed == 0)
        bench.advance(by: .seconds(12 * 60))
        let totals = try bench.journal.status().totals
        #expect((totals.confirmed, totals.unknown) == (2, 1))
    }

    @Test("Whoever asks an engine that has ended is told so") func ended() throws {
        let bench = try Bench()
        bench.core.shutDown()
        bench.settle()
        bench.core.ended()
        let failure = Monitor<JournalError?>(nil)
        bench.core.withdraw([UID(1)], from: bench.lane()) { result in
            if case .failure(let error) = result { failure.withLock { $0 = error } }
        }
        #expect(failure.withLock { $0?.code } == .closed)
    }

    // MARK: The rate

    @Test("A route sends no faster than its rate, the urgent first, and asks for no connection in vain") func rate()
        throws
    {
        let bench = try Bench(rate: RateLimit(perSecond: 10, burst: 2))
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<100)
        bench.settle()
        #expect(bench.sent == [1, 2])
        bench.advance(by: .seconds(3))
        #expect((31...32).contains(bench.sent.count))
        #expect(!bench.isConnectionRequested)
        bench.advance(by: .seconds(10))
        #expect(bench.sent == Array(1..<100))
    }

    @Test("Of several who take the same part of a file beside an engine, one does") func samePartOfAFile() async throws
    {
        let bench = try Bench()
        let journal = bench.journal
        let desk = EngineDesk(core: bench.core)
        let entries = (1..<4).map { number in
            RestoredEntry(
                lane: bench.lane(), producer: "default", notification: Sample.notification(number),
                acceptedAt: bench.clock.wall, history: EntryHistory(place: .waiting))
        }
        let first = RestoreNote(name: "import/1", value: [1], before: nil)
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        return try await desk.restore(entries, note: first).count == 3
                    } catch {
                        return (error as? JournalError)?.code != .inUse
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(taken == 1)
        #expect(try journal.status().unconfirmed == 3)
        #expect(
            try await desk.restore(entries, note: RestoreNote(name: "import/1", value: [2], before: [1])).count == 3)
        // Entries that came by an import are accepted ones.
        #expect(bench.core.status().submitted == 6)
    }

    @Test(
        "Lines that are given with their place are taken once, under their Producer's name, however often they are given"
    )
    func linesOfAFile() async throws {
        let bench = try Bench()
        let desk = EngineDesk(core: bench.core)
        let lines = (1..<4).map { Sample.notification($0) }
        let first = RestoreNote(name: "file/1", value: [1], before: nil)
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        return try await desk.submit(lines, as: "campaign", note: first).count == 3
                    } catch {
                        return (error as? JournalError)?.code != .inUse
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(taken == 1)
        #expect(try bench.journal.note("file/1") == [1] && bench.core.status().submitted == 3)
        #expect(try bench.journal.producers().first { $0.name == "campaign" }?.unconfirmed == 3)
        // A name that is none takes nothing but the note, so that the file goes on behind such lines.
        let refused = try await desk.submit(
            lines, as: String(repeating: "x", count: 65), note: RestoreNote(name: "file/1", value: [2], before: [1]))
        #expect(
            refused.allSatisfy {
                if case .refused(let refusal) = $0 { refusal.reason == .badProducerName } else { false }
            })
        #expect(try bench.journal.note("file/1") == [2] && bench.core.status().submitted == 3)
        // Of a pipe.
        #expect(try await desk.submit(lines, as: nil, note: nil).count == 3)
        #expect(bench.core.status().submitted == 6)
    }

    private func restored(_ notification: PushNotification, _ lane: LaneKey, _ history: EntryHistory) -> RestoredEntry {
        RestoredEntry(
            lane: lane, producer: "default", notification: notification, acceptedAt: ManualClock().wall,
            history: history)
    }

    @Test("One attempt in a lane that sends again is refused, and nothing of its batch is taken") func contradicting()
        async throws
    {
        let bench = try Bench()
        let desk = EngineDesk(core: bench.core)
        var once = Sample.notification(2)
        once.expiration = .once
        for notification in [Sample.notification(1, guarantee: .atMostOnce), once] {
            let entries = [Sample.notification(3), notification].map { restored($0, bench.lane(), EntryHistory()) }
            let error = await #expect(throws: JournalError.self) { try await desk.restore(entries, note: nil) }
            #expect(error?.code == .invalidEntry)
            #expect(error?.message.contains("default/immediate/at-least-once sends again") == true)
        }
        #expect(try bench.journal.status().unconfirmed == 0)
    }

    @Test("What had its one attempt elsewhere is unknown, and never sent", arguments: [false, true])
    func hadItsAttempt(_ isDeferred: Bool) async throws {
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        let place = isDeferred ? EntryHistory.Place.deferred(until: bench.clock.wall) : .waiting
        _ = try await EngineDesk(core: bench.core).restore(
            [
                restored(
                    Sample.notification(1, guarantee: .atMostOnce), bench.lane(.atMostOnce),
                    EntryHistory(place: place, isPossiblySent: true))
            ], note: nil)
        bench.advance(by: .seconds(60))
        #expect(bench.sent.isEmpty)
        #expect(bench.status.unknown == 1)
    }
}
