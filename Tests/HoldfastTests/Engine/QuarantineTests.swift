import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Records that cannot be read are moved aside, and what follows them goes on.
@Suite(.timeLimit(.minutes(1))) struct QuarantineTests {
    private static let checksum = RecordFault.damaged("its checksum is wrong")

    /// `accepted = ended + unconfirmed + quarantined`, for the journal and for its Producers.
    private func checkFigures(_ journal: InMemoryJournal, quarantined: Int) throws {
        let status = try journal.status()
        let totals = status.totals
        let ended = totals.ended
        #expect(status.quarantined == quarantined)
        #expect(totals.accepted == ended + UInt64(status.unconfirmed + quarantined))
        #expect(status.lanes.reduce(0) { $0 + $1.quarantined } == quarantined)
        #expect(try journal.producers().reduce(0) { $0 + $1.unconfirmed } == status.unconfirmed)
    }

    @Test(
        "One unreadable record among a thousand: 999 are delivered, it is kept, and a restart sends nothing again",
        arguments: [checksum, .newerVersion(9)])
    func middle(_ fault: RecordFault) async throws {
        let bench = try Bench()
        let events = bench.listen()
        bench.accepts = false
        try bench.submit(0..<1000)
        bench.journal.damage(UID(500), as: fault)
        bench.answer = { _ in .confirmed }
        bench.accepts = true
        bench.settle()
        #expect(bench.core.end(of: 0) == nil)
        #expect(bench.sent.count == 999)
        #expect(bench.status.confirmed == 999)
        #expect(bench.status.unconfirmed == 0)
        #expect(bench.status.quarantined == 1)
        try checkFigures(bench.journal, quarantined: 1)
        let kept = try bench.journal.quarantined(after: .none, limit: 10)
        #expect(kept.map(\.uid) == [UID(500)])
        #expect(kept[0].fault == fault)
        #expect(kept[0].lane == bench.lane())
        #expect(!kept[0].isPossiblySent)
        #expect(try bench.journal.fate(of: UID(500)) == .quarantined(bench.lane(), possiblySent: false))
        let told = await bench.events(events)
        #expect(told.contains(.quarantined(bench.lane(), UID(500), fault)))
        #expect(told.contains(.drained(producer: "default")))

        let next = try bench.crashed()
        next.settle()
        #expect(next.connections[0].isEmpty || next.sent.isEmpty)
        #expect(next.core.end(of: 0) == nil)
        #expect(next.status.quarantined == 1)
    }

    @Test("A record whose checksum holds and whose notification does not parse is moved aside by the route")
    func packed() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<10)
        for uid in [1, 5, 10] { try bench.journal.setPackedByte(of: UID(UInt64(uid)), at: 0, to: 0x7F) }
        bench.answer = { _ in .confirmed }
        bench.accepts = true
        bench.settle()
        #expect(bench.core.end(of: 0) == nil)
        #expect(bench.status.confirmed == 7)
        #expect(try bench.journal.quarantined(after: .none, limit: 10).map(\.uid.rawValue) == [1, 5, 10])
        try checkFigures(bench.journal, quarantined: 3)
    }

    @Test("Unreadable records before, between and behind all others hold nothing up, at most once included")
    func everywhere() throws {
        let bench = try Bench { $0.window = 4 }
        bench.accepts = false
        try bench.submit(0..<20, guarantee: .atMostOnce)
        for uid in [1, 2, 3, 4, 5, 9, 20] { bench.journal.damage(UID(UInt64(uid)), as: Self.checksum) }
        bench.answer = { _ in .confirmed }
        bench.accepts = true
        bench.settle()
        #expect(bench.status.confirmed == 13)
        #expect(bench.status.unconfirmed == 0)
        #expect(bench.status.unknown == 0)
        try checkFigures(bench.journal, quarantined: 7)
    }

    @Test("A deferred entry whose record is damaged is moved aside when it is due, and the others go") func deferred()
        throws
    {
        let bench = try Bench()
        bench.answer = { _ in SendResult(apnsStatus: 500) }
        try bench.submit(0..<5)
        bench.settle()
        #expect(bench.journal.entries.filter { $0.deferredUntil != nil }.count == 5)
        bench.journal.damage(UID(3), as: Self.checksum)
        for connection in bench.connections[0] { connection.state.withLock { $0.answer = { _ in .confirmed } } }
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(3600))
        #expect(bench.status.confirmed == 4)
        #expect(bench.status.quarantined == 1)
        try checkFigures(bench.journal, quarantined: 1)
    }

    @Test("An entry that was requeued and is damaged since is kept as possibly sent") func requeued() throws {
        let bench = try Bench()
        try bench.submit(0..<5)
        bench.settle()
        bench.journal.damage(UID(2), as: Self.checksum)
        bench.answer = { _ in .confirmed }
        bench.connection.end()
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 4)
        #expect(try bench.journal.quarantined(after: .none, limit: 9).map(\.isPossiblySent) == [true])
    }

    @Test(
        "One that is refused and whose record is damaged meanwhile is moved aside, and does not keep its place in the window",
        arguments: ["BadDeviceToken", "TopicDisallowed"])
    func damagedBeforeItsRefusal(_ reason: String) throws {
        let bench = try Bench()
        try bench.submit(0..<5)
        bench.settle()
        bench.journal.damage(UID(2), as: Self.checksum)
        bench.connection.answer(1, SendResult(apnsStatus: 400, reason: reason))
        for number in [0, 2, 3, 4] { bench.connection.answer(number, .confirmed) }
        bench.advance(by: .seconds(60))
        #expect(bench.core.end(of: 0) == nil)
        #expect(bench.status.inFlight == 0)
        #expect(bench.status.confirmed == 4)
        try checkFigures(bench.journal, quarantined: 1)
    }

    @Test("What could not be moved aside because the disk is full is moved when there is room") func fullDisk() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<5)
        bench.journal.damage(UID(1), as: Self.checksum)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "full"))
        bench.accepts = true
        bench.advance(by: .seconds(5))
        #expect(bench.status.quarantined == 0)
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(5))
        #expect(bench.status.quarantined == 1)
        #expect(bench.sent == [1, 2, 3, 4])
        try checkFigures(bench.journal, quarantined: 1)
    }

    @Test("An operator takes a quarantined entry back: it is withdrawn, or unknown where it may have been sent")
    func withdrawn() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<3)
        bench.journal.damage(UID(1), as: Self.checksum)
        bench.accepts = true
        bench.settle()
        // The second is on its way when it is damaged, and comes back.
        bench.journal.damage(UID(2), as: Self.checksum)
        bench.connection.end()
        bench.advance(by: .seconds(5))
        try checkFigures(bench.journal, quarantined: 2)
        let withdrawal = Monitor<Withdrawal?>(nil)
        bench.core.withdraw([UID(1), UID(2)], from: bench.lane()) { result in
            withdrawal.withLock { $0 = try? result.get() }
        }
        bench.settle()
        #expect(withdrawal.withLock { $0 } == Withdrawal(withdrawn: 1, unknown: 1, gone: 0))
        #expect(bench.journal.totals.withdrawn == 1)
        #expect(bench.journal.totals.unknown == 1)
        try checkFigures(bench.journal, quarantined: 0)
    }

    @Test(
        "A quarantined entry that can be read after all goes out; one that may have been sent is a possible duplicate")
    func retried() throws {
        let bench = try Bench()
        try bench.submit(0..<3)
        bench.settle()
        bench.journal.damage(UID(1), as: .newerVersion(2))
        bench.journal.damage(UID(2), as: .newerVersion(2))
        bench.answer = { _ in .confirmed }
        bench.connection.end()
        bench.advance(by: .seconds(5))
        try checkFigures(bench.journal, quarantined: 2)
        bench.journal.damage(UID(1), as: nil)
        let restored = Monitor<[UID]>([])
        bench.journal.retryQuarantined([UID(1), UID(2)], now: bench.clock.wall) { result in
            restored.withLock { $0 = (try? result.get()) ?? [] }
        }
        #expect(restored.withLock { $0 } == [UID(1)])
        let before = bench.status.possibleDuplicates
        for consumer in bench.core.consumers { consumer.post { $0.hasRestored = true } }
        bench.advance(by: .seconds(5))
        #expect(bench.status.possibleDuplicates == before + 1)
        #expect(bench.status.confirmed == 2)
        try checkFigures(bench.journal, quarantined: 1)
    }

    @Test("An at-most-once entry that never left goes out when its record can be read after all, and a crash spares it")
    func retriedAtMostOnce() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(0..<3, guarantee: .atMostOnce)
        bench.journal.damage(UID(1), as: .newerVersion(2))
        bench.answer = { _ in .confirmed }
        bench.accepts = true
        bench.settle()
        #expect(bench.status.quarantined == 1)
        bench.journal.damage(UID(1), as: nil)
        bench.journal.retryQuarantined([UID(1)], now: bench.clock.wall) { _ in }
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(5))
        #expect(next.sent == [0])
        #expect(next.status.confirmed == 1)
        #expect(next.status.unknown == 0)
    }

    // MARK: What cannot be read at all

    @Test("A journal that can't be read further ends the engine, when what is in flight has its answers on disk")
    func givesUp() throws {
        let bench = try Bench { $0.window = 10 }
        try bench.submit(0..<100)
        bench.prepare = { $0.state.withLock { $0.endsWhenClosed = false } }
        bench.settle()
        #expect(bench.sent.count == 10)
        bench.journal.failReads(with: JournalError(.damaged, "a page is damaged"))
        bench.connection.answer(0, .confirmed)
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, .confirmed)
        bench.settle()
        #expect(bench.core.end(of: 0) == nil, "seven wait for their answers")
        #expect(bench.connection.isClosed, "it takes no more")
        for number in 3..<10 { bench.connection.answer(number, .confirmed) }
        bench.connection.end(possiblySent: [], cause: nil)
        bench.settle()
        guard case .failed(let error)? = bench.core.end(of: 0) else {
            Issue.record("expected the engine to end with the failure")
            return
        }
        #expect(error.code == .damaged)
        #expect(bench.journal.totals.confirmed == 10)
        bench.journal.failReads(with: nil)
        let next = try bench.crashed { $0.window = 10 }
        next.settle()
        #expect(next.sent == Array(10..<20), "nothing goes again")
        #expect(next.status.possibleDuplicates == 0)
    }

    @Test("Answers that do not come are waited for no longer than the shutdown's limit") func givesUpInTime() throws {
        let bench = try Bench {
            $0.window = 10
            $0.shutdownLimit = .seconds(3)
        }
        bench.prepare = { $0.state.withLock { $0.endsWhenClosed = false } }
        try bench.submit(0..<100)
        bench.settle()
        bench.journal.failReads(with: JournalError(.damaged, "a page is damaged"))
        bench.connection.answer(0, .confirmed)
        bench.connection.answer(1, .confirmed)
        bench.settle()
        bench.advance(by: .seconds(5))
        guard case .failed(let error)? = bench.core.end(of: 0) else {
            Issue.record("expected the engine to end with the failure")
            return
        }
        #expect(error.code == .damaged)
        #expect(bench.journal.totals.confirmed == 2)
    }
}
