import HoldfastTesting
import Logging
import ServiceLifecycle
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct FeedbackReaderTests {
    private let journal = InMemoryJournal()
    private let clock = ManualClock()
    private var blacklist: TokenBlacklist { TokenBlacklist(storage: journal.blacklist) }

    @Test("Four tuples and then an I/O error: the error and all four") func errorAfterFour() async throws {
        let source = InMemoryFeedback(tuples(0..<9))
        let broken = FeedbackError(.connection, "connection reset by peer")
        source.failReading(after: 4, with: broken)
        let reader = reader(source)
        let seen = Monitor<[FeedbackTuple]>([])
        do {
            try await reader.read { batch in seen.withLock { $0 += batch } }
            Issue.record("it did not fail")
        } catch {
            #expect(error.code == .connection && error.message == broken.message && error.kept == 4)
        }
        #expect(seen.withLock { $0 } == tuples(0..<4))
        #expect(try blacklist.entries().map(\.token) == tuples(0..<4).map(\.token))
        #expect(reader.status().tuples == 4 && reader.status().failures == 1)
        #expect(reader.status().lastError?.kept == 4)
        // What was not read is there for the next time.
        #expect(try await reader.read() == 5)
        #expect(reader.status().lastError == nil)
        #expect(blacklist.count == 9)
    }

    @Test("Tokens of any length are blacklisted; what can be no token is counted and told") func lengths() async throws
    {
        let since = clock.wall
        let lengths = [1, 5, 32, 100, 0, 101, 65_535]
        let all = lengths.map { FeedbackTuple(tokenBytes: Array(repeating: UInt8($0 % 251), count: $0), since: since) }
        let reader = reader(InMemoryFeedback(all))
        #expect(try await reader.read() == 7)
        #expect(try blacklist.entries().map(\.recipient.address.count).sorted() == [1, 5, 32, 100])
        #expect(reader.status().unusable == 3)
        var told: [FeedbackTuple] = []
        for await tuple in reader.tuples {
            told.append(tuple)
            if told.count == 7 { break }
        }
        #expect(told == all)
    }

    @Test("What a certificate's feedback says holds for its topic and service; without them, for all")
    func scope() async throws {
        let scope = BlacklistScope(topic: "com.example.app", endpoint: "production")
        let all = tuples(0..<2)
        try await FeedbackReader(InMemoryFeedback([all[0]]), blacklist: blacklist, scope: scope).read()
        try await FeedbackReader(InMemoryFeedback([all[1]]), blacklist: blacklist).read()
        #expect(try blacklist.entries().map(\.scope) == [scope, BlacklistScope()])
    }

    @Test("An entry has the tuple's time, its route and when it was learnt; an older tuple does not move it back")
    func since() async throws {
        let token = try #require(tuples(0..<1)[0].token)
        let time = WallTime(seconds: 1_700_000_000)
        let source = InMemoryFeedback([FeedbackTuple(token: token, since: time)])
        let reader = reader(source, route: "legacy")
        try await reader.read()
        let entry = BlacklistEntry(
            token: token, reason: .feedback, since: time, learntAt: clock.wall, route: "legacy", number: 1)
        #expect(try blacklist.entries() == [entry])

        clock.advance(by: .seconds(60))
        source.add([FeedbackTuple(token: token, since: time.advanced(by: .seconds(-5)))])
        try await reader.read()
        #expect(try blacklist.entries() == [entry])

        let later = time.advanced(by: .seconds(5))
        source.add([FeedbackTuple(token: token, since: later)])
        try await reader.read()
        #expect(try blacklist.entries().map(\.since) == [later])
    }

    @Test("A time that is still to come counts as now: it would outlive the token's next registration") func future()
        async throws
    {
        let token = try #require(tuples(0..<1)[0].token)
        let source = InMemoryFeedback([
            FeedbackTuple(token: token, since: clock.wall.advanced(by: .seconds(30 * 24 * 60 * 60)))
        ])
        try await reader(source, route: "legacy").read()
        #expect(try blacklist.entries().map(\.since) == [clock.wall])
    }

    @Test("A token that was registered after the tuple's time is sent to, and leaves the blacklist") func lift()
        async throws
    {
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector)
        let time = WallTime(seconds: 1_700_000_000)
        let source = InMemoryFeedback((0..<2).map { FeedbackTuple(token: Sample.notification($0).token!, since: time) })
        try await FeedbackReader(source, blacklist: engine.blacklist).read()
        var renewed = Sample.notification(0)
        renewed.tokenRegisteredAt = time.advanced(by: .milliseconds(1))
        var stale = Sample.notification(1)
        stale.tokenRegisteredAt = time
        let receipts = await engine.producer.submit([renewed, stale])
        #expect(receipts[0].uid != nil && receipts[1].uid == nil)
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.map(\.token) == [renewed.token])
        #expect(try engine.blacklist.entries().map(\.token) == [stale.token])
    }

    @Test("More is read only when what was read is on disk") func backPressure() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let source = InMemoryFeedback(tuples(0..<6), batchLimit: 2)
        let reader = FeedbackReader(source, blacklist: TokenBlacklist(storage: journal.blacklist))
        let reading = Task { try await reader.read() }
        for left in [4, 2, 0] {
            #expect(await source.waitUntil { _ in journal.waitingBlacklistCount == 1 })
            #expect(source.pending.count == left)
            #expect(reader.status().tuples == 4 - left)
            journal.commitBlacklist()
        }
        #expect(try await reading.value == 6)
    }

    @Test("When the application does not read them, tuples are dropped, the oldest first, and counted") func drops()
        async throws
    {
        let source = InMemoryFeedback(tuples(0..<50), batchLimit: 7)
        let reader = reader(source) { $0.tupleLimit = 3 }
        try await reader.read()
        #expect(reader.status().dropped == 47)
        #expect(blacklist.count == 50)
        var told: [FeedbackTuple] = []
        for await tuple in reader.tuples {
            told.append(tuple)
            if told.count == 3 { break }
        }
        #expect(told == tuples(47..<50))
    }

    @Test("What the blacklist can't keep is tried again, and more is not read meanwhile") func storeAgain() async throws
    {
        journal.failBlacklistWrites(with: JournalError(.diskFull, "the disk is full"))
        let source = InMemoryFeedback(tuples(0..<4), batchLimit: 2)
        let reader = reader(source)
        let reading = Task { try await reader.read() }
        #expect(await source.waitUntil { $0.pending.count == 2 })
        journal.failBlacklistWrites(with: nil)
        #expect(try await reading.value == 4)
        #expect(blacklist.count == 4)
    }

    @Test("What the blacklist could not keep in time fails the reading, and the application is told nevertheless")
    func notStored() async throws {
        journal.failBlacklistWrites(with: JournalError(.diskFull, "the disk is full"))
        let reader = reader(InMemoryFeedback(tuples(0..<4), batchLimit: 2)) { $0.storeLimit = .zero }
        do {
            try await reader.read()
            Issue.record("it did not fail")
        } catch {
            #expect(error.code == .notStored && error.kept == 0, "\(error)")
            #expect(error.message.contains("2 tokens") && error.message.contains("the disk is full"))
        }
        #expect(reader.status().tuples == 2)
        var told = reader.tuples.makeAsyncIterator()
        #expect(await told.next() == tuples(0..<1)[0])
    }

    private func tuples(_ numbers: Range<Int>) -> [FeedbackTuple] {
        numbers.map { number in
            let since = WallTime(seconds: 1_700_000_000 + Int64(number))
            return FeedbackTuple(tokenBytes: [1, 2, 3, UInt8(number)], since: since)
        }
    }

    private func reader(
        _ source: InMemoryFeedback, route: String = "default",
        change: (inout FeedbackReader.Configuration) -> Void = { _ in }
    ) -> FeedbackReader {
        var configuration = FeedbackReader.Configuration()
        configuration.storeRetry = .milliseconds(2)
        change(&configuration)
        return FeedbackReader(
            source, blacklist: blacklist, route: route, configuration: configuration, clock: clock.engineClock,
            logger: quietLogger)
    }
}

private var quietLogger: Logger {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
}
