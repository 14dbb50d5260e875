import HoldfastTesting
import Testing

@testable import Holdfast

/// Several connections of one route.
@Suite(.timeLimit(.minutes(1))) struct PoolTests {
    @Test("Many that wait for a while bring another connection, up to the limit; few take it away")
    func scales() throws {
        var scaling = ConnectionScaling()
        scaling.growAbove = 20
        let bench = try Bench(modes: [.perNotification], connectionLimit: 3, scaling: scaling)
        bench.capacity = 10
        try bench.submit(1..<101)
        bench.settle()
        #expect(bench.connections[0].map(\.sent.count) == [10])
        bench.advance(by: .seconds(9))
        #expect(bench.connections[0].count == 1)
        bench.advance(by: .seconds(2))
        #expect(bench.connections[0].map(\.sent.count) == [10, 10])
        bench.advance(by: .seconds(11))
        #expect(bench.connections[0].map(\.sent.count) == [10, 10, 10])
        #expect(bench.sent == Array(1..<31))
        bench.advance(by: .seconds(60))
        #expect(bench.connections[0].count == 3)
        #expect(!bench.isConnectionRequested)
        for _ in 0..<40 where bench.status.confirmed < 100 {
            for connection in bench.connections[0] { connection.answerAll() }
            bench.settle()
        }
        #expect(bench.status.confirmed == 100)
        bench.advance(by: .seconds(299))
        #expect(bench.connections[0].allSatisfy { !$0.calls.contains(.close) })
        bench.advance(by: .seconds(2))
        #expect(bench.connections[0].map { $0.calls.contains(.close) } == [false, false, true])
        bench.advance(by: .seconds(301))
        #expect(bench.connections[0].map { $0.calls.contains(.close) } == [false, true, true])
        bench.advance(by: .seconds(3600))
        #expect(bench.connections[0].map { $0.calls.contains(.close) } == [false, true, true])
    }

    @Test("One connection is enough for what it takes") func staysSmall() throws {
        let bench = try Bench(modes: [.perNotification], connectionLimit: 3)
        bench.capacity = 10
        try bench.submit(1..<8)
        bench.settle()
        #expect(bench.connections[0].count == 1)
    }

    @Test("A route that is away stays away, with the reason, while it is tried again, until a connection is there")
    func staysAway() throws {
        let bench = try Bench()
        func state() -> String { bench.status.connections["default"]?.description ?? "" }
        #expect(state() == "idle")
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        #expect(state() == "connecting")
        for reason in ["refused", "timed out"] {
            bench.refuseConnection(ConnectError(.temporary, reason))
            bench.settle()
            #expect(state() == "away: \(reason)")
            while !bench.isConnectionRequested { bench.advance(by: .milliseconds(1)) }
            #expect(state() == "away: \(reason)")
        }
        bench.connect()
        bench.settle()
        #expect(state() == "connected")
    }

    @Test("What one loses goes on another at once, in its place, before anything new") func oneEnds() throws {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        let bench = try Bench(modes: [.perNotification], connectionLimit: 2, scaling: scaling) { $0.window = 100 }
        bench.capacity = 10
        try bench.submit(1..<31)
        bench.settle()
        let (first, second) = (bench.connections[0][0], bench.connections[0][1])
        #expect(first.numbers == Array(1...10))
        #expect(second.numbers == Array(11...20))
        bench.accepts = false
        first.end(possiblySent: [])
        bench.settle()
        for number in 11...20 { second.answer(number, .confirmed) }
        bench.settle()
        #expect(second.numbers == Array(11...20) + Array(1...10))
    }

    @Test("Each connection on which only errors are answered has a window of its own") func windows() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))], connectionLimit: 2) {
            $0.cumulativeWindow = 20
        }
        bench.canWriteBarrier = false
        bench.capacity = 8
        bench.prepare = { connection in connection.state.withLock { $0.isPrompt = false } }
        try bench.submit(1..<101)
        bench.settle()
        // So many have not left.
        #expect(bench.connections[0].map(\.sent.count) == [8, 8])
        for _ in 0..<5 {
            for connection in bench.connections[0] { connection.reportSent() }
            bench.settle()
        }
        #expect(bench.connections[0].map(\.sent.count) == [20, 20])
        // An error on the one says nothing about the other.
        let (first, second) = (bench.connections[0][0], bench.connections[0][1])
        first.fail(at: 5, .refused(SendResult(.rejected(.notification), reason: .payloadEmpty)))
        bench.settle()
        #expect(bench.status.confirmed == 4)
        #expect(bench.status.rejectedTotal == 1)
        #expect(second.sent.count == 20)
        #expect(bench.status.possibleDuplicates == 0)
    }

    @Test("At half a window of its own a connection proves, while the others go on") func barriers() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: nil)], connectionLimit: 2) { $0.cumulativeWindow = 20 }
        bench.capacity = 4
        bench.prepare = { connection in connection.state.withLock { $0.isPrompt = false } }
        try bench.submit(1..<401)
        bench.settle()
        for _ in 0..<400 where bench.status.confirmed < 400 {
            for connection in bench.connections[0] where !connection.hasEnded {
                if connection.barrierCount == 1 { connection.answerBarrier() } else { connection.reportSent() }
            }
            bench.settle()
            #expect(bench.status.inFlight <= 40)
            if bench.status.inFlight == bench.status.unconfirmed { bench.advance(by: .seconds(6)) }
        }
        #expect(bench.status.confirmed == 400)
        #expect(bench.sent.sorted() == Array(1..<401))
        #expect(bench.connections[0].count > 10)
    }

    @Test("A connection that takes no more proves what it has, and then ends; new traffic has gone elsewhere")
    func draining() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(60))])
        try bench.submit(1..<6)
        bench.settle()
        let old = bench.connection
        old.sink(.draining)
        try bench.submit(6..<8)
        bench.advance(by: .milliseconds(10))
        #expect(old.numbers == Array(1...5))
        #expect(bench.connection.numbers == [6, 7])
        #expect(old.calls.last == .barrier)
        old.answerBarrier()
        bench.settle()
        #expect(bench.status.confirmedByBarrier == 5)
    }

    @Test("A connection that takes no more and owes nothing is closed, once") func drainedAlready() throws {
        let bench = try Bench(modes: [.cumulative(quietPeriod: .seconds(5))])
        try bench.submit(1..<6)
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmedByQuiet == 5)
        // For as long as a late error may recall these, it owes a barrier.
        bench.advance(by: .seconds(11 * 60))
        let old = bench.connection
        old.sink(.draining)
        bench.advance(by: .seconds(10))
        #expect(old.barrierCount == 0)
        #expect(old.calls.count { $0 == .close } == 1)
        try bench.submit(6..<8)
        bench.settle()
        #expect(bench.connections[0].count == 2)
        #expect(bench.connection.numbers == [6, 7])
    }
}
