import HoldfastTesting
import Testing

@testable import Holdfast

/// A notification that ends connections is found where the service takes its time to answer: each connection has answered the
/// first entry, and no more, when it ends.
@Suite(.timeLimit(.minutes(1))) struct SlowConnectionEnderTests {
    /// Runs the service until so many are confirmed. What a connection was given is answered a while later.
    ///
    /// - Parameter answers: how many of the new ones are answered before the connection ends, which was given `all`; nil when it
    ///   answers all and does not end.
    /// - Returns: how many were confirmed on each connection.
    private func run(
        _ bench: Bench, until count: Int, connections limit: Int, answers: (_ all: [Int], _ new: [Int]) -> Int?
    ) -> [Int] {
        var seen: [Int: Int] = [:]
        var confirmed: [Int] = []
        while bench.status.confirmed < count, bench.connections[0].count < limit {
            bench.advance(by: bench.connections[0].last?.hasEnded == true ? .seconds(1) : .milliseconds(10))
            guard !bench.connection.hasEnded else { continue }
            let before = bench.status.confirmed
            let number = bench.connections[0].count
            let connection = bench.connection
            let all = connection.numbers
            let new = Array(all.dropFirst(seen[number, default: 0]))
            seen[number] = all.count
            let answered = answers(all, new)
            let places = all.count - new.count..<all.count
            let tickets = connection.sent[places.prefix(answered ?? new.count)].map(\.ticket)
            if !tickets.isEmpty { connection.sink(.confirmed(tickets)) }
            if answered != nil { connection.end(cause: "reset by peer") }
            bench.settle()
            confirmed += Array(repeating: 0, count: number - confirmed.count)
            confirmed[number - 1] += bench.status.confirmed - before
        }
        return confirmed
    }

    /// The connection ends if it was given poison, when it has answered the first of what came with it.
    private func ends(by poison: Set<Int>) -> ([Int], [Int]) -> Int? {
        { all, new in
            guard !poison.isDisjoint(with: all) else { return nil }
            return new.first.map { poison.contains($0) ? 0 : 1 } ?? 0
        }
    }

    private func bench(log: RecordingLog? = nil) throws -> Bench {
        try Bench(log: log) {
            $0.reconnectInterval = .seconds(10)
            $0.reconnectMaximum = .seconds(60)
        }
    }

    @Test("Three connections make careful, halving finds it, and all others go within twenty connections")
    func one() throws {
        let log = RecordingLog()
        let bench = try bench(log: log)
        try bench.submit(1..<302)
        let confirmed = run(bench, until: 300, connections: 60, answers: ends(by: [194]))
        #expect(bench.status.confirmed == 300)
        #expect(confirmed.count <= 20)
        #expect(confirmed.prefix(3) == [1, 1, 1])
        #expect(log.lines(.careful).map { $0.metadata["count"] } == ["3"])
        // Three windows, and what halving costs.
        #expect(bench.status.possibleDuplicates < 1500)
    }

    @Test("Two that are far apart are both found, and all others go within forty connections") func two() throws {
        let bench = try bench()
        try bench.submit(1..<1001)
        let confirmed = run(bench, until: 998, connections: 100, answers: ends(by: [100, 900]))
        #expect(bench.status.confirmed == 998)
        #expect(confirmed.count <= 40)
    }

    @Test("A service that ends each connection after fifty answers is slowed down little, and nobody is blamed")
    func frugal() throws {
        let bench = try bench()
        try bench.submit(1..<1001)
        let confirmed = run(bench, until: 1000, connections: 100) { all, new in
            all.count > 50 ? max(50 - (all.count - new.count), 0) : nil
        }
        #expect(bench.status.confirmed == 1000)
        #expect(confirmed.count <= 40)
    }
}
