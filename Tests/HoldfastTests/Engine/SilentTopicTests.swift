import HoldfastTesting
import Testing

@testable import Holdfast

/// A topic that the service leaves unanswered holds up nobody but its own entries.
@Suite(.timeLimit(.minutes(2))) struct SilentTopicTests {
    private static let silent = "com.example.silent"
    private static let answered = "com.example.answered"

    private func service(of bench: Bench) -> SilentService { SilentService(bench) { $0.topic == Self.silent } }

    private func isTold(_ bench: Bench) -> [String] { (bench.status.topicsSetAside["default"] ?? []).map(\.topic) }

    @Test(
        "What comes when a silent topic keeps the only connection goes at once, over another one",
        arguments: [1, 5000, 45_000], [false, true])
    func later(count: Int, announces: Bool) throws {
        let bench = try Bench()
        let service = SilentService(bench, announces: announces) { $0.topic == Self.silent }
        try bench.submit(Sample.notifications(0..<count, of: Self.silent))
        service.run(for: .seconds(33))
        try bench.submit(Sample.notifications(100_000..<100_005, of: Self.answered))
        service.run(for: .seconds(2))
        #expect(service.taken(of: Self.answered) == 5)
        #expect(isTold(bench) == [])
    }

    @Test(
        "What waits behind a silent topic waits for one deadline", arguments: [Guarantee.atLeastOnce, .atMostOnce])
    func behind(_ guarantee: Guarantee) throws {
        let bench = try Bench()
        let service = service(of: bench)
        try bench.submit(Sample.notifications(0..<50, of: Self.silent, guarantee))
        try bench.submit(Sample.notifications(10_000..<10_050, of: Self.answered, guarantee))
        service.run(for: .seconds(33))
        #expect(service.taken(of: Self.answered) == 50)
    }

    @Test(
        "Behind several silent topics all others go within a minute", arguments: [2, 4, 8],
        [Guarantee.atLeastOnce, .atMostOnce])
    func several(topics: Int, guarantee: Guarantee) throws {
        let bench = try Bench()
        let service = SilentService(bench) { $0.topic != Self.answered }
        for number in 0..<20 {
            for topic in 0..<topics {
                let number = 100 * topic + number
                try bench.submit(
                    Sample.notifications(number..<(number + 1), of: "com.example.silent\(topic)", guarantee))
            }
        }
        try bench.submit(Sample.notifications(10_000..<10_050, of: Self.answered, guarantee))
        service.run(for: .seconds(60))
        #expect(service.taken(of: Self.answered) == 50)
        for round in 0..<30 {
            try bench.submit(
                Sample.notifications((20_000 + 10 * round)..<(20_010 + 10 * round), of: Self.answered, guarantee))
            service.run(for: .seconds(10))
        }
        #expect(service.taken(of: Self.answered) >= 340)
        #expect(isTold(bench).count == topics)
        service.isSilent = { _ in false }
        service.run(for: .seconds(400))
        #expect(bench.journal.entries.isEmpty && isTold(bench) == [])
    }

    @Test("A service that was silent and takes all topics but one again, takes them soon", arguments: [1, 3, 6])
    func partlyBack(topics: Int) throws {
        let bench = try Bench()
        let service = SilentService(bench) { _ in true }
        for number in 0..<20 { try bench.submit(Sample.notifications(number..<(number + 1), of: Self.silent)) }
        for topic in 0..<topics {
            for number in 0..<20 {
                let number = 100 + 100 * topic + number
                try bench.submit(Sample.notifications(number..<(number + 1), of: "com.example.other\(topic)"))
            }
        }
        service.run(for: .seconds(300))
        #expect(isTold(bench) == [])
        service.isSilent = { $0.topic == Self.silent }
        service.run(for: .seconds(100))
        #expect(service.taken.count >= 20 * topics - topics - 20)
        service.run(for: .seconds(200))
        #expect(bench.journal.entries.allSatisfy { $0.notification.topic == Self.silent })
    }

    @Test(
        "When a connection ends that works, and the first of the next one gets no answer, others wait for 10 s",
        arguments: [false, true])
    func goAway(announces: Bool) throws {
        let bench = try Bench()
        let service = SilentService(bench, announces: announces) { $0.topic == Self.silent }
        try bench.submit(Sample.notifications(0..<100, of: Self.answered))
        service.run(for: .seconds(5))
        service.endAll()
        service.run(for: .seconds(1))
        try bench.submit(Sample.notifications(1000..<1020, of: Self.silent))
        try bench.submit(Sample.notifications(2000..<2050, of: Self.answered))
        service.run(for: .seconds(12))
        #expect(service.taken(of: Self.answered) == 150)
        #expect(isTold(bench) == [])
    }

    @Test("So they do where the first requests of a route are all of it, and the connection has many streams")
    func firstBurst()
        throws
    {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = service(of: bench)
        bench.prepare = { connection in connection.state.withLock { $0.endsWhenClosed = false } }
        try bench.submit(Sample.notifications(0..<100, of: Self.silent))
        try bench.submit(Sample.notifications(1000..<1050, of: Self.answered))
        service.run(for: .seconds(12))
        #expect(service.taken(of: Self.answered) == 50)
    }

    @Test(
        "A topic whose requests end connections, or are never processed, holds up nobody else for long, and gets no flood",
        arguments: SilentService.Drop.allCases, [false, true])
    func dropped(drop: SilentService.Drop, isWarm: Bool) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        service.drop = { $0.topic == Self.silent ? drop : nil }
        if isWarm { try bench.submit(Sample.notifications(0..<50, of: Self.answered)) }
        service.run(for: .seconds(5))
        try bench.submit(Sample.notifications(100..<130, of: Self.silent))
        var (submitted, longest, sinceWhen) = (isWarm ? 50 : 0, 0, 0)
        for second in 0..<120 {
            try bench.submit(Sample.notifications((10_000 + 5 * second)..<(10_005 + 5 * second), of: Self.answered))
            if second % 5 == 0 {
                try bench.submit(Sample.notifications((200 + second)..<(201 + second), of: Self.silent))
            }
            submitted += 5
            service.run(for: .seconds(1))
            if Set(service.taken.map { Sample.number(of: $0) }).count > submitted - 10 { sinceWhen = second }
            longest = max(longest, second - sinceWhen)
        }
        #expect(longest <= 15)
        #expect(service.dropped < 150 && bench.connections[0].count < 40)
        #expect(isTold(bench) == [Self.silent])
        service.drop = { _ in nil }
        service.run(for: .seconds(150))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("A service that is slow at first is taken for silent once, and not again", arguments: [12, 20])
    func slow(seconds: Int) throws {
        let bench = try Bench()
        let service = SilentService(bench) { _ in false }
        service.delay = { _ in .seconds(seconds) }
        for round in 0..<20 {
            try bench.submit(Sample.notifications((10 * round)..<(10 * round + 5), of: Self.silent))
            try bench.submit(Sample.notifications((10 * round + 5)..<(10 * round + 10), of: Self.answered))
        }
        service.run(for: .seconds(600))
        #expect(service.taken.count == 200 && bench.journal.entries.isEmpty)
        #expect(bench.connections[0].count <= 4 && isTold(bench) == [])
    }

    @Test("Traffic of answered topics goes on as if there were no other") func traffic() throws {
        let bench = try Bench { $0.window = 100 }
        let service = service(of: bench)
        try bench.submit(Sample.notifications(0..<3000, of: Self.silent))
        service.run(for: .seconds(70))
        for round in 0..<20 {
            let first = 10_000 + 10 * round
            try bench.submit(Sample.notifications(first..<(first + 10), of: Self.answered))
            service.run(for: .seconds(10))
            #expect(service.taken(of: Self.answered) >= 10 * round)
        }
        service.run(for: .seconds(5))
        #expect(service.taken(of: Self.answered) == 200)
    }

    @Test("It is told once that the topic is unanswered while others are answered, and that it is answered again")
    func told() async throws {
        let bench = try Bench()
        let events = bench.listen()
        let service = service(of: bench)
        for round in 0..<12 {
            try bench.submit(Sample.notifications((10 * round)..<(10 * round + 3), of: Self.silent))
            try bench.submit(Sample.notifications((10_000 + 10 * round)..<(10_003 + 10 * round), of: Self.answered))
            service.run(for: .seconds(10))
        }
        #expect(isTold(bench) == [Self.silent])
        #expect(!bench.status.conditions.contains { $0.kind == .serviceAway })
        let topic = try #require(bench.status.topicsSetAside["default"]?.first)
        #expect(topic.cause == .silence && topic.reason.contains("unanswered"))
        // Those that came when it was known are not harmed, and none was tried that the others waited for.
        #expect(bench.journal.entries.count { $0.attempts == 0 } > 10)
        service.isSilent = { _ in false }
        service.run(for: .seconds(300))
        #expect(bench.journal.entries.isEmpty && isTold(bench) == [])
        #expect(service.taken(of: Self.silent) == 36)
        let told = await bench.events(events).compactMap { event -> String? in
            switch event {
            case .topicSetAside: "set aside"
            case .topicBack: "back"
            default: nil
            }
        }
        #expect(told == ["set aside", "back"])
    }

    @Test(
        "Of a service that answers nothing no topic is called silent, and all goes when it is back",
        arguments: [1, 2, 3, 8])
    func allSilent(topics: Int) throws {
        let bench = try Bench()
        var isAway = true
        let service = SilentService(bench) { _ in isAway }
        for number in 0..<40 {
            try bench.submit(Sample.notifications(number..<(number + 1), of: "com.example.\(number % topics)"))
        }
        for _ in 0..<10 {
            service.run(for: .seconds(30))
            #expect(isTold(bench) == [])
        }
        isAway = false
        // One request that had no answer, its successor, and the longest pause between attempts.
        service.run(for: .seconds(300))
        #expect(bench.journal.entries.isEmpty && service.taken.count >= 40)
        #expect(isTold(bench) == [])
    }

    @Test(
        "That a topic waits while others are taken is told after 15 s, although it is not clear yet, and not of a silent service"
    )
    func toldOnTrial() throws {
        let bench = try Bench()
        let service = SilentService(bench) { $0.topic != Self.answered }
        for topic in 0..<4 {
            try bench.submit(Sample.notifications((100 * topic)..<(100 * topic + 20), of: "com.example.silent\(topic)"))
        }
        for round in 0..<8 {
            try bench.submit(Sample.notifications((1000 + round)..<(1001 + round), of: Self.answered))
            service.run(for: .seconds(5))
        }
        #expect(isTold(bench).count == 4)
        let topics = bench.status.topicsSetAside["default"] ?? []
        #expect(topics.allSatisfy { $0.reason.contains("unanswered") && $0.since <= bench.clock.wall })
        #expect(bench.status.conditions.contains { $0.kind == .topicSetAside })
    }

    @Test("A topic that comes back early goes at once") func short() throws {
        let bench = try Bench()
        let service = service(of: bench)
        try bench.submit(Sample.notifications(0..<20, of: Self.silent))
        try bench.submit(Sample.notifications(10_000..<10_005, of: Self.answered))
        service.run(for: .seconds(32))
        service.isSilent = { _ in false }
        service.run(for: .seconds(32))
        #expect(service.taken(of: Self.silent) >= 19)
    }
}
