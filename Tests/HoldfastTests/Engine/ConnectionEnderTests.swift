import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A notification that ends every connection that it goes out on holds up nobody but itself.
@Suite(.timeLimit(.minutes(5))) struct ConnectionEnderTests {
    /// How the service ends a connection.
    enum Form: CaseIterable {
        /// It aborts when it sees the notification; what it has answered by then is lost.
        case aborts
        /// GOAWAY with a last stream below it.
        case goesAway
        /// It refuses the notification alone, and asks for another connection.
        case asksForAnother
    }

    private static let another = SendResult(apnsStatus: 503, reason: "Shutdown")

    /// A service to which these numbers are poison.
    private func poison(_ bench: Bench, _ numbers: Set<Int>, _ form: Form = .aborts) {
        bench.prepare = { connection in
            let isOver = Monitor(false)
            connection.state.withLock { state in
                state.answer = { [unowned connection] notification in
                    let isPoison = numbers.contains(Sample.number(of: notification))
                    switch form {
                    case .aborts:
                        if isPoison { connection.end(cause: "reset by peer") }
                        return connection.isCumulative ? nil : .confirmed
                    case .goesAway:
                        if isPoison { connection.bidsFarewell.withLock { $0 = true } }
                        if isPoison { isOver.withLock { $0 = true } }
                        return isOver.withLock { $0 } ? SendResult(.neverProcessed(.newConnection)) : .confirmed
                    case .asksForAnother:
                        if isPoison { connection.bidsFarewell.withLock { $0 = true } }
                        return isPoison ? Self.another : .confirmed
                    }
                }
            }
        }
    }

    private func bench(
        _ mode: ConfirmationMode = .perNotification, _ journal: InMemoryJournal = InMemoryJournal(),
        log: RecordingLog? = nil, change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        try Bench(journal, modes: [mode], log: log) {
            $0.reconnectInterval = .zero
            $0.reconnectMaximum = .milliseconds(100)
            change(&$0)
        }
    }

    /// The UIDs of entries of which an attempt was counted.
    private func blamed(_ bench: Bench) -> [UInt64] {
        bench.journal.entries.filter { $0.attempts > 0 }.map(\.uid.rawValue)
    }

    @Test("Where each notification is answered, all but the one that ends connections go", arguments: Form.allCases)
    func answered(_ form: Form) async throws {
        let log = RecordingLog()
        let bench = try bench(log: log)
        let events = bench.listen()
        poison(bench, [40], form)
        try bench.submit(1..<101)
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 99)
        // Whoever comes later shows who is guilty, if nobody did before.
        try bench.submit(101..<103)
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 101)
        #expect(blamed(bench) == [40])
        let told = await bench.events(events).compactMap { event -> UID? in
            if case .endsConnections(_, let uid, let connections, .some) = event, connections > 1 { uid } else { nil }
        }
        #expect(Set(told) == [UID(40)])
        #expect(log.lines(.endsConnections).first?.metadata["uid"] == "40")
        #expect(!log.lines(.careful).isEmpty)
    }

    @Test("Where only errors are answered, all but the one that ends connections go") func cumulative() throws {
        let bench = try bench(.cumulative(quietPeriod: .seconds(1)))
        poison(bench, [40])
        try bench.submit(1..<101)
        bench.advance(by: .seconds(120))
        #expect(bench.status.confirmed == 99)
        #expect(blamed(bench) == [40])
    }

    @Test("Where silence counts for nothing, barriers show who is guilty") func barriers() throws {
        let bench = try bench(.cumulative(quietPeriod: nil)) { $0.barrierIdle = .milliseconds(200) }
        poison(bench, [4])
        let prepare = bench.prepare
        bench.prepare = { connection in
            prepare(connection)
            connection.answersBarriers.withLock { $0 = true }
        }
        try bench.submit(1..<11)
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 9)
    }

    @Test("The service takes few copies of the neighbours", arguments: Form.allCases) func duplicates(_ form: Form)
        throws
    {
        let bench = try bench { $0.reconnectMaximum = .seconds(60) }
        poison(bench, [2], form)
        try bench.submit(1..<1001)
        bench.advance(by: .seconds(3600))
        #expect(bench.status.confirmed == 999)
        // Three whole windows, and what halving costs.
        #expect(bench.status.possibleDuplicates < 4000)
        #expect(bench.connections[0].count < 300)
    }

    @Test("Retry settings bound how often it is tried", arguments: Form.allCases) func bounded(_ form: Form) throws {
        let bench = try bench {
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(1), greatestCount: 4)
        }
        poison(bench, [1], form)
        for number in 1..<60 {
            try bench.submit(number..<number + 1)
            bench.advance(by: .seconds(1))
        }
        #expect(bench.status.confirmed == 58)
        #expect(bench.status.unconfirmed == 0)
        // What may have been taken is not called rejected.
        if form == .aborts {
            #expect(bench.status.unknown == 1)
        } else {
            #expect(bench.journal.rejections.mapValues(\.reason) == [UID(1): .endsConnections])
        }
    }

    @Test("When the service is mended, its next trial is its last") func mended() throws {
        let bench = try bench()
        poison(bench, [1])
        try bench.submit(1..<11)
        bench.advance(by: .seconds(10))
        #expect(bench.status.confirmed == 9)
        poison(bench, [])
        try bench.submit(11..<12)
        bench.advance(by: .seconds(1000))
        #expect(bench.status.confirmed == 11)
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("A trial carries nothing but the accused") func alone() throws {
        let bench = try bench()
        poison(bench, [1])
        for number in 1..<50 {
            try bench.submit(number..<number + 1)
            bench.advance(by: .seconds(5))
        }
        let trials = bench.connections[0].filter { $0.numbers == [1] }
        #expect(trials.count > 5)
        // The first three were ordinary connections.
        #expect(bench.connections[0].filter { $0.numbers.contains(1) }.count <= trials.count + 3)
        #expect(bench.status.confirmed == 48)
    }

    @Test("Two, and twenty in a row, are found all the same", arguments: [[3, 7], Array(5..<25)], Form.allCases)
    func many(_ numbers: [Int], _ form: Form) throws {
        let bench = try bench()
        poison(bench, Set(numbers), form)
        try bench.submit(1..<101)
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 100 - numbers.count)
    }

    @Test("They leave room for what comes back from the deferred, however small the window is", arguments: [1, 2, 3])
    func window(_ window: Int) throws {
        let bench = try bench { $0.window = window }
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "TopicDisallowed") }
        try bench.submit(1..<31)
        bench.settle()
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        poison(bench, [10, 11, 12])
        bench.connection.end(cause: nil)
        bench.advance(by: .seconds(100))
        #expect(bench.status.confirmed == 27)
    }

    @Test("One that waits for its trial does not keep a topic that is set aside from being tried") func topic() throws {
        let bench = try Bench(rate: RateLimit(perSecond: 2, burst: 2)) {
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(1), greatestCount: 1000)
            $0.probes.maximum = .seconds(5)
        }
        let isMended = Monitor(false)
        bench.prepare = { connection in
            connection.state.withLock { state in
                state.answer = { [unowned connection] notification in
                    if Sample.number(of: notification) == 1 { connection.end(cause: "reset by peer") }
                    guard notification.topic == "com.example.other", !isMended.withLock({ $0 }) else {
                        return .confirmed
                    }
                    return SendResult(apnsStatus: 400, reason: "TopicDisallowed")
                }
            }
        }
        var other = Sample.notification(0)
        other.topic = "com.example.other"
        try bench.submit([other])
        try bench.submit(1..<4001)
        // By then a thousand others go before each trial.
        bench.advance(by: .seconds(1150))
        #expect(bench.status.topicsSetAside["default"]?.count == 1)
        isMended.withLock { $0 = true }
        bench.advance(by: .seconds(30))
        #expect(bench.status.topicsSetAside["default"] ?? [] == [])
        #expect(blamed(bench) == [2])
    }

    @Test("Their trials do not use up the connections, however soon they are due again", arguments: Form.allCases)
    func pace(_ form: Form) throws {
        let bench = try bench {
            $0.window = 10
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(1), greatestCount: 1000)
            $0.reconnectInterval = .seconds(10)
            $0.reconnectMaximum = .seconds(60)
        }
        poison(bench, [3, 7], form)
        try bench.submit(1..<501)
        bench.advance(by: .seconds(1800))
        #expect(bench.status.confirmed == 498)
        // They are tried again all the same.
        #expect(bench.connections[0].count { $0.numbers == [3] } > 5)
    }

    /// The numbers that were handed out between trials, of which each is alone on its connection.
    private func betweenTrials(_ bench: Bench, of poison: Set<Int>) -> [[Int]] {
        var gaps: [[Int]] = [[]]
        for connection in bench.connections[0] {
            if connection.numbers.count == 1, poison.contains(connection.numbers[0]) {
                gaps.append([])
            } else {
                gaps[gaps.count - 1] += connection.numbers.filter { !poison.contains($0) }
            }
        }
        return gaps
    }

    @Test("Beside two of them ever more neighbours go between their trials, of each lane its share")
    func neighboursGrow() throws {
        let bench = try bench {
            $0.window = 20
            $0.retry = RetrySchedule(
                minimum: .milliseconds(1), maximum: .milliseconds(1), greatestCount: 100_000)
        }
        poison(bench, [3, 7])
        try bench.submit(1..<3001)
        try bench.submit(3001..<6001, guarantee: .atMostOnce)
        bench.advance(by: .seconds(600))
        #expect(bench.status.confirmed == 5998)
        #expect(bench.status.unknown == 0)
        let gaps = betweenTrials(bench, of: [3, 7])
        let counts = gaps.map(\.count)
        // Twice as many each time, up to a thousand for each of the two.
        let trials = counts.indices.filter { counts[..<$0].reduce(0, +) < 5900 }.count
        #expect((15...50).contains(trials))
        #expect(counts.count { $0 > 900 } >= 2)
        for gap in gaps where gap.count > 500 {
            let second = gap.count { $0 > 3000 }
            #expect((gap.count / 4...gap.count * 3 / 4).contains(second))
        }
    }

    @Test("One whose trials take seconds, since the service stays silent, takes little of the time from any lane")
    func slowTrials() throws {
        let bench = try Bench(rate: RateLimit(perSecond: 100, burst: 100)) {
            $0.reconnectInterval = .zero
            $0.retry = RetrySchedule(
                minimum: .milliseconds(1), maximum: .milliseconds(1), greatestCount: 100_000)
        }
        bench.answer = { Sample.number(of: $0) == 3 ? nil : .confirmed }
        try bench.submit(1..<7001)
        try bench.submit(7001..<14_001, guarantee: .atMostOnce)
        var silentSince: Duration?
        for _ in 0..<1000 {
            bench.advance(by: .milliseconds(100))
            let isSilent = bench.connections[0].last?.numbers.contains(3) == true && !bench.connection.hasEnded
            silentSince = isSilent ? silentSince ?? bench.clock.monotonic : nil
            guard let since = silentSince, bench.clock.monotonic - since >= .seconds(5) else { continue }
            bench.connection.end(cause: "no answer")
        }
        let trials = bench.connections[0].count { $0.numbers == [3] }
        #expect((3...25).contains(trials), "\(trials)")
        let sent = bench.sent
        #expect(sent.count { $0 <= 7000 } > 1500)
        #expect(sent.count { $0 > 7000 } > 1500)
    }

    @Test("Two in one window of a service that answers errors only are found") func twoCumulative() throws {
        let bench = try bench(.cumulative(quietPeriod: .seconds(1)))
        poison(bench, [30, 31, 60])
        try bench.submit(1..<101)
        bench.advance(by: .seconds(300))
        #expect(bench.status.confirmed == 97)
    }

    @Test(
        "Where every connection ends nobody is blamed, no attempt is counted, and the order is kept",
        arguments: [ConfirmationMode.perNotification, .cumulative(quietPeriod: .seconds(1))])
    func dead(_ mode: ConfirmationMode) async throws {
        let bench = try bench(mode)
        let events = bench.listen()
        poison(bench, Set(1..<51))
        try bench.submit(1..<51)
        bench.advance(by: .seconds(2))
        #expect(bench.connections[0].count > 20)
        #expect(bench.journal.entries.map(\.attempts) == Array(repeating: 0, count: 50))
        let before = bench.connections[0].count
        poison(bench, [])
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 50)
        #expect(bench.journal.rejections.isEmpty)
        let told = await bench.events(events).contains { if case .endsConnections = $0 { true } else { false } }
        #expect(!told)
        // Those that were tried before others are out of their places, and no others.
        let after = bench.connections[0][before...].flatMap(\.numbers)
        let firsts = after.enumerated().filter { after.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        let moved = zip(firsts, firsts.dropFirst()).count { $0 > $1 }
        #expect(moved <= 1)
    }

    @Test("One that is alone is tried again as connections are, and not blamed") func lonely() throws {
        let bench = try bench { $0.reconnectMaximum = .seconds(60) }
        poison(bench, [1])
        try bench.submit(1..<2)
        bench.advance(by: .seconds(3600))
        #expect(bench.journal.entries.map(\.attempts) == [0])
        #expect(bench.sent.count < 500)
        try bench.submit(2..<4)
        bench.advance(by: .seconds(200))
        #expect(bench.status.confirmed == 2)
        #expect(blamed(bench) == [1])
    }

    @Test(
        "With one attempt, what never left is put aside, and what may have been taken is unknown",
        arguments: Form.allCases)
    func oneAttempt(_ form: Form) throws {
        let bench = try bench {
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .seconds(1), greatestCount: 4)
        }
        poison(bench, [3], form)
        try bench.submit(1..<7, guarantee: .atMostOnce)
        for number in 10..<50 {
            try bench.submit(number..<number + 1, guarantee: .atMostOnce)
            bench.advance(by: .seconds(1))
        }
        #expect(bench.status.unconfirmed == 0)
        var copies: [Int: Int] = [:]
        for number in bench.sent { copies[number, default: 0] += 1 }
        if form == .aborts {
            // Each went once: those that shared its connection as well.
            #expect(copies.values.allSatisfy { $0 == 1 })
            #expect(bench.status.unknown > 0)
        } else {
            #expect(bench.status.unknown == 0)
            #expect(bench.journal.rejections.mapValues(\.reason) == [UID(3): .endsConnections])
        }
    }

    @Test("One that ends connections before what is due has come back from the disk does not hold it up")
    func beforeTheDisk() throws {
        let bench = try bench()
        try bench.submit(2..<10, guarantee: .atMostOnce)
        bench.settle()
        // Of those that it was given it has processed none.
        bench.accepts = false
        bench.connection.goAway(leaving: bench.connection.sent)
        bench.settle()
        poison(bench, [1])
        try bench.submit(1..<2)
        bench.accepts = true
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 8)
    }

    @Test(
        "One with one attempt that waits for a connection, while nothing else goes, is not written to disk all the while"
    )
    func pauses() throws {
        let bench = try bench {
            $0.retry = RetrySchedule(minimum: .milliseconds(20), maximum: .seconds(60), greatestCount: 1000)
            ($0.reconnectInterval, $0.reconnectBurst) = (.seconds(60), 3)
        }
        poison(bench, [1], .asksForAnother)
        try bench.submit(1..<2, guarantee: .atMostOnce)
        for number in 2..<62 {
            try bench.submit(number..<number + 1)
            bench.advance(by: .seconds(10))
        }
        #expect(bench.status.confirmed == 60)
        let (turns, trials) = (bench.turnCount, bench.connections[0].count { $0.numbers == [1] })
        bench.advance(by: .seconds(600))
        #expect(bench.turnCount < turns + 2000)
        // It has its trials all the same.
        #expect(bench.connections[0].count { $0.numbers == [1] } > trials + 2)
    }

    @Test("A service that says GOAWAY after so many is trusted") func graceful() throws {
        let log = RecordingLog()
        let bench = try bench(log: log)
        bench.prepare = { connection in
            connection.state.withLock { $0.answer = { _ in .confirmed } }
            connection.goesAway.withLock { $0 = 50 }
        }
        for start in 0..<40 {
            try bench.submit(start * 50 + 1..<start * 50 + 51)
            bench.advance(by: .seconds(1))
        }
        #expect(bench.status.confirmed == 2000)
        #expect(log.lines(.careful).isEmpty)
    }
}
