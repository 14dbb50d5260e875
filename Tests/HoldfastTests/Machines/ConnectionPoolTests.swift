import Testing

@testable import Holdfast

@Suite struct ConnectionPoolTests {
    private func pool(_ limit: Int) -> ConnectionPool {
        ConnectionPool(limit: limit, reconnect: ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8)))
    }

    /// Asks for a connection.
    private func begin(_ pool: inout ConnectionPool, now: Duration, mustWait: Bool = false) {
        let hasBegun = pool.begin(now: now)
        #expect(hasBegun != mustWait)
    }

    @Test("Connections are made one at a time, up to the limit") func oneAtATime() {
        var pool = pool(2)
        #expect(pool.mayBegin(now: .zero))
        begin(&pool, now: .zero)
        #expect(pool.isMaking)
        #expect(!pool.mayBegin(now: .seconds(100)))
        pool.made(1)
        #expect(pool.mayBegin(now: .zero))
        begin(&pool, now: .zero)
        pool.made(2)
        #expect(pool.active == [1, 2])
        #expect(!pool.mayBegin(now: .zero))
    }

    @Test("A limit below one is one") func least() {
        #expect(pool(0).mayBegin(now: .zero))
    }

    @Test("Failures back off, and an answer ends that") func backoff() {
        var pool = pool(1)
        begin(&pool, now: .zero)
        #expect(pool.failed(now: .seconds(10), random: 0.5) == .milliseconds(500))
        #expect(pool.nextAttempt == .milliseconds(10_500))
        #expect(pool.isAway)
        #expect(!pool.mayBegin(now: .milliseconds(10_499)))
        #expect(pool.mayBegin(now: .milliseconds(10_500)))
        begin(&pool, now: .zero)
        #expect(pool.failed(now: .seconds(20), random: 0.5) == .seconds(1))
        begin(&pool, now: .zero)
        pool.made(7)
        #expect(pool.leave(7, hasWorked: true, now: .seconds(30)) { 0.5 })
        #expect(pool.nextAttempt == .seconds(30))
        begin(&pool, now: .zero)
        #expect(pool.failed(now: .seconds(30), random: 0.5) == .milliseconds(500))
    }

    @Test("One that brought an answer ends the backing off, also when it was given up", arguments: [false, true])
    func workEndsBackoff(_ hasWorked: Bool) {
        var pool = pool(1)
        for _ in 0..<3 {
            begin(&pool, now: .zero)
            _ = pool.failed(now: .zero, random: 0.5)
        }
        begin(&pool, now: .seconds(5))
        pool.made(1)
        pool.retire(1, hasWorked: hasWorked, now: .seconds(6))
        #expect(pool.nextAttempt == .seconds(6))
        begin(&pool, now: .seconds(6))
        #expect(pool.failed(now: .seconds(6), random: 0.5) == (hasWorked ? .milliseconds(500) : .seconds(4)))
    }

    @Test("One that brought nothing is followed after a while") func withoutWork() {
        var pool = pool(1)
        begin(&pool, now: .zero)
        pool.made(1)
        #expect(pool.leave(1, hasWorked: false, now: .seconds(5)) { 0.5 })
        #expect(pool.nextAttempt == .milliseconds(5500))
        #expect(!pool.leave(1, hasWorked: true, now: .seconds(6)) { 0.5 })
        #expect(pool.nextAttempt == .milliseconds(5500))
    }

    @Test("Retiring one that has done its work waits for nothing, and shortens no wait") func barrier() {
        var pool = pool(2)
        for number in 1...2 {
            begin(&pool, now: .zero)
            pool.made(number)
        }
        pool.retire(1, hasWorked: true, now: .seconds(5))
        #expect(pool.active == [2])
        #expect(pool.mayBegin(now: .seconds(5)))
        begin(&pool, now: .zero)
        pool.retire(2, hasWorked: true, now: .seconds(6))
        // The one that is being made is the one that is wanted.
        #expect(pool.isMaking)
        let wait = pool.failed(now: .seconds(7), random: 0.9)
        pool.retire(2, hasWorked: true, now: .seconds(7))
        #expect(pool.nextAttempt == .seconds(7) + wait)
    }

    @Test("A wait that is over and wakes nobody is forgotten") func rest() {
        var pool = pool(1)
        begin(&pool, now: .zero)
        _ = pool.failed(now: .zero, random: 0.5)
        pool.rest(now: .zero)
        #expect(pool.nextAttempt != nil)
        pool.rest(now: .milliseconds(500))
        #expect(pool.nextAttempt == nil)
        #expect(!pool.isAway)
    }

    @Test("One that earned it does not count, and its successor waits no longer") func earned() {
        var pool = ConnectionPool(
            limit: 1, reconnect: ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8)),
            budget: RateLimit(perSecond: 0.1, burst: 1))
        for number in 1...20 {
            begin(&pool, now: .zero)
            pool.made(number)
            #expect(pool.leave(number, hasWorked: true, now: .zero) { 0.5 })
            begin(&pool, now: .zero, mustWait: true)
            #expect(!pool.mayBegin(now: .zero))
            pool.earned(now: .zero)
            #expect(pool.mayBegin(now: .zero))
        }
        // No more comes back than the burst.
        pool.earned(now: .zero)
        pool.earned(now: .zero)
        begin(&pool, now: .zero)
        pool.made(21)
        #expect(pool.leave(21, hasWorked: true, now: .zero) { 0.5 })
        begin(&pool, now: .zero, mustWait: true)
    }

    @Test("What earned its making shortens no wait that follows from a failure") func earnedAfterAFailure() {
        var pool = pool(2)
        begin(&pool, now: .zero)
        pool.made(1)
        begin(&pool, now: .zero)
        #expect(pool.failed(now: .zero, random: 0.5) == .milliseconds(500))
        pool.earned(now: .zero)
        #expect(pool.nextAttempt == .milliseconds(500))
    }

    @Test("Over the budget the next one waits, however the one before has ended") func budget() {
        var pool = ConnectionPool(
            limit: 1, reconnect: ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8)),
            budget: RateLimit(perSecond: 0.1, burst: 2))
        for number in 1...2 {
            begin(&pool, now: .seconds(1))
            pool.made(number)
            #expect(pool.leave(number, hasWorked: true, now: .seconds(1)) { 0.5 })
        }
        #expect(pool.mayBegin(now: .seconds(1)))
        begin(&pool, now: .seconds(1), mustWait: true)
        let next = pool.nextAttempt ?? .zero
        #expect(next >= .seconds(11) && next < .seconds(12))
        #expect(!pool.mayBegin(now: .seconds(10)))
        begin(&pool, now: next)
    }

    @Test("An operator's word makes one connection beyond the budget, and no more") func hurriedOverTheBudget() {
        var pool = ConnectionPool(
            limit: 1, reconnect: ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8)),
            budget: RateLimit(perSecond: 0.1, burst: 1))
        begin(&pool, now: .seconds(1))
        pool.made(1)
        #expect(pool.leave(1, hasWorked: true, now: .seconds(1)) { 0.5 })
        begin(&pool, now: .seconds(1), mustWait: true)
        for _ in 0..<2 { pool.hurry(now: .seconds(2)) }
        #expect(pool.mayBegin(now: .seconds(2)))
        begin(&pool, now: .seconds(2))
        pool.made(2)
        #expect(pool.leave(2, hasWorked: true, now: .seconds(2)) { 0.5 })
        begin(&pool, now: .seconds(2), mustWait: true)
    }

    @Test("What was mended is tried at once") func hurry() {
        var pool = pool(1)
        for second in 0..<5 {
            begin(&pool, now: .seconds(second))
            _ = pool.failed(now: .seconds(second), random: 0.9)
        }
        #expect(!pool.mayBegin(now: .seconds(5)))
        pool.hurry(now: .seconds(5))
        #expect(pool.mayBegin(now: .seconds(5)))
        begin(&pool, now: .seconds(5))
        // The backoff begins anew.
        #expect(pool.failed(now: .seconds(5), random: 0.5) == .milliseconds(500))
    }
}

@Suite struct ConnectionScalerTests {
    private func scaler() -> ConnectionScaler { ConnectionScaler(ConnectionScaling()) }

    @Test("One more when more than 200 have waited for ten seconds in one piece") func grows() {
        var scaler = scaler()
        scaler.look(waiting: 201, now: .seconds(100))
        #expect(!scaler.wantsMore(than: 1, now: .seconds(109)))
        #expect(scaler.nextLook(count: 1, limit: 2, now: .seconds(109)) == .seconds(110))
        #expect(scaler.wantsMore(than: 1, now: .seconds(110)))
        scaler.look(waiting: 200, now: .seconds(110))
        #expect(!scaler.wantsMore(than: 1, now: .seconds(110)))
        scaler.look(waiting: 500, now: .seconds(111))
        #expect(!scaler.wantsMore(than: 1, now: .seconds(120)))
        scaler.look(waiting: 500, now: .seconds(121))
        #expect(scaler.wantsMore(than: 1, now: .seconds(121)))
        // The next one after as long again.
        scaler.changed()
        scaler.look(waiting: 500, now: .seconds(122))
        #expect(!scaler.wantsMore(than: 2, now: .seconds(131)))
        #expect(scaler.nextLook(count: 2, limit: 2, now: .seconds(131)) == nil)
    }

    @Test("One fewer when fewer than 50 have waited for five minutes in one piece, but never below the minimum")
    func shrinks() {
        var scaler = scaler()
        scaler.look(waiting: 49, now: .zero)
        #expect(!scaler.wantsFewer(than: 2, now: .seconds(299)))
        #expect(scaler.nextLook(count: 2, limit: 2, now: .seconds(299)) == .seconds(300))
        #expect(scaler.wantsFewer(than: 2, now: .seconds(300)))
        #expect(!scaler.wantsFewer(than: 1, now: .seconds(300)))
        #expect(scaler.nextLook(count: 1, limit: 2, now: .seconds(299)) == nil)
        scaler.look(waiting: 50, now: .seconds(300))
        #expect(!scaler.wantsFewer(than: 2, now: .seconds(300)))
    }

    @Test("Below the minimum there is always one more") func minimum() {
        var scaling = ConnectionScaling()
        scaling.minimum = 3
        let scaler = ConnectionScaler(scaling)
        #expect(scaler.wantsMore(than: 2, now: .zero))
        #expect(!scaler.wantsMore(than: 3, now: .zero))
    }
}
