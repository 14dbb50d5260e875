import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// What a stranger has tried with the program: one topic is in trouble, whatever the trouble is and whatever came before, and the
/// others go soon.
@Suite(.timeLimit(.minutes(2))) struct StuckTopicTests {
    private static let bad = "com.example.bad"
    private static let refused = SendResult(apnsStatus: 503, reason: "ServiceUnavailable")
    private static let tooMany = SendResult(apnsStatus: 429, reason: "TooManyRequests")

    private func isTold(_ bench: Bench) -> [String] { (bench.status.topicsSetAside["default"] ?? []).map(\.topic) }

    /// Traffic of two good topics, at five a second, and what the longest wait of any of it was.
    private final class Traffic {
        let bench: Bench
        let service: SilentService
        private var submittedAt: [Int: Duration] = [:]
        private var next = 100_000
        private(set) var longest = Duration.zero

        init(_ bench: Bench, _ service: SilentService) { (self.bench, self.service) = (bench, service) }

        func run(for seconds: Int) throws {
            for _ in 0..<seconds {
                for _ in 0..<5 {
                    var notification = Sample.notification(next)
                    notification.topic = "com.example.good\(next % 2)"
                    submittedAt[next] = bench.clock.monotonic
                    try bench.submit([notification])
                    next += 1
                }
                service.run(for: .seconds(1))
                look()
            }
        }

        /// So much of it waits.
        var waiting: Int { submittedAt.count }

        func look() {
            for notification in service.taken.suffix(2000) {
                guard let at = submittedAt.removeValue(forKey: Sample.number(of: notification)) else { continue }
                longest = max(longest, bench.clock.monotonic - at)
            }
        }

        /// For how long the oldest has waited that waits.
        var oldest: Duration { submittedAt.values.min().map { bench.clock.monotonic - $0 } ?? .zero }
    }

    enum Outage: CaseIterable {
        /// All topics are refused, and then the bad one.
        case refused
        /// All are silent, and then the bad one.
        case silent
        /// The bad one is refused, and all others are silent.
        case mixed
        /// All are silent, and then the bad one is refused.
        case silentThenRefused
    }

    @Test(
        "After an outage of the service the others go soon, although one topic is in trouble yet",
        arguments: Outage.allCases, [40, 90])
    func afterOutage(_ outage: Outage, seconds: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        switch outage {
        case .refused: service.answer = { _ in Self.refused }
        case .silent, .silentThenRefused: service.isSilent = { _ in true }
        case .mixed:
            service.isSilent = { $0.topic != Self.bad }
            service.answer = { $0.topic == Self.bad ? Self.tooMany : .confirmed }
        }
        try bench.submit(Sample.notifications(0..<30, of: Self.bad))
        try traffic.run(for: seconds)
        service.isSilent = { outage == .silent && $0.topic == Self.bad }
        service.answer = { $0.topic == Self.bad ? Self.tooMany : .confirmed }
        // A service that refuses everything is asked once a minute in the end.
        try traffic.run(for: outage == .refused ? 65 : 15)
        #expect(traffic.oldest < .seconds(15))
        try traffic.run(for: 45)
        #expect(traffic.oldest < .seconds(5))
        #expect(isTold(bench) == [Self.bad])
        service.isSilent = { _ in false }
        service.answer = { _ in .confirmed }
        service.run(for: .seconds(150))
        #expect(bench.journal.entries.isEmpty)
    }

    enum Refusal: CaseIterable {
        case answer
        /// GOAWAY behind it: what the connection has is answered.
        case drain
        /// The connection ends behind it, whatever it has.
        case close
    }

    @Test(
        "After a short outage in which all was refused, silent topics cost the others seconds, and not their deadlines",
        arguments: [5, 20, 40], [1, 4])
    func refusedBesideSilent(seconds: Int, silent: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { $0.topic.hasPrefix(Self.bad) }
        let traffic = Traffic(bench, service)
        try traffic.run(for: 6)
        service.answer = { _ in Self.refused }
        for round in 0..<(seconds + 30) {
            if round == seconds { service.answer = { _ in .confirmed } }
            for topic in 0..<silent {
                let first = 1000 * topic + 2 * round
                try bench.submit(Sample.notifications(first..<first + 2, of: Self.bad + "\(topic)"))
            }
            try traffic.run(for: 1)
            // The pauses of a throttled route double.
            if round == 2 * seconds + 5 + 5 * silent { #expect(traffic.oldest < .seconds(3)) }
        }
        #expect(traffic.oldest < .seconds(3))
        #expect(isTold(bench) == (0..<silent).map { Self.bad + "\($0)" })
    }

    @Test(
        "A slow service and a topic that it refuses at once do not add up", arguments: [3, 5, 12],
        Refusal.allCases.flatMap { [(false, $0), (true, $0)] })
    func slow(seconds: Int, _ kind: (isWarm: Bool, refusal: Refusal)) throws {
        let (isWarm, refusal) = kind
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        service.delay = { $0.topic == Self.bad ? .zero : .seconds(seconds) }
        let traffic = Traffic(bench, service)
        // The slow start of a route.
        if isWarm { try traffic.run(for: 60) }
        service.answer = { $0.topic == Self.bad ? Self.refused : .confirmed }
        service.endsWith = { refusal == .drain && $0.verdict != .confirmed }
        service.closesWith = { refusal == .close && $0.verdict != .confirmed }
        try bench.submit(Sample.notifications(0..<30, of: Self.bad))
        for round in 0..<8 {
            try bench.submit(Sample.notifications((1000 + round)..<(1001 + round), of: Self.bad))
            try traffic.run(for: 10)
        }
        try traffic.run(for: 20)
        #expect(isTold(bench) == [Self.bad])
        if refusal == .close {
            // Each has cost the others a connection, with all that was on it.
            #expect(service.refusals <= 10)
            guard seconds < 10 else { return }
        }
        #expect(traffic.oldest < .seconds(20 + 2 * seconds))
    }

    @Test(
        "While all topics wait, and more of each comes all the time, one of them is tried nevertheless",
        arguments: [5, 50])
    func allWait(rate: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { $0.topic != Self.bad }
        service.answer = { $0.topic == Self.bad ? Self.tooMany : .confirmed }
        let traffic = Traffic(bench, service)
        try bench.submit(Sample.notifications(0..<30, of: Self.bad))
        for round in 0..<80 {
            try bench.submit(Sample.notifications((1000 + rate * round)..<(1000 + rate * round + rate), of: Self.bad))
            try traffic.run(for: 1)
        }
        service.isSilent = { _ in false }
        for round in 80..<100 {
            try bench.submit(Sample.notifications((1000 + rate * round)..<(1000 + rate * round + rate), of: Self.bad))
            try traffic.run(for: 1)
        }
        #expect(traffic.oldest < .seconds(20))
    }

    @Test(
        "Many topics that are refused, and as many that are taken, each with traffic: the latter go",
        arguments: [5, 20, 60])
    func manyOfEach(count: Int) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        service.answer = { $0.topic.hasPrefix(Self.bad) ? Self.tooMany : .confirmed }
        var next = 0
        for _ in 0..<80 {
            for topic in 0..<count {
                try bench.submit(Sample.notifications(next..<next + 1, of: Self.bad + "\(topic)"))
                try bench.submit(Sample.notifications(next + 1..<next + 2, of: "com.example.good\(topic)"))
                next += 2
            }
            service.run(for: .seconds(1))
        }
        #expect(service.taken.count > 40 * count)
    }

    @Test("Behind twelve topics that are refused the others go", arguments: [false, true]) func many(isWarm: Bool)
        throws
    {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        service.answer = { $0.topic.hasPrefix(Self.bad) ? Self.tooMany : .confirmed }
        let traffic = Traffic(bench, service)
        if isWarm { try traffic.run(for: 10) }
        for number in 0..<15 {
            for topic in 0..<12 {
                let number = 100 * topic + number
                try bench.submit(Sample.notifications(number..<(number + 1), of: "\(Self.bad)\(topic)"))
            }
        }
        try traffic.run(for: 40)
        #expect(traffic.longest < .seconds(20) && traffic.oldest < .seconds(5))
        try traffic.run(for: 60)
        #expect(isTold(bench).count == 12)
    }

    @Test(
        "A silent topic that fills the streams of a connection that works keeps others for 10 s, and not for its deadline",
        arguments: [1, 2, 10])
    func fillsStreams(_ streams: Int) throws {
        let bench = try Bench()
        let service = SilentService(bench) { _ in false }
        service.streams = streams
        let traffic = Traffic(bench, service)
        try traffic.run(for: 10)
        service.isSilent = { $0.topic == Self.bad }
        for second in 0..<40 {
            try bench.submit(Sample.notifications(20 * second..<20 * second + 20, of: Self.bad))
            try traffic.run(for: 1)
            if second == 20 { #expect(traffic.oldest < .seconds(3)) }
        }
        #expect(traffic.longest < .seconds(14))
        #expect(traffic.oldest < .seconds(3))
        #expect(isTold(bench) == [Self.bad])
    }

    @Test(
        "One silent topic, one refused and one with foreign answers together do not stop the others",
        arguments: [false, true],
        ForeignAnswer.allCases)
    func mixture(isWarm: Bool, _ foreign: ForeignAnswer) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        if isWarm { try traffic.run(for: 10) }
        service.isSilent = { $0.topic == Self.bad + "0" }
        service.answer = {
            switch $0.topic {
            case Self.bad + "1": Self.refused
            case Self.bad + "2": foreign.result
            default: .confirmed
            }
        }
        for topic in 0..<3 {
            try bench.submit(Sample.notifications(1000 * topic..<1000 * topic + 100, of: Self.bad + "\(topic)"))
        }
        try traffic.run(for: 60)
        #expect(traffic.longest < .seconds(18))
        #expect(traffic.oldest < .seconds(5))
        #expect(isTold(bench) == (0..<3).map { Self.bad + "\($0)" })
    }

    @Test(
        "A topic with foreign answers and one that ends connections together do not stop the others",
        arguments: [false, true], SilentService.Drop.allCases)
    func foreignAndEnding(isWarm: Bool, _ drop: SilentService.Drop) throws {
        let bench = try Bench()
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        if isWarm { try traffic.run(for: 10) }
        service.answer = { $0.topic == Self.bad + "0" ? ForeignAnswer.gone.result : .confirmed }
        service.drop = { $0.topic == Self.bad + "1" ? drop : nil }
        for topic in 0..<2 {
            try bench.submit(Sample.notifications(1000 * topic..<1000 * topic + 100, of: Self.bad + "\(topic)"))
        }
        try traffic.run(for: 60)
        #expect(traffic.longest < .seconds(20))
        #expect(traffic.oldest < .seconds(5))
        #expect(isTold(bench).contains(Self.bad + "0"))
    }

    enum Second: CaseIterable { case tooMany, refused, foreign, reset, shutdown, silent }

    @Test(
        "A topic that the credentials are not good for and one in another trouble together do not stop the others",
        arguments: [(false, 0), (true, 0), (false, 1), (true, 1)], Second.allCases)
    func forbiddenBeside(_ kind: (isWarm: Bool, first: Int), _ second: Second) throws {
        let (isWarm, first) = kind
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { $0.topic == Self.bad + "1" && second == .silent }
        let traffic = Traffic(bench, service)
        if isWarm { try traffic.run(for: 10) }
        service.answer = {
            switch ($0.topic, second) {
            case (Self.bad + "0", _): SendResult(apnsStatus: 403, reason: "Forbidden")
            case (Self.bad + "1", .tooMany): Self.tooMany
            case (Self.bad + "1", .refused): Self.refused
            case (Self.bad + "1", .foreign): ForeignAnswer.gone.result
            default: .confirmed
            }
        }
        service.drop = {
            guard $0.topic == Self.bad + "1" else { return nil }
            return second == .reset ? .reset : second == .shutdown ? .shutdown : nil
        }
        for topic in [first, 1 - first] {
            try bench.submit(Sample.notifications(1000 * topic..<1000 * topic + 100, of: Self.bad + "\(topic)"))
        }
        try traffic.run(for: 60)
        #expect(traffic.longest < .seconds(25))
        #expect(traffic.oldest < .seconds(5))
        #expect(isTold(bench).contains(Self.bad + "0"))
    }

    enum Many: CaseIterable { case foreign, forbidden, forbiddenRefusedAndEnding, allKinds }

    @Test("Several topics in trouble together do not stop the others", arguments: [false, true], Many.allCases)
    func several(isWarm: Bool, _ many: Many) throws {
        let bench = try Bench { $0.throttle = ThrottlePolicy() }
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        if isWarm { try traffic.run(for: 10) }
        let forbidden = SendResult(apnsStatus: 403, reason: "Forbidden")
        let answers: [SendResult] =
            switch many {
            case .foreign: Array(repeating: ForeignAnswer.success.result, count: 5)
            case .forbidden: Array(repeating: forbidden, count: 6)
            case .forbiddenRefusedAndEnding: [forbidden, Self.refused, .confirmed]
            case .allKinds: [forbidden, Self.refused, Self.tooMany, ForeignAnswer.gone.result, .confirmed]
            }
        let bad = answers.indices.map { Self.bad + "\($0)" }
        service.answer = { notification in bad.firstIndex(of: notification.topic).map { answers[$0] } ?? .confirmed }
        if answers.last == .confirmed { service.drop = { $0.topic == bad.last ? .shutdown : nil } }
        for (number, topic) in bad.enumerated() {
            try bench.submit(Sample.notifications(1000 * number..<1000 * number + 100, of: topic))
        }
        try traffic.run(for: 60)
        #expect(traffic.longest < .seconds(35))
        #expect(traffic.oldest < .seconds(5))
    }

    @Test("A topic whose requests are never processed is told with the service's word") func wordOfUnprocessed() throws
    {
        let bench = try Bench()
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        try traffic.run(for: 5)
        service.drop = { $0.topic == Self.bad ? .shutdown : nil }
        for second in 0..<40 {
            try bench.submit(Sample.notifications(2 * second..<2 * second + 2, of: Self.bad))
            try traffic.run(for: 1)
        }
        let reason = try #require(bench.status.topicsSetAside["default"]?.first).reason
        #expect(reason.contains("503 Shutdown"))
    }

    enum ForeignAnswer: CaseIterable {
        case gone, redirect, misdirected, success

        var result: SendResult {
            switch self {
            case .gone: SendResult(apnsStatus: 410, reason: nil)
            case .redirect: SendResult(apnsStatus: 302, reason: nil)
            case .misdirected: SendResult(apnsStatus: 421, reason: "Misdirected")
            case .success: SendResult(.foreign, status: 200, detail: "an HTML page")
            }
        }
    }

    @Test(
        "One topic that something else than the service answers is set aside and told, and the others go",
        arguments: ForeignAnswer.allCases, [2, 50, 300])
    func foreignTopic(_ answer: ForeignAnswer, burst: Int) throws {
        let bench = try Bench()
        let service = SilentService(bench) { _ in false }
        let traffic = Traffic(bench, service)
        try traffic.run(for: 5)
        service.answer = { $0.topic == Self.bad ? answer.result : .confirmed }
        try bench.submit(Sample.notifications(0..<burst, of: Self.bad))
        for second in 0..<20 {
            try bench.submit(Sample.notifications(1000 + 2 * second..<1002 + 2 * second, of: Self.bad))
            try traffic.run(for: 1)
        }
        #expect(traffic.longest < .seconds(6))
        #expect(traffic.oldest < .seconds(2))
        #expect(isTold(bench) == [Self.bad])
        let before = service.asked(of: Self.bad)
        try traffic.run(for: 60)
        #expect(service.asked(of: Self.bad) - before <= 6)
        #expect(traffic.oldest < .seconds(2))
        service.answer = { _ in .confirmed }
        service.run(for: .seconds(150))
        #expect(bench.journal.entries.isEmpty)
        #expect(isTold(bench).isEmpty)
    }
}
