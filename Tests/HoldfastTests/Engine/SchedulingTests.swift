import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Entries that may go out from a time on, or at hours of the day. The clock begins on 15 January 2027, 08:00 in UTC.
@Suite(.timeLimit(.minutes(1))) struct SchedulingTests {
    private func scheduled(
        _ number: Int, in duration: Duration, _ bench: Bench, guarantee: Guarantee = .atLeastOnce
    ) -> PushNotification {
        var notification = Sample.notification(number, guarantee: guarantee)
        notification.deliverAfter = bench.clock.wall.advanced(by: duration)
        return notification
    }

    private func withHours(
        _ number: Int, _ hours: String, guarantee: Guarantee = .atLeastOnce
    ) throws -> PushNotification {
        var notification = Sample.notification(number, guarantee: guarantee)
        notification.deliveryHours = try DeliveryHours(hours)
        return notification
    }

    @Test(
        "A scheduled entry goes at its time, not before, and nothing counts as an attempt",
        arguments: Guarantee.allCases)
    func atItsTime(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        try bench.submit([
            scheduled(1, in: .seconds(3600), bench, guarantee: guarantee), Sample.notification(2),
            scheduled(3, in: .seconds(-5), bench),
        ])
        bench.settle()
        #expect(bench.sent == [2, 3])
        #expect(bench.status.scheduled == 1)
        #expect(try bench.journal.status().deferred == 0)
        bench.advance(by: .milliseconds(3_599_900))
        #expect(bench.sent == [2, 3])
        bench.advance(by: .milliseconds(100))
        #expect(bench.sent == [2, 3, 1])
        #expect(bench.status.scheduled == 0)
        #expect(bench.status.deferrals == 0)
        #expect(bench.status.possibleDuplicates == 0)
        bench.connection.answer(1, SendResult(apnsStatus: 200))
        bench.settle()
        #expect(try bench.journal.status().totals.confirmed == 1)
    }

    @Test("What is scheduled for hours ahead is not brought back and put off again meanwhile") func hoursAhead() throws
    {
        let bench = try Bench()
        try bench.submit((1..<11).map { scheduled($0, in: .seconds(3 * 3600), bench) })
        bench.settle()
        let turns = bench.turnCount
        // Longer than any backoff: what lies so far ahead is no deferred entry of a clock that was ahead.
        bench.advance(by: .seconds(3 * 3600 - 1))
        #expect(bench.sent.isEmpty)
        #expect(bench.turnCount - turns < 3000)
        bench.advance(by: .seconds(1))
        #expect(bench.sent.sorted() == Array(1..<11))
    }

    @Test("Of two the earlier goes first, whichever was accepted first") func earlierFirst() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(200), bench)])
        bench.settle()
        try bench.submit([scheduled(2, in: .seconds(100), bench)])
        bench.settle()
        bench.advance(by: .seconds(100))
        #expect(bench.sent == [2])
        bench.advance(by: .seconds(100))
        #expect(bench.sent == [2, 1])
    }

    @Test("The default expiration counts from its time") func defaultExpiration() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(40 * 3600), bench)])
        bench.settle()
        bench.advance(by: .seconds(40 * 3600))
        #expect(bench.sent == [1])
        let expiration = try #require(bench.connection.state.withLock { $0.sent.first?.notification.expiration })
        #expect(expiration == .unstated(until: 1_800_000_000 + 64 * 3600))
    }

    @Test("After a crash it still waits, and goes at its time", arguments: Guarantee.allCases)
    func crash(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(240), bench, guarantee: guarantee), Sample.notification(2)])
        bench.settle()
        let next = try bench.crashed()
        next.advance(by: .seconds(239))
        #expect(!next.sent.contains(1))
        next.advance(by: .seconds(1))
        #expect(next.sent.contains(1))
        #expect(next.status.unknown == 0)
    }

    @Test("A clock that is set ahead sends nothing before its time; when it is mended, all goes at its time")
    func clockAhead() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(1800), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(3600))
        bench.turn()
        bench.advance(by: .seconds(500))
        #expect(bench.sent.isEmpty)
        bench.clock.stepWall(by: .seconds(-3600))
        bench.turn()
        bench.advance(by: .seconds(1299))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [1])
    }

    @Test("While the clock is doubted, time goes on, and what comes to its time goes") func doubtedClock() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(300), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(7200))
        bench.turn()
        bench.advance(by: .seconds(299))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [1])
    }

    @Test("A clock that is right after all is believed after ten minutes") func rightAfterAll() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(3600), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(7200))
        bench.turn()
        bench.advance(by: .seconds(599))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(2))
        #expect(bench.sent == [1])
    }

    @Test("A clock that is set back makes it wait until its time by that clock") func clockBack() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(600), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(-3600))
        bench.turn()
        bench.advance(by: .seconds(4199))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [1])
    }

    @Test("An operator takes a scheduled entry back") func withdrawn() async throws {
        let bench = try Bench(InMemoryJournal(mode: .immediate))
        let receipts = try bench.submit([scheduled(1, in: .seconds(600), bench)])
        bench.settle()
        let uid = try #require(receipts[0].uid)
        #expect(try bench.journal.fate(of: uid)?.lane == bench.lane())
        let done = Monitor<Withdrawal?>(nil)
        let lane = try bench.journal.openLane(bench.lane()).id
        bench.consumer.post { inbox in
            inbox.withdrawals.append(
                WithdrawalOrder(lane: lane, uids: [uid]) { result in
                    done.withLock { $0 = try? result.get() }
                })
        }
        bench.settle()
        #expect(done.withLock { $0 }?.withdrawn == 1)
        #expect(bench.journal.scheduledCount == 0)
        bench.advance(by: .seconds(1000))
        #expect(bench.sent.isEmpty)
    }

    @Test("Outside of its hours an entry is scheduled for when they begin") func outsideOfHours() throws {
        let bench = try Bench()
        try bench.submit([try withHours(1, "09:00-18:00 UTC"), try withHours(2, "07:00-18:00 UTC")])
        bench.settle()
        #expect(bench.sent == [2])
        #expect(bench.status.scheduled == 1)
        bench.advance(by: .seconds(3599))
        #expect(bench.sent == [2])
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [2, 1])
    }

    @Test(
        "An entry whose hours are over when it is its turn waits for the next ones, and nothing counts as an attempt",
        arguments: Guarantee.allCases)
    func hoursAreOver(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit([try withHours(1, "07:00-09:00 UTC", guarantee: guarantee)])
        bench.settle()
        bench.advance(by: .seconds(3600))
        bench.accepts = true
        bench.settle()
        bench.advance(by: .seconds(60))
        #expect(bench.sent.isEmpty)
        #expect(bench.status.scheduled == 1)
        #expect(bench.status.deferrals == 0)
        bench.advance(by: .seconds(22 * 3600 - 61))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.sent == [1])
        #expect(bench.status.unknown == 0)
    }

    @Test("An entry that expires before its hours begin expires then, and is not sent") func expiresBeforeHours() throws
    {
        let bench = try Bench()
        bench.accepts = false
        var notification = try withHours(1, "07:00-09:00 UTC")
        notification.expiration = .at(1_800_000_000 + 7200)
        try bench.submit([notification])
        bench.advance(by: .seconds(3600))
        bench.accepts = true
        bench.settle()
        bench.advance(by: .seconds(3599))
        #expect(bench.status.expired == 0)
        bench.advance(by: .seconds(2))
        #expect(bench.status.expired == 1)
        #expect(bench.sent.isEmpty)
    }

    @Test("A scheduled entry that is answered 503 is deferred as any other") func answeredLater() throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(100), bench)])
        bench.advance(by: .seconds(100))
        bench.connection.answer(1, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.settle()
        #expect(bench.status.scheduled == 0)
        bench.advance(by: .seconds(3600))
        #expect(bench.sent.prefix(2) == [1, 1])
    }

    @Test("Thousands for one second go out at the rate of their route, and none before") func manyAtOnce() throws {
        let bench = try Bench(rate: RateLimit(perSecond: 100))
        bench.answer = { _ in SendResult(apnsStatus: 200) }
        try bench.submit((0..<6000).map { scheduled($0, in: .seconds(60), bench) })
        bench.settle()
        bench.advance(by: .milliseconds(59_999))
        #expect(bench.sent.isEmpty)
        bench.advance(by: .seconds(10))
        #expect((900...1200).contains(bench.sent.count))
        // No more than a window is brought back at a time.
        #expect(try bench.journal.status().scheduled >= 6000 - 1200 - 2000)
        bench.advance(by: .seconds(55))
        #expect(bench.sent.count == 6000)
        #expect(Set(bench.sent).count == 6000)
        // In the order of acceptance, which is that of their UIDs.
        #expect(bench.sent == bench.sent.sorted())
    }

    @Test("Where all that is left is scheduled for later, a route is at rest, and says so") func rest() async throws {
        let bench = try Bench()
        try bench.submit([scheduled(1, in: .seconds(600), bench)])
        bench.settle()
        guard case .stopped(let reason)? = bench.consumer.rest else {
            Issue.record("\(String(describing: bench.consumer.rest))")
            return
        }
        #expect(reason.contains("scheduled") && reason.contains("2027-01-15T08:10:00Z"))
        bench.advance(by: .seconds(545))
        #expect(bench.consumer.rest == nil)
    }

    @Test("A notification that would expire before its time is refused, and says which time") func refused() throws {
        let bench = try Bench()
        var notification = scheduled(1, in: .seconds(600), bench)
        notification.expiration = .at(1_800_000_300)
        guard case .refused(let refusal) = try bench.submit([notification])[0] else {
            Issue.record("it was taken")
            return
        }
        #expect(refusal.reason == .badDeliveryTime)
        #expect(refusal.detail.contains("2027-01-15T08:10:00Z"))
    }
}
