import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// Notifications that a newer one with the same recipient, topic and collapse id makes needless, where that is asked for.
@Suite(.timeLimit(.minutes(1))) struct NewestWinsTests {
    private static func score(
        _ text: String, token: Int = 0, collapseID: String = "score", newestWins: Bool = true
    ) -> PushNotification {
        var notification = Sample.notification(token)
        notification.payload = Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8)
        notification.collapseID = collapseID
        notification.newestWins = newestWins
        return notification
    }

    private func bench(_ journal: InMemoryJournal = InMemoryJournal()) throws -> Bench {
        let bench = try Bench(journal) { $0.keepsOutcomes = true }
        bench.accepts = false
        bench.answer = { _ in .confirmed }
        return bench
    }

    private func sent(_ bench: Bench) -> [String] {
        bench.connections[0].flatMap(\.sent).map { Self.text($0.notification) }
    }

    private static func text(_ notification: PushNotification) -> String {
        String(String(decoding: notification.payload, as: UTF8.self).dropFirst(17).dropLast(3))
    }

    private func letGo(_ bench: Bench) {
        bench.accepts = true
        bench.advance(by: .seconds(2))
    }

    private func outcomes(_ bench: Bench) throws -> [TerminalOutcome] {
        try bench.journal.outcomes(after: .start, limit: 100).outcomes.map(\.terminal)
    }

    @Test("Of those that wait only the newest goes, and the others end as superseded") func newest() throws {
        let bench = try bench()
        try bench.submit([Self.score("0:1"), Self.score("0:2"), Self.score("other", token: 1), Self.score("0:3")])
        letGo(bench)
        #expect(sent(bench) == ["other", "0:3"])
        #expect(try outcomes(bench) == [.superseded, .superseded, .confirmed, .confirmed])
        #expect(bench.status.superseded == 2)
        #expect(bench.status.withdrawn == 0)
        let totals = try bench.journal.status().totals
        #expect(totals.superseded == 2 && totals.ended == totals.accepted)
        #expect(bench.journal.newestCount == 0)
    }

    @Test("Another collapse id, topic or recipient, and those for which it was not asked, go beside it")
    func others() throws {
        let bench = try bench()
        var topic = Self.score("topic")
        topic.topic = "com.example.other"
        try bench.submit([
            Self.score("a"), Self.score("id", collapseID: "scores"), Self.score("token", token: 5), topic,
            Self.score("not asked", newestWins: false), Self.score("b"),
        ])
        letGo(bench)
        #expect(sent(bench) == ["id", "token", "topic", "not asked", "b"])
    }

    @Test("After a crash the newest still wins") func crash() throws {
        let bench = try bench()
        try bench.submit([Self.score("1"), Self.score("2")])
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(2))
        #expect(sent(next) == ["2"])
        #expect(next.journal.newestCount == 0)
    }

    @Test("A newer one that is expired when the older one has its turn takes no place, and the older one goes")
    func expiredNewest() throws {
        let bench = try bench()
        var newer = Self.score("newer")
        newer.expiration = Expiration(unixSeconds: bench.clock.wall.seconds + 2)
        try bench.submit([Self.score("older"), newer])
        bench.advance(by: .seconds(4))
        letGo(bench)
        #expect(sent(bench) == ["older"])
        #expect(Set(try outcomes(bench)) == [.confirmed, .expired])
        #expect(bench.journal.newestCount == 0)
    }

    @Test("A newer one that was taken keeps its place beyond its expiration")
    func takenBeforeItExpired() throws {
        let bench = try bench()
        var newer = Self.score("newer")
        newer.expiration = Expiration(unixSeconds: bench.clock.wall.seconds + 20)
        try bench.submit([Self.score("older"), newer])
        // The older one is deferred beyond the end of the newer one.
        let lane = try #require(try bench.journal.status().lanes.first { $0.unconfirmed == 2 }?.id)
        let wait = Settlement.Kind.deferUntil(
            bench.clock.wall.advanced(by: .seconds(60)), attempts: 1, reason: .tooManyRequests, possiblySent: false)
        bench.journal.settle(SettlementBatch(others: [Settlement(EntryKey(lane: lane, uid: UID(1)), wait)])) { _ in }
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(2))
        #expect(sent(next) == ["newer"])
        next.advance(by: .seconds(120))
        #expect(sent(next) == ["newer"])
        #expect(try outcomes(next) == [.confirmed, .superseded])
    }

    @Test("One that comes up again after a newer one was taken does not go behind it") func behindNewer() throws {
        let bench = try bench()
        bench.answer = { notification in
            Self.text(notification) == "1"
                ? SendResult(apnsStatus: 503, reason: "ServiceUnavailable") : .confirmed
        }
        try bench.submit([Self.score("1")])
        bench.accepts = true
        bench.settle()
        #expect(sent(bench) == ["1"])
        try bench.submit([Self.score("2")])
        bench.advance(by: .seconds(3600))
        #expect(sent(bench).filter { $0 == "1" }.count == 1)
        #expect(sent(bench).last == "2")
        // In the order in which they ended.
        #expect(try outcomes(bench) == [.confirmed, .superseded])
        #expect(bench.journal.newestCount == 0)
    }

    @Test("A newer one that the service rejects stands for nothing: the older one goes") func newerRejected() throws {
        let bench = try bench()
        bench.answer = { notification in
            switch Self.text(notification) {
            case "1": SendResult(apnsStatus: 503, reason: "ServiceUnavailable")
            default: SendResult(apnsStatus: 400, reason: "BadCollapseId")
            }
        }
        try bench.submit([Self.score("1")])
        bench.accepts = true
        bench.settle()
        try bench.submit([Self.score("2")])
        bench.advance(by: .seconds(10))
        bench.answer = { _ in .confirmed }
        for connection in bench.connections[0] { connection.state.withLock { $0.answer = { _ in .confirmed } } }
        bench.advance(by: .seconds(3600))
        #expect(sent(bench).last == "1")
        #expect(bench.status.superseded == 0)
        #expect(bench.journal.newestCount == 0)
    }

    @Test("Behind one that was taken an older one does not go, whatever becomes of the ones after it")
    func rejectedAfterTaken() throws {
        let bench = try bench()
        bench.answer = { notification in
            switch Self.text(notification) {
            case "1": SendResult(apnsStatus: 503, reason: "ServiceUnavailable")
            case "3": SendResult(apnsStatus: 400, reason: "BadCollapseId")
            default: .confirmed
            }
        }
        bench.accepts = true
        for text in ["1", "2", "3"] {
            try bench.submit([Self.score(text)])
            bench.advance(by: .seconds(5))
        }
        bench.advance(by: .seconds(3600))
        // Before, it may have been tried again and again.
        #expect(sent(bench).drop { $0 == "1" } == ["2", "3"])
        #expect(try outcomes(bench) == [.confirmed, .superseded, .rejected(Reason(rawValue: "BadCollapseId"))])
        #expect(bench.journal.newestCount == 0)
    }

    @Test("A rejection that is retried goes whatever was accepted since, and takes nobody's place")
    func retried() async throws {
        let bench = try bench()
        bench.answer = { _ in SendResult(apnsStatus: 400, reason: "BadCollapseId") }
        bench.accepts = true
        try bench.submit([Self.score("refused")])
        bench.settle()
        bench.answer = { _ in .confirmed }
        for connection in bench.connections[0] { connection.state.withLock { $0.answer = { _ in .confirmed } } }
        var later = Self.score("later")
        later.deliverAfter = bench.clock.wall.advanced(by: .seconds(60))
        try bench.submit([later])
        try bench.submit([Self.score("newest")])
        #expect(try await EngineDesk(core: bench.core).retry([UID(1)]).map(\.result) == [.accepted(UID(4))])
        bench.advance(by: .seconds(3600))
        #expect(sent(bench) == ["refused", "newest", "refused"])
        #expect(try outcomes(bench).suffix(3) == [.confirmed, .confirmed, .superseded])
        #expect(bench.journal.newestCount == 0)
    }

    @Test("A newer one that is taken back stands for nothing") func newerWithdrawn() async throws {
        let bench = try bench(InMemoryJournal(mode: .immediate))
        let receipts = try bench.submit([Self.score("1"), Self.score("2")])
        bench.settle()
        let lane = try bench.journal.openLane(bench.lane()).id
        let newer = try #require(receipts[1].uid)
        bench.consumer.post { $0.withdrawals.append(WithdrawalOrder(lane: lane, uids: [newer]) { _ in }) }
        bench.settle()
        letGo(bench)
        #expect(sent(bench) == ["1"])
    }

    @Test("One that may have been sent ends as unknown, and is not sent again") func possiblySent() throws {
        let bench = try bench()
        bench.answer = { _ in nil }
        try bench.submit([Self.score("1")])
        bench.accepts = true
        bench.settle()
        #expect(sent(bench) == ["1"])
        try bench.submit([Self.score("2")])
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(2))
        #expect(sent(next) == ["2"])
        #expect(next.status.unknown == 1)
        #expect(next.status.superseded == 0)
    }

    @Test("A newer one supersedes an older one that is scheduled, and may be scheduled itself") func scheduled() throws
    {
        let bench = try bench()
        bench.accepts = true
        var (first, second) = (Self.score("09:00"), Self.score("10:00"))
        first.deliverAfter = bench.clock.wall.advanced(by: .seconds(3600))
        second.deliverAfter = bench.clock.wall.advanced(by: .seconds(7200))
        try bench.submit([first])
        bench.settle()
        try bench.submit([second])
        bench.advance(by: .seconds(3700))
        #expect(sent(bench).isEmpty)
        #expect(bench.status.superseded == 1)
        bench.advance(by: .seconds(3600))
        #expect(sent(bench) == ["10:00"])
        #expect(bench.journal.newestCount == 0)
    }

    @Test("By choice of its route it holds for all that have a collapse id") func byRoute() throws {
        let journal = InMemoryJournal(mode: .immediate)
        let clock = ManualClock()
        let core = try EngineCore(
            journal: journal,
            routes: [Route(name: "default", connector: StubConnector(.perNotification), newestWins: true)],
            configuration: EngineConfiguration(),
            clock: EngineClock(wall: { clock.wall }, monotonic: { clock.monotonic }), logger: Logger(label: "test"),
            seed: 1, requestConnection: { _, _ in })
        var plain = Sample.notification(3)
        plain.collapseID = nil
        core.producer.submit([Self.score("1", newestWins: false), Self.score("2", newestWins: false), plain]) { _ in }
        #expect(journal.newestCount == 1)
        let batch = try journal.unconfirmed(
            try journal.openLane(
                LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
            ).id, after: .none, through: .max, limit: 10)
        #expect(try batch.items.indices.map { try batch.fields(at: $0).newestWins } == [true, true, false])
    }

    @Test("Without a collapse id it is refused") func refused() throws {
        let bench = try bench()
        var notification = Sample.notification(1)
        notification.newestWins = true
        guard case .refused(let refusal) = try bench.submit([notification])[0] else {
            Issue.record("it was taken")
            return
        }
        #expect(refusal.reason == .newestWinsUnsupported)
    }
}
