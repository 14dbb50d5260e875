import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// Producers by name, repeats, and what became of a notification.
@Suite(.timeLimit(.minutes(1))) struct ProducerTests {
    private func withID(_ number: Int) -> PushNotification {
        var notification = Sample.notification(number)
        notification.id = NotificationID(high: 1, low: UInt64(number))
        return notification
    }

    @Test("Each Producer has its own backlog, is told drained when its last one has its outcome, and keeps its count")
    func backlogs() async throws {
        let bench = try Bench()
        let events = bench.listen()
        try bench.submit((1..<4).map { Sample.notification($0) }, as: "orders")
        try bench.submit((4..<6).map { Sample.notification($0) }, as: "news")
        try bench.submit(6..<7)
        bench.settle()
        let orders = try bench.core.producer(named: "orders")
        let news = try bench.core.producer(named: "news")
        #expect((orders.backlog, news.backlog, bench.core.producer.backlog) == (3, 2, 1))
        for number in [4, 5] { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect((orders.backlog, news.backlog) == (3, 0))
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(.rejected(.notification), reason: .payloadEmpty))
        bench.settle()
        #expect(await bench.events(events).filter { $0.isDrained } == [.drained(producer: "news")])

        // A kill: what is left is still theirs.
        let next = try bench.crashed()
        let again = try next.core.producer(named: "orders")
        #expect(again.backlog == 1)
        let more = next.listen()
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(again.backlog == 0)
        let drained = await next.events(more).filter(\.isDrained)
        #expect(Set(drained) == [.drained(producer: "orders"), .drained(producer: "default")])
        let totals = try next.journal.producers().first { $0.name == "orders" }?.totals
        #expect(totals?.accepted == 3)
        #expect(totals?.confirmed == 2)
        #expect(totals?.rejected == 1)
    }

    @Test("untilDrained returns when the last outcome is on disk, at once when there is nothing, false at the end")
    func untilDrained() async throws {
        let bench = try Bench()
        #expect(await bench.core.producer.untilDrained())
        try bench.submit(1..<2)
        bench.settle()
        let producer = bench.core.producer
        let waiting = Task { await producer.untilDrained() }
        let other = Task { await producer.untilDrained() }
        other.cancel()
        #expect(await other.value == false)
        bench.connection.answer(1, .confirmed)
        bench.settle()
        #expect(await waiting.value)
        try bench.submit(2..<3)
        let last = Task { await producer.untilDrained() }
        await Task.yield()
        bench.core.ended()
        #expect(await last.value == false)
    }

    @Test("A Producer's name is kept with each notification, and one that is no name is refused") func names() throws {
        let bench = try Bench()
        try bench.submit([Sample.notification(1)], as: "orders")
        #expect(bench.journal.entries.map(\.producer) == ["orders"])
        for name in ["", String(repeating: "x", count: 65)] {
            let refusal = #expect(throws: Refusal.self) { try bench.core.producer(named: name) }
            #expect(refusal?.reason == .badProducerName)
        }
        #expect(try bench.core.producer(named: "orders") === bench.core.producer(named: "orders"))
        #expect(try bench.core.producer(named: "default") === bench.core.producer)
    }

    @Test("A repeat while unconfirmed has the same UID, after its end its outcome, and is sent once") func repeats()
        throws
    {
        let bench = try Bench()
        #expect(try bench.submit([withID(1), withID(2), withID(1)]).map(\.uid) == [UID(1), UID(2), UID(1)])
        bench.settle()
        #expect(bench.sent == [1, 2])
        guard case .accepted(UID(1)) = try bench.submit([withID(1)])[0] else {
            Issue.record("expected the same receipt")
            return
        }
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(.rejected(.notification), reason: .payloadEmpty))
        bench.settle()
        let next = try bench.crashed()
        let receipts = try next.submit([withID(1), withID(2), withID(3)])
        guard case .repeated(UID(1), .confirmed) = receipts[0],
            case .repeated(UID(2), .rejected(.payloadEmpty)) = receipts[1], case .accepted(UID(3)) = receipts[2]
        else {
            Issue.record("expected the outcomes, and not \(receipts)")
            return
        }
        next.settle()
        #expect(next.sent == [3])
        #expect(next.status.submitted == 1)
    }

    @Test("Another recipient, another payload or another Producer is another notification, and without an id each is")
    func notRepeats() throws {
        let bench = try Bench()
        var other = withID(1)
        other.payload = Array("{}".utf8)
        var recipient = withID(1)
        recipient.recipient = .device(Sample.token)
        let first = try bench.submit([withID(1), other, recipient, Sample.notification(9), Sample.notification(9)])
        #expect(Set(first.map(\.uid)).count == 5)
        #expect(try bench.submit([withID(1)], as: "orders")[0].uid == UID(6))
    }

    @Test("An id that was made on the way names the notification, and makes no repeat of another") func assignedID()
        throws
    {
        let bench = try Bench()
        var notification = withID(1)
        notification.hasAssignedID = true
        #expect(try bench.submit([notification, notification, withID(1)]).map(\.uid) == [UID(1), UID(2), UID(3)])
        bench.settle()
        #expect(bench.connection.sent.map(\.notification.id) == Array(repeating: withID(1).id, count: 3))
    }

    @Test("Without remembering, a repeat is a new notification") func forgetful() throws {
        let bench = try Bench { $0.remembersIDs = false }
        #expect(try bench.submit([withID(1), withID(1)]).map(\.uid) == [UID(1), UID(2)])
    }

    @Test("The fate of an entry is told at each stage of its life") func fates() throws {
        let bench = try Bench { $0.keepsOutcomes = true }
        try bench.submit(1..<2)
        bench.settle()
        let lane = bench.lane()
        #expect(try bench.journal.fate(of: UID(1)) == .unconfirmed(lane, attempts: 0, possiblySent: true))
        bench.connection.answer(1, SendResult(.deferred(.service), retryAfter: .seconds(60)))
        bench.settle()
        guard case .deferred(lane, _, attempts: 0, reason: .serviceUnavailable)? = try bench.journal.fate(of: UID(1))
        else {
            Issue.record("expected it to be deferred")
            return
        }
        bench.advance(by: .seconds(77))
        bench.connection.answer(1, .confirmed)
        bench.settle()
        #expect(try bench.journal.fate(of: UID(1)) == .settled(.confirmed))
        #expect(try bench.journal.fate(of: UID(2)) == nil)
    }

    @Test("A token that was registered since is taken at submit, and lifted for those who do not know") func lifts()
        throws
    {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        bench.connection.answer(
            1, SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000)))
        bench.settle()
        guard case .refused(let refusal) = try bench.submit(1..<2)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .blacklisted)
        var registered = Sample.notification(1)
        registered.tokenRegisteredAt = WallTime(seconds: 1_700_000_001)
        try bench.submit([registered])
        bench.settle()
        #expect(bench.core.producer.blacklist.count == 0)
        #expect(try bench.submit(1..<2)[0].uid != nil)
    }

    @Test("A 410 whose time is still to come holds from its answer, so that a registration after that lifts it")
    func timeToCome() throws {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        let answered = bench.clock.wall
        bench.connection.answer(
            1,
            SendResult(
                apnsStatus: 410, reason: "Unregistered", timestamp: answered.advanced(by: .seconds(365 * 86_400))))
        bench.settle()
        #expect(
            try bench.core.producer.blacklist.entries(for: Sample.notification(1).token!).map(\.since) == [answered])
        bench.advance(by: .seconds(60))
        var registered = Sample.notification(1)
        registered.tokenRegisteredAt = bench.clock.wall
        #expect(try bench.submit([registered])[0].uid != nil)
    }

    @Test("A clock that is doubted may be behind the service's: then the service's time is kept") func timeInDoubt()
        throws
    {
        let bench = try Bench()
        try bench.submit(1..<2)
        bench.settle()
        let told = bench.clock.wall
        bench.clock.stepWall(by: .seconds(-3600))
        bench.connection.answer(1, SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: told))
        bench.settle()
        #expect(try bench.core.producer.blacklist.entries(for: Sample.notification(1).token!).map(\.since) == [told])
    }
}

extension EngineEvent {
    var isDrained: Bool { if case .drained = self { true } else { false } }
}
