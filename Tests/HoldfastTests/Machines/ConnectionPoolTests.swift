import Testing

@testable import Holdfast

@Suite struct ConnectionPoolTests {
    private func pool(_ limit: Int) -> ConnectionPool {
        ConnectionPool(limit: limit, reconnect: ReconnectSchedule(minimum: .seconds(1), maximum: .seconds(8)))
    }

    @Test("Connections are made one at a time, up to the limit") func oneAtATime() {
        var pool = pool(2)
        #expect(pool.mayBegin(now: .zero))
        pool.begin()
        #expect(pool.isMaking)
        #expect(!pool.mayBegin(now: .seconds(100)))
        pool.made(1)
        #expect(pool.mayBegin(now: .zero))
        pool.begin()
        pool.made(2)
        #expect(pool.active == [1, 2])
        #expect(!pool.mayBegin(now: .zero))
    }

    @Test("A limit below one is one") func least() {
        #expect(pool(0).mayBegin(now: .zero))
    }

    @Test("Failures back off, and an answer ends that") func backoff() {
        var pool = pool(1)
        pool.begin()
        #expect(pool.failed(now: .seconds(10), random: 0.5) == .milliseconds(500))
        #expect(pool.nextAttempt == .milliseconds(10_500))
        #expect(pool.isAway)
        #expect(!pool.mayBegin(now: .milliseconds(10_499)))
        #expect(pool.mayBegin(now: .milliseconds(10_500)))
        pool.begin()
        #expect(pool.failed(now: .seconds(20), random: 0.5) == .seconds(1))
        pool.begin()
        pool.made(7)
        #expect(pool.leave(7, hasWorked: true, now: .seconds(30)) { 0.5 })
        #expect(pool.nextAttempt == .seconds(30))
        pool.begin()
        #expect(pool.failed(now: .seconds(30), random: 0.5) == .milliseconds(500))
    }

    @Test("One that brought nothing is followed after a while") func withoutWork() {
        var pool = pool(1)
        pool.begin()
        pool.made(1)
        #expect(pool.leave(1, hasWorked: false, now: .seconds(5)) { 0.5 })
        #expect(pool.nextAttempt == .milliseconds(5500))
        #expect(!pool.leave(1, hasWorked: true, now: .seconds(6)) { 0.5 })
        #expect(pool.nextAttempt == .milliseconds(5500))
    }

    @Test("Leaving for a barrier waits for nothing, and shortens no wait") func barrier() {
        var pool = pool(2)
        for number in 1...2 {
            pool.begin()
            pool.made(number)
        }
        pool.leaveForBarrier(1, now: .seconds(5))
        #expect(pool.active == [2])
        #expect(pool.mayBegin(now: .seconds(5)))
        pool.begin()
        pool.leaveForBarrier(2, now: .seconds(6))
        // The one that is being made is the one that is wanted.
        #expect(pool.isMaking)
        let wait = pool.failed(now: .seconds(7), random: 0.9)
        pool.leaveForBarrier(2, now: .seconds(7))
        #expect(pool.nextAttempt == .seconds(7) + wait)
    }

    @Test("A wait that is over and wakes nobody is forgotten") func rest() {
        var pool = pool(1)
        pool.begin()
        _ = pool.failed(now: .zero, random: 0.5)
        pool.rest(now: .zero)
        #expect(pool.nextAttempt != nil)
        pool.rest(now: .milliseconds(500))
        #expect(pool.nextAttempt == nil)
        #expect(!pool.isAway)
    }
}
