import HoldfastTesting
import Testing

@testable import Holdfast

/// Many notifications that each end the connection they go out on hold up the others no longer than the connections take that
/// may be made.
@Suite(.timeLimit(.minutes(1))) struct ManyConnectionEnderTests {
    enum Form: CaseIterable {
        /// GOAWAY below the notification, and nothing behind it was processed.
        case goesAway
        /// A reset: every entry that went out without an answer may have been taken.
        case aborts
    }

    /// Which notifications have one attempt: none with `allAgain`, otherwise every second one. The rest says which the enders are.
    enum Mix: CaseIterable { case allAgain, endersAgain, endersOnce, endersOfBoth }

    /// A service that takes 100 ms over an answer, and ends each connection on which it sees one of these numbers.
    private final class Service {
        let bench: Bench
        let form: Form
        let enders: Set<Int>
        private let mix: Mix
        private var submittedAt: [Duration] = []
        /// How long each good one has waited, by its number.
        private var waits: [Int: Duration] = [:]

        init(_ form: Form, _ mix: Mix) throws {
            bench = try Bench {
                let standard = EngineConfiguration()
                $0.reconnectMinimum = standard.reconnectMinimum
                $0.reconnectMaximum = standard.reconnectMaximum
            }
            (self.form, self.mix) = (form, mix)
            let first = mix == .endersOnce || mix == .endersOfBoth ? 13 : 14
            enders = Set((0..<10).map { $0 * 30 + first + (mix == .endersOfBoth ? $0 % 2 : 0) })
            bench.prepare = { connection in connection.state.withLock { $0.endsWhenClosed = false } }
        }

        /// Numbers that wait and end nothing.
        var waiting: Int { bench.journal.entries.count { !enders.contains(Int($0.uid.rawValue) - 1) } }

        /// The longest that one has waited which was submitted from then on.
        func longestWait(since start: Duration) -> Duration {
            waits.filter { submittedAt[$0.key] >= start }.values.max() ?? .zero
        }

        /// How often each that is not over went alone on a connection.
        var trials: [Int: Int] {
            let left = Set(bench.journal.entries.map { Int($0.uid.rawValue) - 1 })
            var trials: [Int: Int] = [:]
            for number in enders.intersection(left) {
                trials[number] = bench.connections[0].count { $0.numbers == [number] }
            }
            return trials
        }

        func isRepeated(_ number: Int) -> Bool { mix == .allAgain || number % 2 == 0 }

        func submit() throws {
            let number = submittedAt.count
            submittedAt.append(bench.clock.monotonic)
            try bench.submit([Sample.notification(number, guarantee: isRepeated(number) ? .atLeastOnce : .atMostOnce)])
        }

        func run(for duration: Duration) {
            bench.serve(for: duration, every: .milliseconds(100), answer: answer)
        }

        private func answer(_ connection: StubConnection) {
            let new = connection.takeNew()
            let end = new.firstIndex { enders.contains(Sample.number(of: $0.notification)) }
            let answered = new[..<(end ?? new.endIndex)]
            for number in answered.map({ Sample.number(of: $0.notification) }) where waits[number] == nil {
                waits[number] = bench.clock.monotonic - submittedAt[number]
            }
            if !answered.isEmpty { connection.sink(.confirmed(answered.map(\.ticket))) }
            guard let end else {
                if connection.isClosed { connection.end(possiblySent: [], cause: nil) }
                return
            }
            switch form {
            case .goesAway: connection.goAway(leaving: new[end...])
            case .aborts:
                connection.end(
                    possiblySent: new[end...].map { Sample.number(of: $0.notification) }, cause: "reset by peer")
            }
        }
    }

    /// Ten of the first 300 end their connections; two are submitted each second.
    @Test(
        "Ten of them hold up others while they are looked for, and then hardly at all",
        arguments: Form.allCases, Mix.allCases)
    func ten(_ form: Form, _ mix: Mix) throws {
        let service = try Service(form, mix)
        var greatest = 0
        for second in 0..<600 {
            for _ in 0..<2 {
                try service.submit()
                service.run(for: .milliseconds(500))
            }
            if second >= 400 { greatest = max(greatest, service.waiting) }
        }
        // As many as come while a connection is waited for.
        #expect(greatest <= 20)
        #expect(service.longestWait(since: .seconds(400)) < .seconds(11))
        #expect(service.longestWait(since: .zero) < .seconds(300))
        // Those that are left are tried all the same. What has one attempt is on disk half of the time, when others go first.
        let trials = service.trials
        #expect(trials.isEmpty || trials.values.reduce(0, +) >= 10, "\(trials)")
        #expect(trials.allSatisfy { $0.value >= 1 || !service.isRepeated($0.key) }, "\(trials)")
    }
}
