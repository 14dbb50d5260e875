import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A token is bad for a topic and at a service, and good for others.
@Suite(.timeLimit(.minutes(1))) struct BlacklistScopeTests {
    private let gone = SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_600_000_000))

    private func notification(_ number: Int, topic: String) -> PushNotification {
        var notification = Sample.notification(number)
        notification.topic = topic
        return notification
    }

    private func refusal(_ receipt: Receipt) -> Refusal? {
        if case .refused(let refusal) = receipt { refusal } else { nil }
    }

    private func blacklist(
        _ number: Int, topic: String? = nil, endpoint: String? = nil, since: Int64 = 1_600_000_000, in bench: Bench
    ) {
        bench.journal.blacklist.add([
            BlacklistEntry(
                token: Sample.notification(number).token!, reason: .unregistered, since: WallTime(seconds: since),
                learntAt: bench.clock.wall, route: "r", topic: topic, endpoint: endpoint)
        ]) { _ in }
        bench.settle()
    }

    @Test("A record of the blacklist that cannot be read holds up what is for its token, and nothing else")
    func unreadable() throws {
        let bench = try Bench { $0.probes.maximum = .seconds(60) }
        let token = try #require(Sample.notification(2).token)
        blacklist(2, topic: "com.example.other", in: bench)
        bench.journal.damageBlacklist(.device(token), as: .damaged("its checksum is wrong"))
        // One that cannot be read refuses nobody, and least of all its neighbours.
        let receipts = try bench.submit(1..<4)
        #expect(receipts.allSatisfy { $0.uid != nil })
        bench.settle()
        #expect(bench.sent == [1, 3])
        guard case .deferred(_, _, let attempts, let reason)? = try bench.journal.fate(of: UID(2)) else {
            Issue.record("it does not wait")
            return
        }
        #expect(attempts == 0 && reason == .blacklistUnreadable)
        bench.advance(by: .seconds(61))
        #expect(bench.sent == [1, 3])
        bench.journal.damageBlacklist(.device(token), as: nil)
        bench.advance(by: .seconds(61))
        #expect(bench.sent == [1, 3, 2])
        #expect(bench.status.rejectedTotal == 0)
    }

    @Test("A token that is called wrong for one topic is still good for its own") func otherTopic() throws {
        let bench = try Bench()
        try bench.submit([notification(1, topic: "com.example.other")])
        try bench.submit(2..<20)
        try bench.submit([notification(20, topic: "com.example.other")])
        bench.settle()
        bench.connection.answer(1, SendResult(apnsStatus: 400, reason: "DeviceTokenNotForTopic"))
        for number in 2..<21 { bench.connection.answer(number, .confirmed) }
        bench.advance(by: .seconds(10))
        #expect(bench.journal.rejections[UID(1)]?.reason == .deviceTokenNotForTopic)
        let again = try bench.submit([Sample.notification(1), notification(1, topic: "com.example.other")])
        #expect(again[0].uid != nil)
        #expect(refusal(again[1])?.blacklistEntry?.topic == "com.example.other")
        bench.settle()
        #expect(bench.sent.last == 1)
    }

    @Test(
        "A token that is gone for one topic goes on being sent to for the others", arguments: ["voip", "liveactivity"])
    func subtopics(_ suffix: String) throws {
        let bench = try Bench()
        let topic = "com.example.app.\(suffix)"
        try bench.submit([notification(1, topic: topic)])
        bench.settle()
        bench.connection.answer(1, gone)
        bench.settle()
        let again = try bench.submit([Sample.notification(1), notification(1, topic: topic)])
        #expect(again[0].uid != nil)
        #expect(refusal(again[1])?.reason == .blacklisted)
    }

    @Test("An entry that waits is stopped by what is learnt of its topic, and not by what is learnt of another")
    func waiting() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit([notification(1, topic: "a"), notification(1, topic: "b")])
        blacklist(1, topic: "a", endpoint: "stub", in: bench)
        bench.accepts = true
        bench.settle()
        #expect(bench.journal.rejections[UID(1)]?.reason == .blacklisted)
        #expect(bench.connection.state.withLock(\.sent).map(\.notification.topic) == ["b"])
    }

    @Test("Tokens that another environment called bad are good when the endpoint is mended") func endpoint() throws {
        let wrong = try Bench(endpoint: "sandbox")
        try wrong.submit(1..<20)
        wrong.settle()
        wrong.connection.answer(1, SendResult(apnsStatus: 400, reason: "BadDeviceToken"))
        for number in 2..<20 { wrong.connection.answer(number, .confirmed) }
        wrong.advance(by: .seconds(10))
        #expect(wrong.journal.rejections[UID(1)]?.reason == .badDeviceToken)
        #expect(refusal(try wrong.submit(1..<2)[0])?.blacklistEntry?.endpoint == "sandbox")
        let mended = try Bench(wrong.journal.crashed(), clock: wrong.clock, endpoint: "production")
        try mended.submit(1..<2)
        mended.settle()
        #expect(mended.sent == [1])
        // And where it is wrong again it is known at once, without asking the service.
        let back = try Bench(mended.journal.crashed(), clock: wrong.clock, endpoint: "sandbox")
        #expect(refusal(try back.submit(1..<2)[0])?.reason == .blacklisted)
    }

    @Test("An operator's entry holds for every topic and service, unless it names them") func operators() throws {
        let bench = try Bench()
        blacklist(1, in: bench)
        blacklist(2, topic: "a", in: bench)
        blacklist(3, endpoint: "stub", in: bench)
        blacklist(4, endpoint: "elsewhere", in: bench)
        let receipts = try bench.submit(
            (1..<5).flatMap { [notification($0, topic: "a"), notification($0, topic: "b")] })
        #expect(
            receipts.map { refusal($0)?.reason == .blacklisted } == [true, true, true, false, true, true, false, false])
    }

    @Test("While a token is suspect for one topic its entries for another go") func suspects() throws {
        let bench = try Bench()
        try bench.submit([notification(1, topic: "a")])
        bench.settle()
        bench.connection.answer(1, SendResult(apnsStatus: 400, reason: "DeviceTokenNotForTopic"))
        bench.settle()
        #expect(bench.status.suspects == 1)
        try bench.submit([notification(1, topic: "b"), notification(1, topic: "a")])
        bench.settle()
        #expect(bench.connection.state.withLock(\.sent).map(\.notification.topic) == ["a", "b"])
    }

    @Test("A registration lifts what would have stopped its notification, and leaves what holds for others")
    func lift() throws {
        let bench = try Bench()
        for (topic, endpoint) in [(nil, nil), ("a", "stub"), ("a", "elsewhere"), ("b", "stub")] as [(String?, String?)]
        {
            blacklist(1, topic: topic, endpoint: endpoint, in: bench)
        }
        var registered = notification(1, topic: "a")
        registered.tokenRegisteredAt = WallTime(seconds: 1_600_000_001)
        #expect(try bench.submit([registered])[0].uid != nil)
        bench.settle()
        let left = try bench.core.producer.blacklist.entries(for: registered.token!).map(\.scope)
        #expect(
            left == [BlacklistScope(topic: "a", endpoint: "elsewhere"), BlacklistScope(topic: "b", endpoint: "stub")])
        // One that still holds keeps those that would be lifted.
        blacklist(1, topic: "a", since: 1_600_000_000, in: bench)
        blacklist(1, since: 1_600_000_002, in: bench)
        #expect(refusal(try bench.submit([registered])[0])?.reason == .blacklisted)
        bench.settle()
        #expect(try bench.core.producer.blacklist.entries(for: registered.token!).count == 4)
    }

    @Test("A retry by hand is refused for the topic and service that the token is bad for, and for no other")
    func retry() async throws {
        let bench = try Bench()
        try bench.submit([notification(1, topic: "a"), notification(2, topic: "a")])
        bench.settle()
        for number in 1...2 { bench.connection.answer(number, SendResult(apnsStatus: 400, reason: "PayloadEmpty")) }
        bench.settle()
        blacklist(1, topic: "a", endpoint: "elsewhere", in: bench)
        blacklist(1, topic: "b", endpoint: "stub", in: bench)
        blacklist(2, topic: "a", endpoint: "stub", in: bench)
        let retries = try await EngineDesk(core: bench.core).retry([UID(1), UID(2)])
        #expect(retries.map { if case .accepted = $0.result { true } else { false } } == [true, false])
    }

    // MARK: A crash between the blacklisting and the settlement

    /// What becomes of notifications that were answered with a 410 whose blacklisting alone is on disk.
    private func crash(_ guarantee: Guarantee, answered: Range<Int>) throws -> Bench {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.keepsOutcomes = true }
        try bench.submit(answered.map { _ in Sample.notification(1, guarantee: guarantee) })
        bench.settle()
        bench.commits = false
        let tickets = bench.connection.state.withLock(\.sent).map(\.ticket)
        bench.connection.sink(.results(tickets.map { ($0, gone) }))
        bench.turn()
        bench.journal.commitBlacklist()
        #expect(bench.journal.blacklist.count == 1 && bench.journal.rejections.isEmpty)
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.settle()
        #expect(next.sent.isEmpty)
        return next
    }

    @Test("The service's refusal is known after a crash that came before its settlement", arguments: Guarantee.allCases)
    func rejectedBeforeCrash(_ guarantee: Guarantee) throws {
        let bench = try crash(guarantee, answered: 1..<2)
        let rejection = try #require(bench.journal.rejections[UID(1)])
        #expect(rejection.reason == .unregistered && rejection.status == 410)
        #expect(rejection.timestamp == WallTime(seconds: 1_600_000_000))
        #expect(
            try bench.journal.outcomes(after: .start, limit: 9).outcomes.map(\.terminal) == [.rejected(.unregistered)])
    }

    @Test("Of several notifications to a token that is gone one is known to be refused, and the others are unknown")
    func severalBeforeCrash() throws {
        let bench = try crash(.atLeastOnce, answered: 1..<4)
        let outcomes = try bench.journal.outcomes(after: .start, limit: 9).outcomes.sorted { $0.uid < $1.uid }
        #expect(outcomes.map(\.terminal) == [.rejected(.unregistered), .unknown, .unknown])
    }
}
