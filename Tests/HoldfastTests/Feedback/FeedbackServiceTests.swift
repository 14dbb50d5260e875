import HoldfastTesting
import Logging
import ServiceLifecycle
import Testing

@testable import Holdfast

/// The reader as a service, beside an engine or alone.
@Suite(.timeLimit(.minutes(1))) struct FeedbackServiceTests {
    private static let away = FeedbackError(.connection, "connection refused")

    @Test("Without a feedback service at start-up sending goes on, and the reader tries again until there is one")
    func noServerAtStart() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector)
        let source = InMemoryFeedback([FeedbackTuple(token: Sample.notification(7).token!, since: .init(seconds: 1))])
        for _ in 0..<5 { source.failReading(with: Self.away) }
        let reader = reader(source, engine.blacklist)
        let group = serviceGroup([engine, reader])
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            _ = await engine.producer.submit((0..<5).map { Sample.notification($0) })
            #expect(await connector.waitUntil { $0.count == 5 })
            #expect(await source.waitUntil { _ in reader.status().readings > 0 })
            #expect(reader.status().failures == 5)
            #expect(await engine.producer.submit([Sample.notification(7)])[0].uid == nil)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        // The stream ends with the reader.
        var told = 0
        for await _ in reader.tuples { told += 1 }
        #expect(told == 1)
    }

    @Test("It reads at intervals, and each reading finds what came since") func intervals() async throws {
        let journal = InMemoryJournal()
        let source = InMemoryFeedback()
        let reader = reader(source, TokenBlacklist(storage: journal.blacklist))
        let group = serviceGroup([reader])
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for number in 0..<3 {
                source.add([FeedbackTuple(token: Sample.notification(number).token!, since: .init(seconds: 1))])
                #expect(await source.waitUntil { _ in journal.blacklist.count == number + 1 })
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        #expect(reader.status().readings >= 3)
    }

    @Test("A graceful stop ends a reading that is held open, and what it had read is on the blacklist") func stop()
        async throws
    {
        let journal = InMemoryJournal(mode: .manual)
        let source = InMemoryFeedback(
            (0..<4).map { FeedbackTuple(token: Sample.notification($0).token!, since: .init(seconds: 1)) },
            batchLimit: 3
        )
        source.holdOpen(true)
        let reader = reader(source, TokenBlacklist(storage: journal.blacklist)) { $0.stopLimit = .zero }
        let group = serviceGroup([reader])
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            // Three are read and not on disk when the stop comes.
            #expect(await source.waitUntil { _ in journal.waitingBlacklistCount == 1 })
            await group.triggerGracefulShutdown()
            #expect(source.openCount == 1 && reader.status().tuples == 0)
            #expect(
                await source.waitUntil { source in
                    journal.commitBlacklist()
                    return source.openCount == 0
                })
            try await tasks.waitForAll()
        }
        // Whether or not the fourth was read before the limit had passed: nothing that was read is missing.
        #expect(journal.blacklist.count >= 3 && journal.blacklist.count + source.pending.count == 4)
        #expect(reader.status().tuples == journal.blacklist.count)
    }

    @Test("A graceful stop lets a reading that is under way come to its end") func stopWaits() async throws {
        let journal = InMemoryJournal()
        let source = InMemoryFeedback()
        source.holdOpen(true)
        let reader = reader(source, TokenBlacklist(storage: journal.blacklist)) { $0.stopLimit = .seconds(30) }
        let group = serviceGroup([reader])
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            #expect(await source.waitUntil { $0.openCount == 1 })
            await group.triggerGracefulShutdown()
            source.add([FeedbackTuple(token: Sample.notification(1).token!, since: .init(seconds: 1))])
            #expect(await source.waitUntil { _ in journal.blacklist.count == 1 })
            source.holdOpen(false)
            try await tasks.waitForAll()
        }
        #expect(source.readingCount == 1 && reader.status().readings == 1)
    }

    @Test("After failures it waits longer and longer, up to the interval; a reading that works makes it the interval")
    func schedule() {
        var configuration = FeedbackReader.Configuration()
        configuration.interval = .seconds(100)
        var schedule = FeedbackSchedule(configuration)
        #expect(schedule.readingEnded(failed: false, random: 0.9) == .seconds(100))
        #expect(schedule.readingEnded(failed: true, random: 0.9) == .seconds(9))
        #expect(schedule.readingEnded(failed: true, random: 0.5) == .seconds(10))
        for _ in 0..<100 { _ = schedule.readingEnded(failed: true, random: 0.9) }
        #expect(schedule.readingEnded(failed: true, random: 0.5) == .seconds(50))
        // Never a busy loop.
        #expect(schedule.readingEnded(failed: true, random: 0) == .seconds(5))
        #expect(schedule.readingEnded(failed: false, random: 0) == .seconds(100))
        #expect(schedule.readingEnded(failed: true, random: 0.5) == .seconds(5))
        configuration.interval = .zero
        schedule = FeedbackSchedule(configuration)
        #expect(schedule.readingEnded(failed: false, random: 0) == .milliseconds(1))
    }

    private func reader(
        _ source: InMemoryFeedback, _ blacklist: TokenBlacklist,
        change: (inout FeedbackReader.Configuration) -> Void = { _ in }
    ) -> FeedbackReader {
        var configuration = FeedbackReader.Configuration()
        configuration.interval = .milliseconds(2)
        change(&configuration)
        return FeedbackReader(source, blacklist: blacklist, configuration: configuration, logger: quietLogger)
    }

    private func serviceGroup(_ services: [any Service]) -> ServiceGroup {
        ServiceGroup(services: services, logger: quietLogger)
    }

    private var quietLogger: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }
}
