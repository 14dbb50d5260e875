import HoldfastTesting

@testable import Holdfast

/// A service that answers each request of a bench's first route by itself, 30 ms after it came.
final class DelayedService {
    private struct Request {
        let at: Duration
        let connection: StubConnection
        let entry: StubConnection.Sent
    }

    private static let roundTrip = Duration.milliseconds(30)
    private static let tick = Duration.milliseconds(10)

    let bench: Bench
    /// Nil for what it takes.
    private let refusal: (PushNotification) -> SendResult?
    private var seen: [Int: Int] = [:]
    private var requests: ArraySlice<Request> = []
    private(set) var taken = 0
    private(set) var refused = 0

    init(_ bench: Bench, refusal: @escaping (PushNotification) -> SendResult?) {
        self.bench = bench
        self.refusal = refusal
    }

    /// Time passes, in ticks.
    ///
    /// - Parameter each: done at each tick, with the time since the beginning.
    func run(for duration: Duration, each: (Duration) throws -> Void = { _ in }) rethrows {
        let begin = bench.clock.monotonic
        while bench.clock.monotonic - begin < duration {
            try each(bench.clock.monotonic - begin)
            bench.advance(by: Self.tick)
            answerDue()
        }
    }

    private func answerDue() {
        collect()
        let now = bench.clock.monotonic
        while let request = requests.first, request.at <= now {
            requests.removeFirst()
            if let result = refusal(request.entry.notification) {
                refused += 1
                request.connection.sink(.results([(request.entry.ticket, result)]))
            } else {
                taken += 1
                request.connection.sink(.confirmed([request.entry.ticket]))
            }
            bench.settle()
            collect()
        }
    }

    private func collect() {
        let due = bench.clock.monotonic + Self.roundTrip
        for connection in bench.connections[0] {
            let new = connection.state.withLock { Array($0.sent[seen[connection.number, default: 0]...]) }
            seen[connection.number, default: 0] += new.count
            for entry in new { requests.append(Request(at: due, connection: connection, entry: entry)) }
        }
    }
}
