import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Credentials that are good for some topics of a route and not for others.
@Suite(.timeLimit(.minutes(1))) struct CredentialTopicTests {
    private static let refused = SendResult(apnsStatus: 403, reason: "InvalidProviderToken")

    private func notification(_ number: Int, _ topic: String, _ guarantee: Guarantee = .atLeastOnce) -> PushNotification
    {
        var bytes = Array(repeating: UInt8(0), count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return PushNotification(
            token: DeviceToken(checked: bytes), topic: topic, payload: Array(#"{"aps":{}}"#.utf8), guarantee: guarantee)
    }

    private func stopped(_ bench: Bench) -> Int { bench.status.lanes.count { $0.stoppedBecause != nil } }

    private func refusing(_ topic: String) throws -> Bench {
        let bench = try Bench()
        bench.answer = { $0.topic == topic ? Self.refused : .confirmed }
        return bench
    }

    @Test(
        "A topic for which the credentials are always refused is set aside, and the others go on", arguments: [1, 150])
    func setAside(_ count: Int) throws {
        let bench = try refusing("com.b")
        try bench.submit([notification(0, "com.a")])
        bench.settle()
        try bench.submit((1000..<1000 + count).map { notification($0, "com.b") })
        for number in 1..<400 {
            try bench.submit([notification(number, "com.a")])
            bench.advance(by: .milliseconds(200))
            #expect(stopped(bench) == 0)
        }
        #expect(bench.status.confirmed == 400)
        #expect(bench.status.topicsSetAside["default"]?.map(\.topic) == ["com.b"])
        #expect(bench.status.topicsSetAside["default"]?.first?.reason.contains("InvalidProviderToken") == true)
        #expect(bench.sent.count { $0 >= 1000 } < count + 20)
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 && !$0.isFlaggedPossiblySent })
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(700))
        #expect(bench.status.confirmed == 400 + count)
        #expect(bench.status.topicsSetAside.isEmpty)
    }

    @Test(
        "A lane that a topic has stopped tries another one next, and goes on within seconds",
        arguments: [
            (Guarantee.atLeastOnce, 1), (.atLeastOnce, 150), (.atLeastOnce, 450), (.atMostOnce, 1), (.atMostOnce, 150),
        ])
    func triesOther(_ guarantee: Guarantee, _ count: Int) throws {
        let bench = try refusing("com.b")
        try bench.submit((1000..<1000 + count).map { notification($0, "com.b", guarantee) })
        bench.settle()
        #expect(stopped(bench) == 4)
        try bench.submit((0..<300).map { notification($0, "com.a", guarantee) })
        bench.advance(by: .seconds(15))
        #expect(stopped(bench) == 0)
        #expect(bench.status.confirmed == 300)
        #expect(bench.status.unknown == 0)
    }

    @Test("Credentials that are revoked stop the route, although a topic without confirmations is refused first")
    func revoked() throws {
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        try bench.submit((0..<10).map { notification($0, "com.a") })
        bench.settle()
        bench.connection.state.withLock { $0.answer = { _ in Self.refused } }
        try bench.submit((10..<40).map { notification($0, "com.b") })
        bench.settle()
        try bench.submit((40..<400).map { notification($0, "com.a") })
        bench.settle()
        #expect(stopped(bench) == 4)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(60))
        #expect(bench.status.confirmed == 400)
        #expect(bench.status.topicsSetAside.isEmpty)
    }

    @Test(
        "A topic that was taken, and is refused while others are taken, is set aside, and not asked again and again",
        arguments: [1, 5])
    func turned(_ topics: Int) throws {
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        var next = 0
        func run(seconds: Int) throws {
            for _ in 0..<seconds {
                let bad = (0..<topics).flatMap { topic in
                    (0..<2).map { notification(1_000_000 + 10 * next + 2 * topic + $0, "com.b\(topic)") }
                }
                try bench.submit(bad + (0..<5).map { notification(10 * next + $0, "com.a\($0)") })
                next += 1
                bench.advance(by: .seconds(1))
            }
        }
        try run(seconds: 10)
        let refused: @Sendable (PushNotification) -> Bool = { $0.topic.hasPrefix("com.b") }
        bench.connection.state.withLock { $0.answer = { refused($0) ? Self.refused : .confirmed } }
        let before = bench.sent.count { $0 >= 1_000_000 }
        try run(seconds: 100)
        #expect(stopped(bench) == 0)
        #expect(bench.status.topicsSetAside["default"]?.map(\.topic) == (0..<topics).map { "com.b\($0)" })
        #expect(bench.sent.count { $0 >= 1_000_000 } - before < 40 * topics)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(700))
        #expect(bench.status.unconfirmed == 0 && bench.status.topicsSetAside.isEmpty)
    }

    // MARK: The machine

    @Test("A topic that was taken is refused for its own sake by its third refusal with others taken in between")
    func turnedByRounds() {
        var topics = CredentialTopics()
        topics.confirmed(1)
        topics.confirmed(2)
        for second in 0..<3 {
            #expect(topics.refused(2, now: .seconds(second)) == (second == 2 ? .topic : .credentials))
            // Others of the same round say nothing more.
            #expect(topics.refused(2, now: .seconds(second)) == (second == 2 ? .topic : .credentials))
            topics.confirmed(1)
        }
        topics.confirmed(2)
        #expect(topics.refused(2, now: .seconds(9)) == .credentials)
    }

    @Test("Credentials that are revoked are refused for all, and no topic is to blame") func revokedForAll() {
        var topics = CredentialTopics()
        for topic in UInt32(1)...3 { topics.confirmed(topic) }
        // What was under way is answered in any order.
        for _ in 0..<5 {
            #expect(topics.refused(2, now: .milliseconds(500)) == .credentials)
            topics.confirmed(1)
        }
        for second in 1..<10 { #expect(topics.refused(2, now: .seconds(second)) == .credentials) }
    }

    @Test("A topic is refused for its own sake by its third refusal, once another topic was taken") func third() {
        var topics = CredentialTopics()
        #expect(topics.refused(2, now: .zero) == .credentials)
        topics.confirmed(1)
        #expect((0..<4).map { _ in topics.refused(2, now: .zero) } == [.doubtful, .doubtful, .topic, .topic])
        #expect(topics.refused(1, now: .zero) == .credentials)
    }

    @Test("Where ten topics are refused, one behind the other, it is none of them") func many() {
        var topics = CredentialTopics()
        topics.confirmed(1)
        for topic in UInt32(2)...10 { #expect(topics.refused(topic, now: .zero) == .doubtful) }
        #expect(topics.refused(11, now: .zero) == .credentials)
        topics.confirmed(1)
        #expect(topics.refused(11, now: .zero) == .doubtful)
    }

    @Test("What was taken before the credentials were convicted proves nothing") func convicted() {
        var topics = CredentialTopics()
        topics.confirmed(1)
        topics.confirmed(2)
        _ = topics.refused(2, now: .zero)
        topics.convicted()
        #expect(topics.refused(2, now: .zero) == .credentials)
        #expect(topics.hasRefused(2))
        topics.confirmed(1)
        #expect(topics.refused(2, now: .zero) == .doubtful)
    }
}
