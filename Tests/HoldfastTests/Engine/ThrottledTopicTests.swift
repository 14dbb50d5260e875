import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A topic that the service refuses for now holds up nobody but its own entries.
@Suite(.timeLimit(.minutes(2))) struct ThrottledTopicTests {
    private static let busy = "com.example.busy"
    private static let other = "com.example.other"

    /// Refuses the busy topic, and takes all others.
    private final class Service: Sendable {
        struct State {
            var isBusy = true
            var refused = 0
            var taken: [String: Int] = [:]
        }
        let state = Monitor(State())

        init(_ bench: Bench, _ answer: SendResult) {
            bench.answer = { [state] notification in
                state.withLock { state in
                    guard state.isBusy, notification.topic == ThrottledTopicTests.busy else {
                        state.taken[notification.topic, default: 0] += 1
                        return .confirmed
                    }
                    state.refused += 1
                    return answer
                }
            }
        }

        func taken(of topic: String) -> Int { state.withLock { $0.taken[topic] ?? 0 } }
        var refused: Int { state.withLock { $0.refused } }
    }

    private static let answers = [
        SendResult(apnsStatus: 429, reason: "TooManyRequests"),
        SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: .seconds(2)),
        SendResult(apnsStatus: 503, reason: "ServiceUnavailable"),
    ]

    private func isTold(_ bench: Bench) -> [String] { (bench.status.topicsSetAside["default"] ?? []).map(\.topic) }

    @Test(
        "What waits behind a topic that is refused for now goes within seconds, and the topic goes when it is taken again",
        arguments: answers, [Guarantee.atLeastOnce, .atMostOnce])
    func behind(_ answer: SendResult, _ guarantee: Guarantee) async throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let events = bench.listen()
        let service = Service(bench, answer)
        try bench.submit(Sample.notifications(0..<600, of: Self.busy, guarantee))
        try bench.submit(Sample.notifications(10_000..<10_100, of: Self.other, guarantee))
        bench.advance(by: .seconds(15))
        #expect(service.taken(of: Self.other) == 100)
        #expect(isTold(bench) == [])
        // Those that come now and then show that it is the topic.
        for round in 0..<10 {
            try bench.submit(Sample.notifications((20_000 + round)..<(20_001 + round), of: Self.other, guarantee))
            bench.advance(by: .seconds(6))
        }
        #expect(service.taken(of: Self.other) == 110)
        #expect(isTold(bench) == [Self.busy])
        let topic = try #require(bench.status.topicsSetAside["default"]?.first)
        #expect(topic.cause == .refusals && topic.reason.contains("for now"))
        #expect(bench.status.throttled.isEmpty)
        // Sixteen at the start, and then probes. Before it is clear that it is the topic, one may be refused for its own sake.
        #expect(service.refused < 50)
        #expect(bench.journal.entries.count { $0.attempts > 0 } < 10)
        service.state.withLock { $0.isBusy = false }
        bench.advance(by: .seconds(120))
        #expect(service.taken(of: Self.busy) == 600)
        #expect(isTold(bench) == [] && bench.journal.entries.isEmpty)
        let told = await bench.events(events).compactMap { event -> String? in
            switch event {
            case .topicSetAside: "set aside"
            case .topicBack: "back"
            default: nil
            }
        }
        #expect(told == ["set aside", "back"])
    }

    @Test("One in 28 that is of such a topic does not slow the others") func mixed() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Service(bench, Self.answers[1])
        for round in 0..<100 {
            try bench.submit(Sample.notifications(round..<(round + 1), of: Self.busy))
            try bench.submit(Sample.notifications((1000 + 27 * round)..<(1027 + 27 * round), of: Self.other))
        }
        bench.advance(by: .seconds(10))
        #expect(service.taken(of: Self.other) == 2700)
        #expect(isTold(bench) == [Self.busy])
    }

    @Test(
        "The others go before long, however many such topics are ahead, and however long the service asks to wait",
        arguments: [1, 2, 5, 8], [nil, 30, 3600])
    func many(topics: Int, seconds: Int?) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let answer = SendResult(
            apnsStatus: 429, reason: "TooManyRequests", retryAfter: seconds.map { .seconds($0) })
        let taken = Monitor(0)
        bench.answer = { notification in
            guard notification.topic == Self.other else { return answer }
            taken.withLock { $0 += 1 }
            return .confirmed
        }
        for number in 0..<400 {
            try bench.submit(Sample.notifications(number..<(number + 1), of: "com.example.\(number % topics)"))
        }
        try bench.submit(Sample.notifications(10_000..<10_050, of: Self.other))
        bench.advance(by: .seconds(45))
        #expect(taken.withLock { $0 } == 50)
    }

    @Test(
        "What comes of another topic while a route waits for one that is refused alone goes within seconds",
        arguments: answers, [10, 100, 400])
    func alone(_ answer: SendResult, seconds: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Service(bench, answer)
        try bench.submit(Sample.notifications(0..<40, of: Self.busy))
        bench.advance(by: .seconds(seconds))
        let refused = service.refused
        try bench.submit(Sample.notifications(1000..<1002, of: Self.other))
        bench.advance(by: .seconds(4))
        #expect(service.taken(of: Self.other) == 2)
        #expect(service.refused <= refused + 2)
    }

    @Test(
        "A topic that is refused beside others is told before long, however long the service asks to wait",
        arguments: [nil, 30, 3600], [0, 1])
    func toldBesideOthers(seconds: Int?, later: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let answer = SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: seconds.map { .seconds($0) })
        let service = Service(bench, answer)
        try bench.submit(Sample.notifications(0..<50, of: Self.other))
        bench.advance(by: .seconds(5))
        try bench.submit(Sample.notifications(1000..<1030, of: Self.busy))
        for round in 0..<60 {
            try bench.submit(Sample.notifications((2000 + 5 * round)..<(2005 + 5 * round), of: Self.other))
            if later > 0 { try bench.submit(Sample.notifications((1100 + round)..<(1101 + round), of: Self.busy)) }
            bench.advance(by: .seconds(1))
        }
        #expect(service.taken(of: Self.other) >= 345)
        #expect(isTold(bench) == [Self.busy])
        #expect(service.refused < 80)
        service.state.withLock { $0.isBusy = false }
        // At the latest when the service has asked for it.
        bench.advance(by: .seconds(max(seconds ?? 0, 200)))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test("Behind 45,000 of such a topic the others go, too") func far() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Service(bench, Self.answers[0])
        try bench.submit(Sample.notifications(0..<45_000, of: Self.busy))
        try bench.submit(Sample.notifications(100_000..<100_005, of: Self.other))
        bench.advance(by: .seconds(20))
        #expect(service.taken(of: Self.other) == 5)
    }

    @Test(
        "So they do where each commit takes time, and one request of a connection is under way",
        arguments: [Guarantee.atLeastOnce, .atMostOnce])
    func farAndSlow(_ guarantee: Guarantee) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        bench.prepare = { $0.streamLimit.withLock { $0 = 1 } }
        let service = Service(bench, Self.answers[0])
        try bench.submit(
            Sample.notifications(0..<20_000, of: Self.busy, guarantee)
                + Sample.notifications(100_000..<100_005, of: Self.other, guarantee))
        bench.commits = false
        for _ in 0..<600 {
            bench.advance(by: .milliseconds(50))
            bench.journal.commit()
            bench.settle()
        }
        #expect(service.taken(of: Self.other) == 5)
    }

    @Test(
        "Where another topic has no answer beside it, the others go before the deadline",
        arguments: [[0], [1], [0, 1], [1, 0], [2, 0, 1, 2]],
        [(nil, true, false), (7, true, true), (nil, false, false), (nil, false, true)])
    func besideSilent(ahead: [Int], _ kind: (seconds: Int?, isWarm: Bool, announces: Bool)) throws {
        let (seconds, isWarm, announces) = kind
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench, announces: announces) { $0.topic.hasSuffix("silent") }
        let answer = SendResult(
            apnsStatus: 429, reason: "TooManyRequests", retryAfter: seconds.map { .seconds($0) })
        service.answer = { $0.topic == Self.busy ? answer : .confirmed }
        // The connection has worked. At first contact a silent topic costs a deadline.
        if isWarm { try bench.submit(Sample.notifications(0..<5, of: Self.other)) }
        service.run(for: .seconds(1))
        let topics = ["com.example.silent", Self.busy, "com.example.also-silent"]
        for round in 0..<50 {
            for (place, topic) in ahead.enumerated() {
                let guarantee: Guarantee = round % 2 == 0 ? .atLeastOnce : .atMostOnce
                try bench.submit(
                    Sample.notifications(
                        (1000 * place + round)..<(1000 * place + round + 1), of: topics[topic], guarantee))
            }
        }
        try bench.submit(
            Sample.notifications(10_000..<10_025, of: Self.other)
                + Sample.notifications(10_025..<10_050, of: Self.other, .atMostOnce))
        service.run(for: .seconds(isWarm && ahead.contains(1) ? 25 : 65))
        #expect(service.taken(of: Self.other) == (isWarm ? 55 : 50))
    }

    @Test(
        "So they do where the refusals come late", arguments: [1.5, 3, 10], [false, true])
    func late(seconds: Double, announces: Bool) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench, announces: announces) { _ in false }
        service.answer = { $0.topic == Self.busy ? Self.answers[0] : .confirmed }
        service.delay = { $0.topic == Self.busy ? .seconds(seconds) : .zero }
        try bench.submit(Sample.notifications(0..<800, of: Self.busy))
        try bench.submit(Sample.notifications(10_000..<10_050, of: Self.other))
        service.run(for: .seconds(10 + 3 * seconds))
        #expect(service.taken(of: Self.other) == 50)
        // What is only late is not silent.
        service.answer = { _ in .confirmed }
        service.run(for: .seconds(240))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test(
        "Where the service ends its connection with each refusal of a topic, the others go on", arguments: [1, 3],
        [(false, false), (true, false), (false, true), (true, true)])
    func endsWithRefusal(busyTopics: Int, _ kind: (isWarm: Bool, hasSilent: Bool)) throws {
        let (isWarm, hasSilent) = kind
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { $0.topic.hasSuffix("silent") }
        service.answer = { $0.topic.hasPrefix(Self.busy) ? Self.answers[0] : .confirmed }
        service.endsWith = { $0.verdict != .confirmed }
        if isWarm { try bench.submit(Sample.notifications(0..<50, of: Self.other)) }
        service.run(for: .seconds(5))
        for number in 0..<20 {
            for topic in 0..<busyTopics {
                try bench.submit(
                    Sample.notifications(
                        (100 * topic + number)..<(100 * topic + number + 1), of: "\(Self.busy)\(topic)"))
            }
            if hasSilent {
                try bench.submit(Sample.notifications((1000 + number)..<(1001 + number), of: "com.example.silent"))
            }
        }
        var (submitted, longest, sinceWhen) = (isWarm ? 50 : 0, 0, 0)
        for second in 0..<120 {
            try bench.submit(Sample.notifications((10_000 + 10 * second)..<(10_010 + 10 * second), of: Self.other))
            try bench.submit(Sample.notifications((2000 + second)..<(2001 + second), of: "\(Self.busy)0"))
            submitted += 10
            service.run(for: .seconds(1))
            if service.taken(of: Self.other) > submitted - 20 { sinceWhen = second }
            longest = max(longest, second - sinceWhen)
        }
        #expect(longest <= 15)
        #expect(service.taken(of: Self.other) >= submitted - 10)
        #expect(bench.connections[0].count < 30)
        // Refused and ended again and again: then all of it goes.
        service.answer = { _ in .confirmed }
        service.isSilent = { _ in false }
        service.run(for: .seconds(300))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test(
        "A service that refuses everything, and late, gets no flood of connections and requests", arguments: [1, 3, 8])
    func allLate(topics: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        var requests = 0
        service.answer = { _ in
            requests += 1
            return Self.answers[0]
        }
        service.delay = { _ in .seconds(5) }
        for number in 0..<400 {
            try bench.submit(Sample.notifications(number..<(number + 1), of: "com.example.\(number % topics)"))
        }
        service.run(for: .seconds(600))
        #expect(isTold(bench) == [])
        #expect(requests < 30 + 5 * topics && bench.connections[0].count <= 2 + 2 * topics)
        service.answer = { _ in .confirmed }
        service.delay = { _ in .zero }
        service.run(for: .seconds(240))
        #expect(bench.journal.entries.isEmpty)
    }

    @Test(
        "Of a service that refuses everything no topic is set aside, and all goes soon after it is back",
        arguments: [1, 2, 3, 8])
    func allRefused(topics: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let isAway = Monitor(true)
        bench.answer = { _ in isAway.withLock { $0 } ? Self.answers[2] : .confirmed }
        for number in 0..<400 {
            try bench.submit(Sample.notifications(number..<(number + 1), of: "com.example.\(number % topics)"))
        }
        for _ in 0..<20 {
            bench.advance(by: .seconds(10))
            #expect(isTold(bench) == [])
        }
        isAway.withLock { $0 = false }
        bench.advance(by: .seconds(90))
        #expect(bench.status.confirmed == 400 && bench.journal.entries.isEmpty)
        #expect(isTold(bench) == [])
    }

    @Test("A quota that is for all topics is no topic's fault", arguments: [2.0, 10, 100]) func quota(rate: Double)
        throws
    {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Monitor(QuotaService(.windows, perSecond: rate))
        let clock = bench.clock
        bench.answer = { _ in
            service.withLock { $0.grants(at: clock.monotonic) } ? .confirmed : Self.answers[0]
        }
        for round in 0..<100 {
            try bench.submit(Sample.notifications((19 * round)..<(19 * round + 19), of: Self.busy))
            try bench.submit(Sample.notifications((10_000 + round)..<(10_001 + round), of: Self.other))
        }
        for _ in 0..<60 {
            bench.advance(by: .seconds(5))
            #expect(isTold(bench) == [])
            #expect((bench.status.throttled["default"]?.topics ?? []) == [])
        }
    }

    @Test("A topic with a quota of its own is named, with when the route tries again and what was answered")
    func ownQuota() throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = Monitor(QuotaService(.windows, perSecond: 5))
        let clock = bench.clock
        bench.answer = { notification in
            guard notification.topic == Self.busy else { return .confirmed }
            return service.withLock { $0.grants(at: clock.monotonic) } ? .confirmed : Self.answers[0]
        }
        var named = false
        var isAnnounced = false
        for round in 0..<200 {
            try bench.submit(Sample.notifications((20 * round)..<(20 * round + 20), of: Self.busy))
            try bench.submit(Sample.notifications((10_000 + 20 * round)..<(10_020 + 20 * round), of: Self.other))
            bench.advance(by: .seconds(1))
            guard let throttle = bench.status.throttled["default"] else { continue }
            #expect(throttle.status == 429 && throttle.reason != nil)
            if let next = throttle.nextProbeAt {
                isAnnounced = true
                #expect(next > bench.clock.wall)
            }
            guard !throttle.topics.isEmpty else { continue }
            named = true
            #expect(throttle.topics == [Self.busy] && throttle.description.contains("of topic \(Self.busy)"))
            let condition = try #require(bench.status.conditions.first { $0.kind == .throttled })
            #expect(condition.next.hasPrefix("send less of it, or give it a route of its own"))
        }
        #expect(named && isAnnounced)
    }
}
