import HoldfastTesting
import Testing

@testable import Holdfast

/// Which connection is given what, and which one counts as one too many.
@Suite struct ConnectionUseTests {
    /// Two connections, each with as many streams, and as many places again in its queue.
    private func twoConnections(streams: Int, window: Int) throws -> Bench {
        var scaling = ConnectionScaling()
        scaling.minimum = 2
        let bench = try Bench(InMemoryJournal(mode: .manual), connectionLimit: 2, scaling: scaling) {
            $0.window = window
        }
        bench.capacity = 2 * streams
        bench.prepare = { $0.streamLimit.withLock { $0 = streams } }
        try bench.submit(0..<2)
        bench.advance(by: .seconds(1))
        #expect(bench.connections[0].count == 2)
        // Something was taken on each.
        for numbers in [2..<4, 4..<6] {
            for connection in bench.connections[0] { connection.answerAll() }
            bench.settle()
            try bench.submit(numbers)
            bench.settle()
        }
        for connection in bench.connections[0] { connection.answerAll() }
        bench.settle()
        #expect(bench.connections[0].allSatisfy { !$0.sent.isEmpty })
        return bench
    }

    private func unanswered(_ connection: StubConnection, _ answered: Int) -> Int { connection.sent.count - answered }

    @Test("The streams of all connections are filled before anything waits behind those of one") func streamsFirst()
        throws
    {
        let bench = try twoConnections(streams: 100, window: 200)
        let before = bench.connections[0].map(\.sent.count)
        try bench.submit(10..<1010)
        bench.settle()
        let given = zip(bench.connections[0], before).map { unanswered($0, $1) }
        // A few may wait until more is worth a read.
        #expect(given.allSatisfy { (90...100).contains($0) })
    }

    @Test("What a slow service frees goes to the connection with more streams free") func freedStreams() throws {
        let bench = try twoConnections(streams: 100, window: 200)
        try bench.submit(10..<1010)
        bench.settle()
        // One answers, the other does not.
        let fast = bench.connections[0][1]
        for _ in 0..<3 {
            fast.answerAll()
            bench.settle()
        }
        #expect(bench.connections[0][0].sent.count <= 102)
        #expect(fast.sent.count >= 400)
    }

    @Test("Beyond all streams the queues fill as well, evenly") func queues() throws {
        let bench = try twoConnections(streams: 100, window: 1000)
        let before = bench.connections[0].map(\.sent.count)
        try bench.submit(10..<1010)
        bench.settle()
        let given = zip(bench.connections[0], before).map { unanswered($0, $1) }
        #expect(given == [200, 200])
    }

    @Test("A service that ends each connection after so many requests in an orderly way is followed at once")
    func gracefulEnds() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 500 }
        bench.capacity = 500
        bench.answer = { _ in .confirmed }
        bench.prepare = { connection in connection.goesAway.withLock { $0 = 500 } }
        try bench.submit(0..<15_000)
        bench.advance(by: .seconds(5))
        #expect(bench.status.confirmed == 15_000)
        #expect(bench.connections[0].count >= 30)
    }

    @Test("One that ends each connection after a few is not: that would be a storm") func earlyEnds() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 50 }
        bench.capacity = 50
        bench.answer = { _ in .confirmed }
        bench.prepare = { connection in connection.goesAway.withLock { $0 = 50 } }
        try bench.submit(0..<15_000)
        bench.advance(by: .seconds(5))
        #expect((10...12).contains(bench.connections[0].count))
    }
}
